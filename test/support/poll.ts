import { setTimeout as sleep } from 'node:timers/promises';

/** Two minutes for a loaded machine. Below the time limit of a test, so that the error states what did not happen. */
const PATIENCE_MS = 120_000;

/** Reads until a value is accepted, by default a truthy one, and returns it. */
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
    // Yields to the platform in this process.
    await sleep(20);
  }
}
