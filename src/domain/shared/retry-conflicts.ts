import type { CodedError } from '#contract/values/errors.ts';

/** Outcome of one attempt: its result, or the error to throw if no attempt is left. */
type Attempt<T> = { readonly result: T } | { readonly conflict: CodedError };

/**
 * Repeats a conditional write that reads the state again in each attempt, until it is stored. Throws the conflict of the last
 * attempt, and what `attempt` throws.
 *
 * @param attempts maximum number of attempts, at least 1
 * @param pause waits before the next attempt; gets the number of failed attempts. Absent: no wait
 */
export async function retryConflicts<T>(
  { attempts, pause }: { readonly attempts: number; readonly pause?: (failed: number) => Promise<unknown> },
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let failed = 1; ; failed++) {
    const outcome = await attempt();
    if ('result' in outcome) return outcome.result;
    if (failed >= attempts) throw outcome.conflict;
    await pause?.(failed);
  }
}
