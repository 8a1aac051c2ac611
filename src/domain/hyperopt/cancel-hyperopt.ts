import type { StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { TaskControl } from '../jobs/execution-ports.ts';
import type { Clock, Log } from '../ports.ts';
import { executionName } from '../queue/execution-name.ts';
import type { JobQueue } from '../queue/queue-ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownHyperopt } from '../shared/unknown-resources.ts';
import type { HyperoptExecutions, HyperoptStore } from './hyperopt-ports.ts';

export interface CancelHyperoptDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly hyperoptExecutions: HyperoptExecutions;
  readonly queue: JobQueue;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Cancels a pending or running hyperopt job; ended trials are kept. The conditional write comes first: no worker can
 * record anything after it. Throws OPT001, or RES005 when the job is already terminal.
 */
export async function cancelHyperopt(
  deps: CancelHyperoptDeps,
  jobId: string,
  by: string,
): Promise<StoredHyperoptJob> {
  const { cancelled, job } = await deps.hyperoptJobs.cancel(jobId, isoTime(deps.clock.now()), by);
  if (!job) throw unknownHyperopt(jobId);
  if (!cancelled) {
    throw new CodedError('RES005', {
      message: `The hyperopt job is already ${job.status}`,
      field: 'job_id',
      context: { job_id: jobId, status: job.status },
    });
  }
  await stopHyperopt(deps, job, 'Cancelled by the user');
  return job;
}

/** Stops the execution of a hyperopt job and every task that it names. */
async function stopHyperopt(
  deps: Pick<CancelHyperoptDeps, 'hyperoptExecutions' | 'queue' | 'tasks' | 'log'>,
  job: StoredHyperoptJob,
  cause: string,
): Promise<void> {
  const stops = [
    deps.hyperoptExecutions.stop(executionName({ job_id: job.job_id, run: job.runs }), cause),
    ...Object.values(job.tasks).map((task) => deps.tasks.stop(task, cause)),
    ...(job.queue.left_at === undefined ? [deps.queue.leave('hyperopt', job.owner)] : []),
  ];
  for (const stopped of await Promise.allSettled(stops)) {
    // The job is cancelled: its workers see that within seconds.
    if (stopped.status === 'rejected') {
      deps.log.error('failed to stop hyperopt job', { job_id: job.job_id, error: stopped.reason });
    }
  }
}
