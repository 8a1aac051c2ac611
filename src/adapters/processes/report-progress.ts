import { writeSync } from 'node:fs';
import { setActivityListener } from '#engine/strategy-errors.ts';

/** Descriptor for the progress reports of a supervised process, one line of JSON each. */
export const PROGRESS_DESCRIPTOR = 4;
/** Size of the memory that begins with the mark. No other writable mapping of the process has exactly this size. */
export const MARKED_BYTES = 65_536;
/** Size of the mark; the numbers of callback and pair follow it. */
export const MARK_BYTES = 16;

/** Activity of a process that loads a strategy. */
export const LOADING = 'loading the strategy';

/** Report of a supervised process. */
export type ProgressReport =
  /** The process starts an activity. */
  | { readonly what: string; readonly pairs: readonly string[] }
  /** The process is still in the current activity. */
  | { readonly alive: true }
  /** No strategy code runs from here on, or the process failed on its own. */
  | { readonly ended: true };

const ALIVE_EVERY_MS = 1_000;

export interface ProgressReporter {
  /** Reports the activity that starts. */
  enter(what: string): void;
  /** Reports at most once per second that the activity continues. */
  alive(): void;
  ended(): void;
}

const SILENT: ProgressReporter = { enter: () => {}, alive: () => {}, ended: () => {} };

/**
 * Reports the activities of this process and of the engine to the supervising process. Without a mark it reports nothing.
 *
 * @param mark hex, from the environment set by the supervising process
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
    // The supervising process has closed the pipe and will end this process.
  }
}
