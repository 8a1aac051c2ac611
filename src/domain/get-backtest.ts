import type { JobIn, StoredBacktestJob } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import type { JobStore } from './ports.ts';

/** The job; throws RES001 when there is none of that id. */
export async function getBacktest(
  deps: { readonly jobs: JobStore },
  jobId: string,
): Promise<StoredBacktestJob> {
  const job = await deps.jobs.get(jobId);
  if (!job) throw unknownBacktest(jobId);
  return job;
}

/** There is no backtest of that id. */
export function unknownBacktest(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('RES001', { field, context: { [field]: jobId } });
}

/** The job if it is completed; throws RES001, or RES005 with status 400 (the interface fixes it) and the status. */
export async function getCompletedBacktest(
  deps: { readonly jobs: JobStore },
  jobId: string,
): Promise<JobIn<'completed'>> {
  const job = await getBacktest(deps, jobId);
  if (job.status === 'completed') return job;
  throw new CodedError('RES005', {
    status: 400,
    message: `The backtest is ${job.status}, not completed`,
    field: 'job_id',
    context: { job_id: jobId, status: job.status },
  });
}
