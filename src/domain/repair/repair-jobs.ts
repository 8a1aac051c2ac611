import { type StoredBacktestJob, VALIDATION_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/hyperopt/hyperopt.ts';
import type { SizedLane } from '#contract/jobs/queue.ts';
import { expireApprovals } from '../approvals/expire-approvals.ts';
import {
  type ProcessingReport,
  processDueChallenge,
  processDueChallenges,
} from '../challenges/process-due-challenges.ts';
import type { ChallengeDeps } from '../challenges/write-challenge.ts';
import { hyperoptLane } from '../hyperopt/hyperopt-lane.ts';
import { type HyperoptRepairDeps, hyperoptRepairs } from '../hyperopt/repair-hyperopt.ts';
import { type EndedStatus, rejectionMessage } from '../jobs/execution-ports.ts';
import type { JobStore, Log } from '../ports.ts';
import { recordCost, type StrategyCosts } from '../queue/choose-lane.ts';
import { dispatch } from '../queue/dispatch.ts';
import { endRun, type JobRepairs, type Lanes, type RunRepair, repairRun } from '../queue/end-run.ts';
import { executionName, runOfExecution } from '../queue/execution-name.ts';
import { idleTime } from '../queue/idle-time.ts';
import { type BacktestLaneDeps, backtestLane, canaryLane, fastLane } from '../queue/lanes.ts';
import type { Lane, QueueJob } from '../queue/queue-ports.ts';
import {
  type RecordValidationDeps,
  recordValidationResult,
  recordValidationResults,
} from '../registry/record-validation-results.ts';
import { stagingOutcomes } from '../registry/start-staging-checks.ts';
import { type ExpireJobsDeps, type ExpiryReport, expireJobs } from '../retention/expire-jobs.ts';
import { type RemoveColumnsDeps, removeColumns } from '../retention/remove-columns.ts';
import { removeDeleted } from '../retention/remove-deleted.ts';
import { isoTime } from '../shared/iso-time.ts';
import { type ExpireSignalsDeps, expireSignals } from '../signals/expire-signals.ts';

export interface RepairDeps extends BacktestLaneDeps, HyperoptRepairDeps {
  readonly jobs: JobStore;
  readonly strategyCosts: StrategyCosts;
  readonly log: Log;
  readonly onError: (jobId: string, error: unknown) => void;
  /** Age from which a slot is compared with its execution, ms; a younger one may be about to start it. */
  readonly graceMs: number;
  /** Records validation results and applies deadlines of challenges. */
  /** Null: nothing expires. */
  readonly expiry: ExpireJobsDeps | null;
  /** Null: computed columns stay. */
  readonly columnsExpiry: RemoveColumnsDeps | null;
  /** Null: files of signals stay. */
  readonly signalsExpiry: ExpireSignalsDeps | null;
  readonly registry: RecordValidationDeps & Omit<ChallengeDeps, 'stagingChecks'>;
}

/** Load of the queue and age of what makes no progress. */
export interface QueueMeasures {
  readonly waiting: Readonly<Record<SizedLane, number>>;
  readonly running: Readonly<Record<SizedLane, number>>;
  /** Age of the oldest pending job, ms. */
  readonly oldestPendingMs: number;
  /** Longest time for which a lane could have started a waiting job and started none, ms. */
  readonly idleMs: number;
  /** Longest time since a running hyperopt job changed, ms. Every trial that ends is a change. */
  readonly longestStallMs: number;
}

export interface RepairReport {
  /** Jobs whose execution was started again. */
  readonly restarted: readonly string[];
  readonly failed: readonly string[];
  /** Jobs that were given a slot. */
  readonly dispatched: readonly string[];
  readonly challenges: ProcessingReport;
  readonly expired: ExpiryReport;
  /** Number of jobs deleted by users whose data were removed. */
  readonly removed: number;
}

/** Runs that are repaired concurrently. */
const CONCURRENT_REPAIRS = 10;

/** Measures the queue with reads only: it works while repairs fail. */
export async function measureQueue(deps: RepairDeps): Promise<QueueMeasures> {
  const now = deps.clock.now();
  const lanes = await Promise.all(
    kindsOf(deps)
      .flatMap(({ lanes }) => lanes)
      .filter(({ name }) => name !== 'canary')
      .map(async (lane) => {
        const state = {
          slots: await deps.queue.slots(lane.name),
          owners: await deps.queue.owners(lane.name),
        };
        return { lane: lane.name, ...state, idleMs: await idleTime(deps, lane, state) };
      }),
  );
  const of = (count: (each: (typeof lanes)[number]) => number) =>
    Object.fromEntries(lanes.map((each) => [each.lane, count(each)])) as Record<SizedLane, number>;
  const hyperopts = lanes.find(({ lane }) => lane === 'hyperopt')!.slots;
  const [backtest, hyperopt, ...stalls] = await Promise.all([
    deps.jobs.oldestPending(),
    deps.hyperoptJobs.oldestPending(),
    ...hyperopts.map(({ job_id }) => stallOf(deps, job_id, now)),
  ]);
  return {
    waiting: of(({ owners }) => owners.reduce((sum, { waiting }) => sum + waiting, 0)),
    running: of(({ slots }) => slots.length),
    oldestPendingMs: Math.max(ageOf(backtest, now), ageOf(hyperopt, now)),
    idleMs: Math.max(...lanes.map(({ idleMs }) => idleMs)),
    longestStallMs: Math.max(0, ...stalls),
  };
}

function ageOf(created: string | undefined, now: number): number {
  return created === undefined ? 0 : now - Date.parse(created);
}

async function stallOf({ hyperoptJobs }: RepairDeps, jobId: string, now: number): Promise<number> {
  const job = await hyperoptJobs.get(jobId);
  return job?.status === 'running' ? now - Date.parse(job.updated_at) : 0;
}

/**
 * Compares every slot older than the grace period with its execution, gives free slots to waiting jobs, records the
 * validations that ended, applies due deadlines of challenges and of requests for approval, and deletes what has expired. It reads slots and executions, not the
 * waiting jobs. An error in one job does not stop the others.
 */
export async function repairJobs(deps: RepairDeps): Promise<RepairReport> {
  const [jobs, challenges] = await Promise.allSettled([
    repairQueue(deps),
    processDueChallenges(challengesOf(deps), deps.onError),
  ]);
  if (jobs.status === 'rejected') throw jobs.reason;
  // Before an error of the challenges is thrown: staging waits for these results.
  await recordValidationResults(deps.registry, deps.onError);
  if (challenges.status === 'rejected') throw challenges.reason;
  await deps.registry.registry.sharing
    .finishTransfers()
    .catch((error: unknown) => deps.onError('transfers of models', error));
  await expireApprovals(deps.registry, deps.onError).catch((error: unknown) =>
    deps.onError('requests for approval', error),
  );
  // Last: what the other steps need comes first.
  const removed = deps.expiry ? await removeDeleted(deps.expiry, deps.onError) : 0;
  if (deps.columnsExpiry) await removeColumns(deps.columnsExpiry, deps.onError);
  if (deps.signalsExpiry) await expireSignals(deps.signalsExpiry, deps.onError);
  const expired = deps.expiry ? await expireJobs(deps.expiry, deps.onError) : { details: 0, job: 0 };
  return { ...jobs.value, challenges: challenges.value, expired, removed };
}

/** The part of {@link repairJobs} that concerns slots and waiting jobs. */
export async function repairQueue(
  deps: RepairDeps,
): Promise<Omit<RepairReport, 'challenges' | 'expired' | 'removed'>> {
  const repaired: Record<RunRepair, string[]> = { none: [], started: [], deferred: [], failed: [] };
  const dispatched: string[] = [];
  for (const { lanes, repairs } of kindsOf(deps)) {
    for (const lane of lanes) {
      const fail = (error: unknown) => void deps.onError(lane.name, error);
      // While executions cannot be listed, slots that are free still go to waiting jobs.
      const repairing = await repairSlots(deps, lane, repairs).catch(fail);
      for (const [repair, jobs] of repairing ?? []) repaired[repair].push(...jobs);
      dispatched.push(...((await dispatch(deps, lane).catch(fail)) ?? []));
    }
  }
  return { restarted: repaired.started, failed: repaired.failed, dispatched };
}

async function repairSlots(
  deps: RepairDeps,
  lane: Lane,
  repairs: JobRepairs,
): Promise<ReadonlyMap<RunRepair, string[]>> {
  const old = (await deps.queue.slots(lane.name)).filter(
    ({ since }) => deps.clock.now() - since >= deps.graceMs,
  );
  const repaired = new Map<RunRepair, string[]>();
  if (old.length === 0) return repaired;
  const running = await lane.executions.running();
  const suspicious = old.filter((slot) => !running.has(executionName(slot)));
  await forEach(deps, suspicious, async (slot) => {
    const repair = await repairRun(deps, lane, slot, repairs);
    await recordValidation(deps, slot.job_id);
    repaired.set(repair, [...(repaired.get(repair) ?? []), slot.job_id]);
  });
  return repaired;
}

/** Repairs some runs concurrently. An error in one does not stop the others. */
async function forEach<Run extends { readonly job_id: string }>(
  { onError }: RepairDeps,
  runs: readonly Run[],
  repair: (run: Run) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < runs.length; from += CONCURRENT_REPAIRS) {
    await Promise.all(
      runs
        .slice(from, from + CONCURRENT_REPAIRS)
        .map((run) => repair(run).catch((error) => onError(run.job_id, error))),
    );
  }
}

/** Records the result of a validation that ended. */
async function recordValidation(deps: RepairDeps, jobId: string): Promise<void> {
  if (!jobId.startsWith(VALIDATION_ID_PREFIX)) return;
  const job = await deps.jobs.get(jobId);
  if (job) await recordValidationResult(deps.registry, job);
}

/**
 * Handles executions that ended: each frees its slot, and the free slots of their lanes go to waiting jobs. Repeating it
 * does no harm. An error in one does not stop the others.
 */
export async function endExecutions(
  deps: RepairDeps,
  executions: readonly string[],
): Promise<readonly string[]> {
  const dispatched: string[] = [];
  for (const { lanes, repairs, isOwn } of kindsOf(deps)) {
    const freed = new Set<Lane>();
    await forEach(deps, executions.filter(isOwn).map(runOfExecution), async (run) => {
      const lane = await endRun(deps, lanes, run, repairs);
      if (lane) freed.add(lane);
      await recordValidation(deps, run.job_id);
    });
    for (const lane of freed) {
      await dispatch(deps, lane).then(
        (jobs) => dispatched.push(...jobs),
        (error) => deps.onError(lane.name, error),
      );
    }
  }
  return dispatched;
}

/** Applies due deadlines to one challenge and returns whether it changed. Throws CHL001, SVC005. */
export function repairChallenge(deps: RepairDeps, challengeId: string): Promise<boolean> {
  return processDueChallenge(challengesOf(deps), challengeId);
}

function challengesOf({ registry, jobs }: RepairDeps): ChallengeDeps {
  return { ...registry, stagingChecks: stagingOutcomes({ jobs }) };
}

/** A kind of job with its lanes. */
interface Kind {
  readonly lanes: Lanes;
  readonly repairs: JobRepairs;
  /** True for the name of an execution of this kind. */
  readonly isOwn: (execution: string) => boolean;
}

function kindsOf(deps: RepairDeps): readonly Kind[] {
  const isHyperopt = (execution: string) => execution.startsWith(HYPEROPT_ID_PREFIX);
  return [
    {
      lanes: [backtestLane(deps), fastLane(deps), canaryLane(deps)],
      repairs: backtestRepairs(deps),
      isOwn: (execution) => !isHyperopt(execution),
    },
    { lanes: [hyperoptLane(deps)], repairs: hyperoptRepairs(deps), isOwn: isHyperopt },
  ];
}

function backtestRepairs(deps: RepairDeps): JobRepairs {
  const fail = async ({ job_id }: QueueJob, message: string): Promise<RunRepair> => {
    const error = { code: 'SVC001', message };
    const failed = await deps.jobs.fail(job_id, null, error, isoTime(deps.clock.now()));
    const job = await deps.jobs.get(job_id);
    if (job) await stopStrayTask(deps, job);
    return failed ? 'failed' : 'none';
  };
  return {
    onLost: (job, status) =>
      fail(
        job,
        `The backtest's workflow ${ENDED[status]} before the backtest recorded a result. Submit it again; if it happens again, a smaller date range or fewer pairs may help.`,
      ),
    onRejected: (job, reason) => fail(job, rejectionMessage('backtest', reason)),
    onShortage: (job, reason) =>
      fail(job, `The backtest could not start for a day: ${reason}. Submit it again later.`),
    onEnded: async ({ job_id }) => {
      const job = await deps.jobs.get(job_id);
      if (!job) return;
      await stopStrayTask(deps, job);
      await recordCost(deps, job).catch((error) => deps.onError(job_id, error));
    },
  };
}

const ENDED: Readonly<Record<EndedStatus, string>> = {
  succeeded: 'ended',
  failed: 'failed',
  aborted: 'was stopped',
  timed_out: 'ran out of time',
};

async function stopStrayTask(deps: RepairDeps, job: StoredBacktestJob): Promise<void> {
  // A completed job's task ended automatically after its last write.
  if (job.status === 'completed' || !('task' in job) || !job.task) return;
  await deps.tasks.stop(job.task, `The backtest is ${job.status}`);
}
