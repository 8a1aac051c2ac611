import type { ResponseOf } from '#contract/operations/calls.ts';
import { backOff, type CallOptions, type Connection, mayPass } from './connection.ts';
import { TouchstoneError } from './errors.ts';
import { MAX_FAILURES } from './events.ts';

/** A job of any kind, as its operation returns it. */
interface Job {
  readonly status: ResponseOf<'getBacktest' | 'getHyperopt' | 'getCollection'>['status'];
}

export interface WaitOptions<J> {
  readonly signal?: AbortSignal;
  /** Longest interval between two reads, ms. It begins at a tenth. Default 5,000. */
  readonly intervalMs?: number;
  /** Called with each read, for progress. */
  readonly onRead?: (job: J) => void;
}

/**
 * Reads a job until it has ended: `await waitFor(connection, getBacktest, { job_id })`. Continues while the platform restarts.
 *
 * @returns the job: `completed`, `failed` or `cancelled`
 * @throws TouchstoneError as the operation does, or when the platform does not come back; the reason of `signal` when it is aborted
 */
export async function waitFor<I, J extends Job>(
  connection: Connection,
  // Inferring the operation of a call would compare the types of all operations.
  get: (connection: Connection, input: I, options?: CallOptions) => Promise<J>,
  input: NoInfer<I>,
  { signal, intervalMs = 5_000, onRead }: WaitOptions<NoInfer<J>> = {},
): Promise<J> {
  let next = intervalMs / 10;
  for (let failures = 0; ; ) {
    let ms = next;
    const job = await get(connection, input, signal ? { signal } : {}).catch((error: unknown) => {
      if (!(error instanceof TouchstoneError) || !mayPass(error) || ++failures >= MAX_FAILURES) throw error;
      ms = Math.max(backOff(failures), (error.retryAfterSeconds ?? 0) * 1000);
    });
    if (job) {
      failures = 0;
      next = Math.min(intervalMs, ms * 1.5);
      onRead?.(job);
      if (/^(completed|failed|cancelled)$/.test(job.status)) return job;
    }
    await connection.pause(ms, signal);
  }
}
