import { isTerminal, type JobStatus } from '#contract/backtests/backtest.ts';
import { QUEUE_LIMITS, type QueueEntry } from '#contract/jobs/queue.ts';
import { type EndedStatus, ExecutionRejected } from '../jobs/execution-ports.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { ownLane, start } from './dispatch.ts';
import { executionName } from './execution-name.ts';
import { isWaiting, type JobQueue, type Lane, type QueueJob, type Slot } from './queue-ports.ts';

export interface EndRunDeps {
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** 0 to 1, exclusive. */
  readonly random: () => number;
}

/** Lanes of one kind of job. */
export type Lanes = readonly [Lane, ...Lane[]];

export type RunRepair = 'none' | 'started' | 'deferred' | 'failed';

/** What to do with a job whose execution ended before the job did. */
export interface JobRepairs {
  /** Ends or requeues the job. Returns what became of it. */
  readonly onLost: (job: QueueJob, ended: EndedStatus) => Promise<RunRepair>;
  /** Fails the job: its execution cannot be started. */
  readonly onRejected: (job: QueueJob, reason: string) => Promise<RunRepair>;
  /** Fails the job: it lacked capacity for too long. */
  readonly onShortage: (job: QueueJob, reason: string) => Promise<RunRepair>;
  /** Stops tasks that a job which has ended may have left. */
  readonly onEnded: (job: QueueJob) => Promise<void>;
}

/**
 * Frees the slot of a run whose execution was reported as ended. The report is enough for a job that has ended; for any
 * other, the state of the execution decides. A job that has had a later run has another slot.
 *
 * @param lanes lanes of this kind of job; the first is that of jobs which name none
 * @returns the lane of the slot; undefined if the run has no slot
 */
export async function endRun(
  deps: EndRunDeps,
  lanes: Lanes,
  { job_id, run }: Pick<Slot, 'job_id' | 'run'>,
  repairs: JobRepairs,
): Promise<Lane | undefined> {
  const job = await lanes[0].jobs.get(job_id);
  if (job?.runs !== run || job.slot === undefined) return undefined;
  const lane = lanes.find(({ name }) => name === job.queue.lane) ?? lanes[0];
  const slot: Slot = { lane: lane.name, number: job.slot, job_id, run, owner: job.owner, since: 0 };
  if (isTerminal(job.status as JobStatus)) {
    await repairs.onEnded(job);
    await deps.queue.free(slot);
  } else {
    await repairRun(deps, lane, slot, repairs);
  }
  return lane;
}

/**
 * Brings a slot and its job into agreement with the slot's execution: an execution that runs keeps the slot, one that
 * never started is started, and one that ended frees the slot. A job that lacked capacity goes back into the queue.
 */
export async function repairRun(
  deps: EndRunDeps,
  lane: Lane,
  slot: Slot,
  repairs: JobRepairs,
): Promise<RunRepair> {
  const repair = await repairJob(deps, lane, slot, repairs);
  // Last: until here a crash leaves the slot, and the next run repairs it again.
  if (repair !== 'runs' && repair !== 'started') await deps.queue.free(slot);
  return repair === 'runs' ? 'none' : repair;
}

async function repairJob(
  deps: EndRunDeps,
  lane: Lane,
  slot: Slot,
  repairs: JobRepairs,
): Promise<RunRepair | 'runs'> {
  // Before the job: an execution that has ended wrote its shortage or its result before.
  const state = await lane.executions.state(executionName(slot));
  const job = await lane.jobs.get(slot.job_id);
  if (!job) return 'none';
  if (isTerminal(job.status as JobStatus)) {
    await repairs.onEnded(job);
    // Its execution still writes its last states: the slot is free once it has ended.
    return state?.status === 'running' ? 'runs' : 'none';
  }
  // It waits again, or has a later run.
  if (isWaiting(job) || job.runs !== slot.run) return 'none';
  if (state?.status === 'running') return 'runs';
  if (!state) return startAgain(deps, lane, slot, job, repairs);
  if (job.shortage?.execution === executionName(slot)) {
    return defer(deps, lane, job, job.shortage.reason, repairs);
  }
  return repairs.onLost(job, state.status);
}

async function startAgain(
  deps: EndRunDeps,
  lane: Lane,
  slot: Slot,
  job: QueueJob,
  repairs: JobRepairs,
): Promise<RunRepair> {
  try {
    await start(deps, lane, slot);
    return 'started';
  } catch (error) {
    if (error instanceof ExecutionRejected) return repairs.onRejected(job, error.message);
    throw error;
  }
}

async function defer(
  deps: EndRunDeps,
  lane: Lane,
  job: QueueJob,
  reason: string,
  repairs: JobRepairs,
): Promise<RunRepair> {
  const now = deps.clock.now();
  // A run that made progress had capacity: the shortage begins with its end.
  const before = job.progress_run === job.runs ? undefined : job.queue;
  const first = before?.shortage_since ?? isoTime(now);
  if (now - Date.parse(first) > QUEUE_LIMITS.max_shortage_ms) return repairs.onShortage(job, reason);
  const deferrals = (before?.deferrals ?? 0) + 1;
  await requeue(deps, lane, job, {
    since: isoTime(now),
    deferrals,
    shortage_since: first,
    not_before: isoTime(now + pauseAfter(deferrals, deps.random)),
    reason,
  });
  return 'deferred';
}

/** Pause before the next start, ms: its upper bound doubles with each deferral, and jitter spreads jobs that lack the same capacity. */
function pauseAfter(deferrals: number, random: () => number): number {
  const { min, max } = QUEUE_LIMITS.shortage_pause_ms;
  const bound = Math.min(max, min * 2 ** deferrals);
  return Math.floor(min + (bound - min) * random());
}

/** Puts a job back into the queue and announces its owner. */
export async function requeue(
  { queue, clock }: Pick<EndRunDeps, 'queue' | 'clock'>,
  lane: Lane,
  job: QueueJob,
  entry: QueueEntry,
  set?: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  await queue.announce(lane.name, job.owner, clock.now());
  const requeued = await queue.requeue(lane.name, job, { ...entry, ...ownLane(job) }, set);
  if (!requeued) await queue.leave(lane.name, job.owner);
  return requeued;
}
