/** Stops the work of a request for which nobody waits any more. */

let check: () => void = () => undefined;
let leave: <T>(action: () => T) => T = (action) => action();

/**
 * Sets how the host of requests finds out: `next` throws when the current request has no reader, and never inside of an action of
 * `outside`.
 */
export function checkStopBy(next: () => void, outside: <T>(action: () => T) => T): void {
  check = next;
  leave = outside;
}

/** Runs what a read starts: it ends as if the client were there, and so does all work that it begins. */
export function withoutStop<T>(action: () => T): T {
  return leave(action);
}

/** Throws when nobody waits for the result of the current request: its client is gone, or its time is over. */
export function throwIfStopped(): void {
  check();
}
