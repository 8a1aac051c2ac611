/**
 * V8 flags of a backtest task. Most tasks end within half a second of processor time, too short for these optimizations:
 * - TurboFan, the last compiler, takes 1 to 8 ms for a function and would compile about fifty.
 * - The first 64 MB of columns start a garbage collection, which marks the whole heap and finds no column to free. Counted with
 *   the heap, columns start one at the heap's own limit, and incremental marking does not begin one ahead of it.
 *
 * V8 rejects compiled code that was stored under other flags, such as that of Node's own modules: the flags are set once those are
 * loaded.
 *
 * A task of 105,120 candles takes 22 % less processor time with them. See docs/decisions/045-v8-flags-of-short-tasks.md.
 */
import { setFlagsFromString } from 'node:v8';
import { processorMs } from './processor-time.ts';

/** Processor time of the process after which a run counts as long, ms. */
const LONG_RUN_MS = 2_000;

/** Sets the flags of a short run, until {@link restoreV8Flags} finds that the run is long. */
export function useShortRunV8Flags(): void {
  setFlagsFromString('--no-turbofan');
  setFlagsFromString('--no-incremental-marking');
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Restores V8's defaults once the run is long. Call it whenever the work pauses. */
export function restoreV8Flags(): void {
  if (processorMs() < LONG_RUN_MS) return;
  setFlagsFromString('--turbofan');
  setFlagsFromString('--incremental-marking');
  // With incremental marking, this flag lets unused columns accumulate to four times the used ones.
  setFlagsFromString('--no-external-memory-accounted-in-global-limit');
}
