/**
 * The last of V8's compilers makes the fastest code and takes 1 to 8 ms for a function. A backtest calls for it some fifty
 * times, 100 ms of processor time that a run of half a second does not earn back: over a million candles the whole task takes
 * a fifth less without it, over four million about the same. So a task begins without it, and a long one gets it.
 * A schema, too, is compiled at its first use, which takes a task longer than the few items that it reads.
 */
import { setFlagsFromString } from 'node:v8';
import * as z from 'zod';

/** Processor time of the process after which a run counts as long, ms. */
const LONG_RUN_MS = 1_000;

/** Keeps this process from compiling with all its might until {@link compileFullyWhenLong} finds that it runs for long. */
export function compileLightly(): void {
  setFlagsFromString('--no-turbofan');
  z.config({ jitless: true });
}

/** To be called whenever the work pauses. */
export function compileFullyWhenLong(): void {
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1000 > LONG_RUN_MS) setFlagsFromString('--turbofan');
}
