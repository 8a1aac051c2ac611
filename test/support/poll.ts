import { setTimeout as sleep } from 'node:timers/promises';

/** Two minutes on a loaded machine; less than the time limit of a test, so that what never happened is named. */
const PATIENCE_MS = 120_000;

/** Reads until a value is accepted and returns it; by default until it is truthy. */
export async function poll<T>(
  read: () => T | Promise<T>,
  accept: (value: T) => unknown = Boolean,
  description = '',
): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await read();
    if (accept(value)) return value;
    if (Date.now() > deadline) {
      throw new Error(`Did not happen in time: ${description || accept} (last: ${JSON.stringify(value)})`);
    }
    // Yields to a platform in this process.
    await sleep(20);
  }
}
