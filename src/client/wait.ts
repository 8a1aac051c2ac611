import type { OperationId, ResponseOf } from '#contract/calls.ts';
import type { Call, InputOf } from './call.ts';
import type { Connection, Input } from './connection.ts';

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
 * Reads a job until it has ended: `await waitFor(connection, getBacktest, { job_id })`.
 *
 * @returns the job: `completed`, `failed` or `cancelled`
 * @throws TouchstoneError as the operation does, the reason of `signal` when it is aborted
 */
export async function waitFor<I extends JobOperation>(
  connection: Connection,
  get: Call<I>,
  input: InputOf<I>,
  { signal, intervalMs = 5_000, onRead }: WaitOptions<I> = {},
): Promise<ResponseOf<I>> {
  const read = get as unknown as (...args: [Connection, Input, object]) => Promise<{ status: string }>;
  for (let ms = intervalMs / 10; ; ms = Math.min(intervalMs, ms * 1.5)) {
    const job = await read(connection, input as Input, signal ? { signal } : {});
    onRead?.(job as unknown as ResponseOf<I>);
    if (job.status !== 'pending' && job.status !== 'running') return job as unknown as ResponseOf<I>;
    await connection.pause(ms, signal);
  }
}
