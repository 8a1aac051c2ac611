import { CodedError } from '#contract/errors.ts';

/**
 * The result of `work`, or SVC006 when it takes longer than `ms`; then the signal is aborted too, so that what is
 * still under way can stop.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new CodedError('SVC006');
      controller.abort(error);
      reject(error);
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** {@link withDeadline} for several pieces of work that share the time; what passes between them does not count. */
export function sharedDeadline(ms: number): <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T> {
  let left = ms;
  return async (work) => {
    const begun = performance.now();
    try {
      return await withDeadline(left, work);
    } finally {
      left = Math.max(0, left - (performance.now() - begun));
    }
  };
}
