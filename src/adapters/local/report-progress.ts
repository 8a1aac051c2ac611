import { writeSync } from 'node:fs';
import { setActivityListener } from '#engine/run/strategy-errors.ts';

/** Descriptor on which a watched process says what it does, a line of JSON each. */
export const PROGRESS_DESCRIPTOR = 4;
/** Size of the memory that begins with the mark: nothing else of a process is exactly as large and writable. */
export const MARKED_BYTES = 65_536;
/** The numbers of callback and pair follow the mark. */
export const MARK_BYTES = 16;

/** Activity of a process that loads a strategy. */
export const LOADING = 'loading the strategy';

/** Report of a supervised process. */
export type ProgressReport =
  /** It enters something. */
  | { readonly what: string; readonly pairs: readonly string[] }
  /** Still in the current activity. */
  | { readonly alive: true }
  /** No strategy code runs from here on, or the process failed on its own. */
  | { readonly ended: true };

const ALIVE_EVERY_MS = 1_000;

export interface ProgressReporter {
  /** Says what is entered next. */
  enter(what: string): void;
  /** Says now and then that it goes on. */
  alive(): void;
  ended(): void;
}

const SILENT: ProgressReporter = { enter: () => {}, alive: () => {}, ended: () => {} };

/**
 * Tells the process that watches this one where it is, and of the engine's whereabouts too. Silent where none watches.
 *
 * @param mark hex, as the watching process has put it into the environment
 */
export function reportProgress(mark: string | undefined): ProgressReporter {
  if (!mark) return SILENT;
  const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  new Uint8Array(buffer).set(Buffer.from(mark, 'hex'));
  const enter = (what: string, pairs: readonly string[]) => send({ what, pairs });
  setActivityListener(enter, new Uint16Array(buffer, MARK_BYTES, 2));
  let last = 0;
  return {
    enter: (what) => enter(what, []),
    alive: () => {
      if (Date.now() - last < ALIVE_EVERY_MS) return;
      last = Date.now();
      send({ alive: true });
    },
    ended: () => send({ ended: true }),
  };
}

function send(report: ProgressReport): void {
  try {
    writeSync(PROGRESS_DESCRIPTOR, `${JSON.stringify(report)}\n`);
  } catch {
    // Nobody listens any more: this process is about to be ended.
  }
}
