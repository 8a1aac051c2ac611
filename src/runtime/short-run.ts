/**
 * Most backtests end within half a second of processor time, which is too short for what V8 does in the interest of later.
 * Over a million candles the whole task takes 21 to 30 % less processor time without it, over four million 15 to 19 % less
 * (many trades the more). So a task begins without it, and a long one gets it. What it is:
 * - The last of the compilers makes the fastest code, takes 1 to 8 ms for a function, and would be called some fifty times.
 * - The first 64 MB of columns start a collection of garbage, which marks the whole heap and finds no column to free. Counted
 *   with the heap, columns start one when the heap's own limit is reached; none is begun ahead of that.
 */
import { setFlagsFromString } from 'node:v8';

/** Processor time of the process after which a run counts as long, ms. */
const LONG_RUN_MS = 1_000;

/** Keeps this process from investing in a long life until {@link workFullyWhenLong} finds that it has one. */
export function workLightly(): void {
  setFlagsFromString('--no-turbofan');
  setFlagsFromString('--no-incremental-marking');
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** To be called whenever the work pauses. */
export function workFullyWhenLong(): void {
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1000 < LONG_RUN_MS) return;
  setFlagsFromString('--turbofan');
  setFlagsFromString('--incremental-marking');
  // Kept beside incremental marking, it lets columns that nobody needs any more pile up to four times those in use.
  setFlagsFromString('--no-external-memory-accounted-in-global-limit');
}
