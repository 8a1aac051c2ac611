import type { StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import { rejectionMessage, type TaskControl } from '../jobs/execution-ports.ts';
import { type EndRunDeps, type JobRepairs, type RunRepair, requeue } from '../queue/end-run.ts';
import { executionName } from '../queue/execution-name.ts';
import { isoTime } from '../shared/iso-time.ts';
import { type HyperoptLaneDeps, hyperoptLane } from './hyperopt-lane.ts';
import type { HyperoptStore } from './hyperopt-ports.ts';

export interface HyperoptRepairDeps extends EndRunDeps, HyperoptLaneDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly tasks: TaskControl;
  /** Counts the trials of a cancelled or failed job for its owner; repeats count once. */
  readonly countTrials: (job: StoredHyperoptJob) => Promise<void>;
}

/**
 * Consecutive runs in which no trial of a hyperopt job ended. Each continues from the ledger, so a job that makes
 * progress may lose any number of them.
 */
const MAX_IDLE_RUNS = 5;

/**
 * Repairs of hyperopt jobs. A job whose execution ended before it goes back into the queue and continues from the
 * ledger. It fails after too many runs without progress, or when ECS rejected its workers. Tasks of an ended hyperopt
 * job are stopped, and its trials are counted.
 */
export function hyperoptRepairs(deps: HyperoptRepairDeps): JobRepairs {
  return {
    onLost: async ({ job_id, runs }) => {
      const job = await deps.hyperoptJobs.get(job_id);
      // A concurrent repair may have given it another run.
      return job?.runs === runs ? continueOrFail(deps, job) : 'none';
    },
    onRejected: ({ job_id }, reason) => fail(deps, job_id, rejectionMessage('hyperopt job', reason)),
    onShortage: ({ job_id }, reason) =>
      fail(deps, job_id, `The hyperopt job could not start for a day: ${reason}. Resume the job later.`),
    onEnded: async ({ job_id, status }) => {
      // The tasks of a completed job end automatically.
      if (status === 'completed') return;
      const job = await deps.hyperoptJobs.get(job_id);
      if (!job) return;
      await stopStrayTasks(deps, job);
      await deps.countTrials(job);
    },
  };
}

async function continueOrFail(deps: HyperoptRepairDeps, job: StoredHyperoptJob): Promise<RunRepair> {
  const execution = executionName({ job_id: job.job_id, run: job.runs });
  const isRejected = job.rejected_execution === execution;
  const idle = job.progress_run === job.runs ? 0 : (job.idle_runs ?? 0) + 1;
  if (idle < MAX_IDLE_RUNS && !isRejected) {
    const entry = { since: isoTime(deps.clock.now()), deferrals: 0 };
    await requeue(deps, hyperoptLane(deps), job, entry, { idle_runs: idle });
    return 'deferred';
  }
  return fail(
    deps,
    job.job_id,
    job.last_execution_error ??
      `The workflow of the hyperopt job ended ${MAX_IDLE_RUNS} times in a row before a trial or a permuted search had. Resume the job; if that fails too, fewer pairs or a shorter date range may help.`,
  );
}

async function fail(deps: HyperoptRepairDeps, jobId: string, message: string): Promise<RunRepair> {
  const error = { code: 'SVC001', message };
  if (!(await deps.hyperoptJobs.fail(jobId, error, isoTime(deps.clock.now())))) return 'none';
  // A crash before this is repaired as an ended job: the slot is still taken.
  const job = await deps.hyperoptJobs.get(jobId);
  if (job) await deps.countTrials(job);
  return 'failed';
}

async function stopStrayTasks({ tasks }: HyperoptRepairDeps, job: StoredHyperoptJob): Promise<void> {
  const cause = `The hyperopt job is ${job.status}`;
  await Promise.all(Object.values(job.tasks).map((task) => tasks.stop(task, cause)));
}
