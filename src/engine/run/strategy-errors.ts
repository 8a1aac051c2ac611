import type { CallbackContext, StrategyCallbacks } from '../strategy.ts';

/** Maximum characters of a thrown message, and of a whole error with its file and line. */
const MAX_TEXT_LENGTH = 1_000;
const MAX_ERROR_LENGTH = 2_000;
const LONGEST_FRAME = 1_000;

/**
 * Message of a thrown value with the strategy's file and line that the engine had called: "no price (mine.ts:12)". Never throws,
 * for any value, and has a bounded length.
 */
export function describeThrown(thrown: unknown): string {
  return describe(thrown, placeOf);
}

/** The same for a value thrown outside of a call of the engine, as in a timer. */
export function describeStray(thrown: unknown): string {
  return describe(thrown, (error) => placeAmong(framesOf(error)));
}

function describe(thrown: unknown, place: (error: Error) => string): string {
  try {
    if (!(thrown instanceof Error)) {
      return typeof thrown === 'string' ? cutMiddle(thrown, MAX_TEXT_LENGTH) : `it threw ${typeof thrown}`;
    }
    const where = place(thrown);
    return `${cutMiddle(String(thrown.message || thrown.name), MAX_TEXT_LENGTH)}${where && ` (${where})`}`;
  } catch {
    return 'it threw something that cannot be read';
  }
}

/** The message of an error of the engine; for any other value that of {@link describeThrown}. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return cutError(String(error.message));
  } catch {
    // Below.
  }
  return describeThrown(error);
}

/** A message as it is stored: its beginning says what failed where, its end the file and line. */
export function cutError(message: string): string {
  return cutMiddle(message, MAX_ERROR_LENGTH);
}

function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const head = Math.floor(most * 0.7);
  const left = `[${text.length - most} characters left out]`;
  return `${text.slice(0, head)} ${left} ${text.slice(head - most)}`.toWellFormed();
}

/** `file:line` of the nearest frame outside the engine that the engine called; empty in a bundle, where lines mean nothing. */
export function placeOf(error: Error): string {
  const frames = framesOf(error);
  return placeAmong(frames.slice(0, frames.findLastIndex(isEngine) + 1));
}

function placeAmong(frames: readonly string[]): string {
  const frame = frames.find((each) => !isEngine(each) && FILE_AND_LINE.test(each));
  const [, file, line] = FILE_AND_LINE.exec(frame ?? '') ?? [];
  return file ? `${file}:${line}` : '';
}

/** Frames of a stack. Lines of the message may look like frames, and be of any length. */
function framesOf({ stack }: Error): string[] {
  if (typeof stack !== 'string') return [];
  return stack.split('\n').filter((line) => line.length <= LONGEST_FRAME && /^\s+at /.test(line));
}

/** The address of a module that was loaded again contains the number of the run. */
const FILE_AND_LINE = /([^/\\(]+\.ts)(?:\?run=\d+)?:(\d+):\d+\)?$/;
const isEngine = (frame: string) => /[/\\]src[/\\]engine[/\\]/.test(frame);

type Callback = (...asked: unknown[]) => unknown;

/** The same callbacks; an error that one throws names the callback, the pair and the candle. */
export function withCallbackContext(callbacks: StrategyCallbacks): StrategyCallbacks {
  const named: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [string, Callback | undefined][]) {
    const number = CALLBACK_NAMES.indexOf(name) + 1;
    // Callbacks have at most four parameters; a rest parameter would allocate in every candle.
    if (callback)
      named[name] = (context, a, b, c) => {
        askNext(number);
        try {
          return callback.call(callbacks, context, a, b, c);
        } catch (error) {
          const { pair, time } = context as CallbackContext;
          throw new Error(
            `${name} threw for ${pair} in the candle of ${new Date(time).toISOString()}: ${describeThrown(error)}`,
            { cause: error },
          );
        }
      };
  }
  return named as StrategyCallbacks;
}

/**
 * Where a run is, for a host that must say so of one that never ends: called before code of the strategy is entered. It is state
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
type ActivityListener = (what: string, pairs: readonly string[]) => void;

let onActivity: ActivityListener | undefined;
/** Number of the callback that was asked last, and of its pair among those of the simulation. */
let asked = new Uint16Array(2);
let present: readonly string[] = [];

/** Calls `listener` with each later activity and writes the numbers of callback and pair to `memory`, two elements. */
export function reportActivity(listener: ActivityListener, memory: Uint16Array<ArrayBuffer>): void {
  onActivity = listener;
  asked = memory;
}

/** Says what is entered next; without pairs, of the same as before. */
export function enter(what: string, pairs = present): void {
  present = pairs;
  asked[0] = 0;
  onActivity?.(what, pairs);
}

/** Leaves the number of the callback that is asked next. */
function askNext(callback: number): void {
  asked[0] = callback;
}

/** Leaves the number of the pair whose callbacks are asked next. */
export function turnTo(pair: number): void {
  asked[1] = pair;
}

/**
 * - `insufficient_data`: no pair has candles enough to trade on
 * - `invalid_candles`: a candle is impossible, out of order or off its grid
 * - `strategy`: the strategy threw, or returned something that is not one value per candle
 */
export type BacktestErrorKind = 'insufficient_data' | 'invalid_candles' | 'strategy';

/** Why a backtest could not be run, in words for the researcher. */
export class BacktestError extends Error {
  override readonly name = 'BacktestError';
  readonly kind: BacktestErrorKind;

  constructor(kind: BacktestErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
