import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Executions, TaskControl } from '../jobs/execution-ports.ts';
import type { Clock, JobStore, Log } from '../ports.ts';
import { executionName } from '../queue/execution-name.ts';
import type { JobQueue } from '../queue/queue-ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownBacktest } from '../shared/unknown-resources.ts';

export interface CancelBacktestDeps {
  readonly jobs: JobStore;
  readonly executions: Executions;
  readonly queue: JobQueue;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Cancels a pending or running job. The conditional write comes first, so that the caller gets the true state even when
 * stopping fails. A task that still runs cannot overwrite a terminal state, and repair stops it later.
 * Throws RES001, or RES005 with status 400, which clients expect, when the job is already terminal.
 */
export async function cancelBacktest(
  deps: CancelBacktestDeps,
  jobId: string,
  by: string,
): Promise<StoredBacktestJob> {
  const { cancelled, job } = await deps.jobs.cancel(jobId, isoTime(deps.clock.now()), by);
  if (!job) throw unknownBacktest(jobId);
  if (!cancelled) {
    throw new CodedError('RES005', {
      status: 400,
      message: `The backtest is already ${job.status}`,
      field: 'job_id',
      context: { job_id: jobId, status: job.status },
    });
  }
  const execution = executionName({ job_id: jobId, run: job.runs });
  const stops = job.runs > 0 ? [deps.executions.stop(execution, 'Cancelled by the user')] : [];
  if (job.queue.left_at === undefined) stops.push(deps.queue.leave(job.queue.lane ?? 'backtest', job.owner));
  if ('task' in job && job.task) stops.push(deps.tasks.stop(job.task, 'Cancelled by the user'));
  for (const stopped of await Promise.allSettled(stops)) {
    // The job is cancelled: every write of its task is rejected.
    if (stopped.status === 'rejected') {
      deps.log.error('failed to stop backtest', { job_id: jobId, error: stopped.reason });
    }
  }
  return job;
}
