/** Stops the work of a request for which nobody waits any more. */

let check: () => void = () => undefined;

/** Sets how the host of requests finds out: `next` throws when the current request has no reader. */
export function checkStopBy(next: () => void): void {
  check = next;
}

/** Throws when nobody waits for the result of the current request: its client is gone, or its time is over. */
export function throwIfStopped(): void {
  check();
}
