import { isTerminal, type StoredBacktestJob } from '#contract/backtest.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/hyperopt.ts';
import {
  type ProcessingReport,
  processDueChallenge,
  processDueChallenges,
} from './challenges/process-due-challenges.ts';
import type { ChallengeDeps } from './challenges/write-challenge.ts';
import type { ExecutionState, Executions } from './execution-ports.ts';
import {
  type ReconcileHyperoptDeps,
  repairHyperopt,
  repairHyperoptOf,
} from './hyperopt/reconcile-hyperopts.ts';
import type { JobStore } from './ports.ts';
import {
  type RecordValidationDeps,
  recordValidationResult,
  recordValidationResults,
} from './registry/record-validation-results.ts';
import { stagingOutcomes } from './registry/start-staging-checks.ts';
import { isoTime } from './validate.ts';

export interface ReconcileDeps extends ReconcileHyperoptDeps {
  readonly jobs: JobStore;
  readonly executions: Executions;
  readonly onError: (jobId: string, error: unknown) => void;
  /** Records validation results and applies deadlines of challenges. */
  readonly registry: RecordValidationDeps & Omit<ChallengeDeps, 'stagingChecks'>;
}

export interface ReconcileReport {
  readonly started: readonly string[];
  readonly failed: readonly string[];
  /** Age of the oldest pending job, ms. */
  readonly oldestPendingMs: number;
  /** Time since a running hyperopt job changed, ms: the longest. Every trial that ends is a change. */
  readonly longestStallMs: number;
  readonly challenges: ProcessingReport;
}

type Repair = 'none' | 'started' | 'failed';
type Unfinished = Pick<StoredBacktestJob, 'job_id' | 'status' | 'created_at'>;

/**
 * Repairs every unfinished job. Without an execution it is started again with its stored input. With an execution that
 * ended it is failed; a hyperopt job continues in another execution. Validations that ended are recorded in the
 * registry, and due deadlines of challenges are applied concurrently. An error in one job does not stop the others.
 */
export async function reconcileJobs(deps: ReconcileDeps): Promise<ReconcileReport> {
  const [jobs, challenges] = await Promise.allSettled([
    repairJobs(deps),
    processDueChallenges(challengesOf(deps), deps.onError),
  ]);
  if (jobs.status === 'rejected') throw jobs.reason;
  if (challenges.status === 'rejected') throw challenges.reason;
  return { ...jobs.value, challenges: challenges.value };
}

async function repairJobs(deps: ReconcileDeps): Promise<Omit<ReconcileReport, 'challenges'>> {
  const repaired: Record<Repair, string[]> = { none: [], started: [], failed: [] };
  let oldestPendingMs = 0;
  const look = async <Job extends Unfinished>(job: Job, repairIt: (job: Job) => Promise<Repair>) => {
    if (job.status === 'pending') {
      oldestPendingMs = Math.max(oldestPendingMs, deps.clock.now() - Date.parse(job.created_at));
    }
    try {
      repaired[await repairIt(job)].push(job.job_id);
    } catch (error) {
      deps.onError(job.job_id, error);
    }
  };
  for await (const job of deps.jobs.unfinished()) await look(job, (each) => repair(deps, each));
  let longestStallMs = 0;
  for await (const job of deps.hyperoptJobs.unfinished()) {
    if (job.status === 'running') {
      longestStallMs = Math.max(longestStallMs, deps.clock.now() - Date.parse(job.updated_at));
    }
    await look(job, (each) => repairHyperopt(deps, each));
  }
  await recordValidationResults(deps.registry, deps.onError);
  return { started: repaired.started, failed: repaired.failed, oldestPendingMs, longestStallMs };
}

/**
 * Repairs the job of an execution that changed status. A terminal job's stray task is stopped, the end of a validation is
 * recorded; anything else is treated as in {@link reconcileJobs}.
 */
export async function reconcileJob(deps: ReconcileDeps, execution: string): Promise<Repair> {
  if (execution.startsWith(HYPEROPT_ID_PREFIX)) return repairHyperoptOf(deps, execution);
  const job = await deps.jobs.get(execution);
  if (!job) return 'none';
  const repaired = await repair(deps, job);
  // Read a job again when the repair failed it, so that its new state is recorded.
  const ended = repaired === 'failed' ? await deps.jobs.get(execution) : job;
  if (ended) await recordValidationResult(deps.registry, ended);
  return repaired;
}

/** Applies due deadlines to one challenge and returns whether it changed. Throws CHL001, SVC005. */
export function reconcileChallenge(deps: ReconcileDeps, challengeId: string): Promise<boolean> {
  return processDueChallenge(challengesOf(deps), challengeId);
}

function challengesOf({ registry, jobs }: ReconcileDeps): ChallengeDeps {
  return { ...registry, stagingChecks: stagingOutcomes({ jobs }) };
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
  // A completed job's task ended automatically after its last write.
  if (job.status === 'completed' || !('task' in job) || !job.task) return;
  await deps.tasks.stop(job.task, `The backtest is ${job.status}`);
}
