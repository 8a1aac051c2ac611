import type { OperationId, ResponseOf } from '#contract/calls.ts';
import type { Call, InputOf } from './call.ts';
import { backOff, type Connection, type Input, mayPass } from './connection.ts';
import { TouchstoneError } from './errors.ts';
import { MAX_FAILURES } from './events.ts';

/** IDs of the operations that return a job of any kind. */
type JobOperation = 'getBacktest' | 'getHyperopt' | 'getCollection';

export interface WaitOptions<I extends OperationId> {
  readonly signal?: AbortSignal;
  /** Longest interval between two reads, ms. It begins at a tenth. Default 5,000. */
  readonly intervalMs?: number;
  /** Called with each read, for progress. */
  readonly onRead?: (job: ResponseOf<I>) => void;
}

/**
 * Reads a job until it has ended: `await waitFor(connection, getBacktest, { job_id })`. Continues while the platform restarts.
 *
 * @returns the job: `completed`, `failed` or `cancelled`
 * @throws TouchstoneError as the operation does, or when the platform does not come back; the reason of `signal` when it is aborted
 */
export async function waitFor<I extends JobOperation>(
  connection: Connection,
  get: Call<I>,
  input: InputOf<I>,
  { signal, intervalMs = 5_000, onRead }: WaitOptions<I> = {},
): Promise<ResponseOf<I>> {
  const read = get as unknown as (...args: [Connection, Input, object]) => Promise<{ status: string }>;
  let next = intervalMs / 10;
  for (let failures = 0; ; ) {
    let ms = next;
    const job = await read(connection, input as Input, signal ? { signal } : {}).catch((error: unknown) => {
      if (!(error instanceof TouchstoneError) || !mayPass(error) || ++failures >= MAX_FAILURES) throw error;
      ms = Math.max(backOff(failures), (error.retryAfterSeconds ?? 0) * 1000);
    });
    if (job) {
      failures = 0;
      next = Math.min(intervalMs, ms * 1.5);
      onRead?.(job as unknown as ResponseOf<I>);
      if (/^(completed|failed|cancelled)$/.test(job.status)) return job as unknown as ResponseOf<I>;
    }
    await connection.pause(ms, signal);
  }
}
