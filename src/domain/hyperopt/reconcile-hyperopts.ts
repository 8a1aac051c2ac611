import { isTerminal } from '#contract/backtest.ts';
import type { StoredHyperoptJob } from '#contract/hyperopt.ts';
import type { TaskControl } from '../execution-ports.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { executionName, jobOfExecution } from './execution-name.ts';
import { HYPEROPT_PRIORITY, type HyperoptExecutions, type HyperoptStore } from './hyperopt-ports.ts';

export interface ReconcileHyperoptDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly hyperoptExecutions: HyperoptExecutions;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  /** How long a hyperopt job may wait without an execution before it is started again, ms. */
  readonly graceMs: number;
}

/**
 * Consecutive executions in which no trial of a hyperopt job ended. Each continues from the ledger, so a job that makes
 * progress may lose any number of them.
 */
const MAX_IDLE_RUNS = 5;

export type HyperoptRepair = 'none' | 'started' | 'failed';

/**
 * Repairs a hyperopt job. Without an execution it is started with its stored input; when an execution ended before the
 * job, another takes over, or the job is failed. Ended trials in the ledger are kept. Tasks of an ended hyperopt job
 * are stopped.
 */
export async function repairHyperopt(
  deps: ReconcileHyperoptDeps,
  job: StoredHyperoptJob,
): Promise<HyperoptRepair> {
  if (isTerminal(job.status)) {
    await stopStrayTasks(deps, job);
    return 'none';
  }
  const state = await deps.hyperoptExecutions.state(executionName(job));
  if (state?.status === 'running') return 'none';
  if (state) return goOnOrFail(deps, job);
  if (deps.clock.now() - Date.parse(job.updated_at) < deps.graceMs) return 'none';
  await start(deps, job);
  return 'started';
}

/** {@link repairHyperopt} of the job of an execution that has ended. */
export async function repairHyperoptOf(
  deps: ReconcileHyperoptDeps,
  execution: string,
): Promise<HyperoptRepair> {
  const job = await deps.hyperoptJobs.get(jobOfExecution(execution));
  return job ? repairHyperopt(deps, job) : 'none';
}

async function goOnOrFail(deps: ReconcileHyperoptDeps, job: StoredHyperoptJob): Promise<HyperoptRepair> {
  const { job_id, runs, progress_run = 0, last_execution_error } = job;
  const now = isoTime(deps.clock.now());
  if (runs - progress_run < MAX_IDLE_RUNS) {
    const again = await deps.hyperoptJobs.startAgain(job_id, runs, now);
    if (!again) return 'none';
    await start(deps, again);
    return 'started';
  }
  const error = {
    code: 'SVC001',
    message:
      last_execution_error ??
      `The workflow of the hyperopt job ended ${MAX_IDLE_RUNS} times in a row before a trial had. Resume the job; if that fails too, fewer pairs or a shorter date range may help.`,
  };
  return (await deps.hyperoptJobs.fail(job_id, error, now)) ? 'failed' : 'none';
}

function start({ hyperoptExecutions }: ReconcileHyperoptDeps, job: StoredHyperoptJob): Promise<void> {
  return hyperoptExecutions.start(job.execution_input, HYPEROPT_PRIORITY, executionName(job));
}

async function stopStrayTasks({ tasks }: ReconcileHyperoptDeps, job: StoredHyperoptJob): Promise<void> {
  // The tasks of a completed job end automatically.
  if (job.status === 'completed') return;
  const cause = `The hyperopt job is ${job.status}`;
  await Promise.all(Object.values(job.tasks).map((task) => tasks.stop(task, cause)));
}
