/**
 * Where a run is, for a host that must say so of one that never ends: told before code of the strategy is entered. It is state
 * of the process, which runs one thing at a time, and nothing of a result depends on it.
 *
 * Telling is too dear for callbacks, which are asked a million times in a run of some milliseconds. Of these a number is left
 * in memory, which the host can give, and read from outside.
 */

/** Callbacks by the number that is left: their place in this list, counted from 1; 0 is none. */
export const CALLBACK_NAMES: readonly string[] = [
  'leverage',
  'customStake',
  'customEntryPrice',
  'customExitPrice',
  'confirmEntry',
  'confirmExit',
  'customStoploss',
  'customRoi',
  'customExit',
  'adjustEntryPrice',
];

/**
 * @param what part of the strategy or of the run
 * @param pairs whose turn it is; in a simulation all, in the order of the numbers that are left for callbacks
 */
type Told = (what: string, pairs: readonly string[]) => void;

let told: Told | undefined;
/** Number of the callback that was asked last, and of its pair among those of the simulation. */
let asked = new Uint16Array(2);
let present: readonly string[] = [];

/** Tells `listener` from now on, and leaves the numbers of callbacks and pairs in `memory`: two of them. */
export function tellWhereabouts(listener: Told, memory: Uint16Array<ArrayBuffer>): void {
  told = listener;
  asked = memory;
}

/** Says what is entered next; without pairs, of the same as before. */
export function enter(what: string, pairs = present): void {
  present = pairs;
  asked[0] = 0;
  told?.(what, pairs);
}

/** Leaves the number of the callback that is asked next. */
export function askNext(callback: number): void {
  asked[0] = callback;
}

/** Leaves the number of the pair whose callbacks are asked next. */
export function turnTo(pair: number): void {
  asked[1] = pair;
}
