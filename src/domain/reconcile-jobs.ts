import { isTerminal, type StoredBacktestJob } from '#contract/backtest.ts';
import type { ExecutionState, Executions, TaskControl } from './execution-ports.ts';
import type { Clock, JobStore } from './ports.ts';
import { type SettleDeps, settleValidation, settleValidations } from './registry/settle-validations.ts';
import { isoTime } from './validate.ts';

export interface ReconcileDeps {
  readonly jobs: JobStore;
  readonly executions: Executions;
  readonly tasks: TaskControl;
  readonly clock: Clock;
  /** How long a job may wait without an execution before it is started again, ms. 0 on start of one machine. */
  readonly graceMs: number;
  readonly onFault: (jobId: string, error: unknown) => void;
  /** Where the ends of validations are recorded. */
  readonly registry: SettleDeps;
}

export interface ReconcileReport {
  readonly started: readonly string[];
  readonly failed: readonly string[];
  /** Age of the oldest pending job, ms. */
  readonly oldestPendingMs: number;
}

type Repair = 'none' | 'started' | 'failed';

/**
 * Brings every unfinished job back to life or to an end: without an execution it is started again with its stored
 * input; with an execution that ended it is failed. Validations that ended are recorded in the registry. One job's fault
 * does not stop the others.
 */
export async function reconcileJobs(deps: ReconcileDeps): Promise<ReconcileReport> {
  const repaired: Record<Repair, string[]> = { none: [], started: [], failed: [] };
  let oldestPendingMs = 0;
  for await (const job of deps.jobs.unfinished()) {
    if (job.status === 'pending') {
      oldestPendingMs = Math.max(oldestPendingMs, deps.clock.now() - Date.parse(job.created_at));
    }
    try {
      repaired[await repair(deps, job)].push(job.job_id);
    } catch (error) {
      deps.onFault(job.job_id, error);
    }
  }
  await settleValidations(deps.registry, deps.onFault);
  return { started: repaired.started, failed: repaired.failed, oldestPendingMs };
}

/**
 * Repairs one job after its execution changed status. A terminal job's stray task is stopped, the end of a validation is
 * recorded; anything else is treated as in {@link reconcileJobs}.
 */
export async function reconcileJob(deps: ReconcileDeps, jobId: string): Promise<Repair> {
  const job = await deps.jobs.get(jobId);
  if (!job) return 'none';
  const repaired = await repair(deps, job);
  // What the repair failed is settled as it is now.
  const ended = repaired === 'failed' ? await deps.jobs.get(jobId) : job;
  if (ended) await settleValidation(deps.registry, ended);
  return repaired;
}

async function repair(deps: ReconcileDeps, job: StoredBacktestJob): Promise<Repair> {
  if (isTerminal(job.status)) {
    await stopStrayTask(deps, job);
    return 'none';
  }
  const state = await deps.executions.state(job.job_id);
  if (state?.status === 'running') return 'none';
  if (state) return failEnded(deps, job, state);
  if (deps.clock.now() - Date.parse(job.updated_at) < deps.graceMs) return 'none';
  await deps.executions.start(job.execution_input, job.priority);
  return 'started';
}

async function failEnded(
  deps: ReconcileDeps,
  job: StoredBacktestJob,
  state: ExecutionState,
): Promise<Repair> {
  const ended = {
    running: 'is running',
    succeeded: 'ended',
    failed: 'failed',
    aborted: 'was stopped',
    timed_out: 'ran out of time',
  }[state.status];
  const error = {
    code: 'SVC001',
    message: `The backtest's workflow ${ended} before the backtest recorded a result. Submit it again; if it happens again, a smaller date range or fewer pairs may help.`,
  };
  const failed = await deps.jobs.fail(job.job_id, null, error, isoTime(deps.clock.now()));
  await stopStrayTask(deps, job);
  return failed ? 'failed' : 'none';
}

async function stopStrayTask(deps: ReconcileDeps, job: StoredBacktestJob): Promise<void> {
  // A completed job's task ended by itself after its last write.
  if (job.status === 'completed' || !('task' in job) || !job.task) return;
  await deps.tasks.stop(job.task, `The backtest is ${job.status}`);
}
