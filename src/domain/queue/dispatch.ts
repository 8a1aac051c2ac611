import { isTerminal, type JobStatus } from '#contract/backtests/backtest.ts';
import type { QueueEntry } from '#contract/jobs/queue.ts';
import { shardOf } from '#contract/values/tables.ts';
import type { Clock, Log } from '../ports.ts';
import { executionName } from './execution-name.ts';
import type { JobQueue, Lane, QueueJob, Slot, WaitingJob, WaitingOwner } from './queue-ports.ts';

export interface DispatchDeps {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Executions that are started concurrently. */
const CONCURRENT_STARTS = 10;
/** An owner without waiting jobs is removed this long after the latest announcement: a submission takes less, ms. */
const OWNER_GRACE_MS = 2 * 60_000;

/** Owner during one dispatch. */
interface Turn {
  readonly entry: WaitingOwner;
  running: number;
  lastTurn: number;
  /** Jobs that may start, in order; undefined until they are read. */
  jobs: WaitingJob[] | undefined;
}

/**
 * Gives the free slots of a lane to waiting jobs and starts their executions. Owners take turns: the next slot is for the
 * owner with the fewest running jobs, then for the one whose latest turn is longest ago. The jobs of an owner start by
 * priority, then by age. Any number of dispatches may run concurrently: a slot is taken by one conditional transaction.
 *
 * @returns ids of the jobs that were given a slot
 */
export async function dispatch(deps: DispatchDeps, lane: Lane): Promise<readonly string[]> {
  const [slots, owners] = await Promise.all([deps.queue.slots(lane.name), deps.queue.owners(lane.name)]);
  const free = freeNumbers(lane, slots);
  const turns = owners.map((entry) => turnOf(entry, slots));
  const taken: Slot[] = [];
  try {
    await giveSlots(deps, lane, { free, turns, taken });
  } finally {
    // Also after an error: those jobs have their slots.
    await startAll(deps, lane, taken);
  }
  return taken.map(({ job_id }) => job_id);
}

interface Deal {
  readonly free: number[];
  readonly turns: Turn[];
  /** Slots that were given, in order. */
  readonly taken: Slot[];
}

async function giveSlots(deps: DispatchDeps, lane: Lane, { free, turns, taken }: Deal): Promise<void> {
  while (free.length > 0 && turns.length > 0) {
    const turn = turns.reduce((first, each) => (comesBefore(each, first) ? each : first));
    // Read once: the index may still list jobs that were taken since.
    turn.jobs ??= [...(await deps.queue.next(lane.name, turn.entry.owner, deps.clock.now(), free.length))];
    const job = turn.jobs[0];
    if (!job) {
      turns.splice(turns.indexOf(turn), 1);
      await removeIdle(deps, lane, turn.entry);
      continue;
    }
    // Jobs that are given slots concurrently try different ones.
    const index = shardOf(job.job_id, free.length);
    const slot = slotOf(deps, lane, free[index]!, job, turn.entry.owner);
    const outcome = await deps.queue.take(slot);
    if (outcome !== 'not_waiting') free.splice(index, 1);
    if (outcome !== 'slot_taken') turn.jobs.shift();
    if (outcome !== 'taken') continue;
    taken.push(slot);
    turn.running++;
    turn.lastTurn = slot.since;
    await recordTurn(deps, slot);
  }
}

/** Records that a job of the owner was given a slot. An error leaves only the owner's number of waiting jobs too high. */
async function recordTurn({ queue, log }: DispatchDeps, { lane, owner, since, job_id }: Slot): Promise<void> {
  await queue
    .leave(lane, owner, since)
    .catch((error) => log.error('failed to record the turn of an owner', { job_id, error }));
}

/**
 * Takes a free slot for one waiting job, if more slots are free than `others` jobs wait. Undefined: too few are free, or
 * the job does not wait.
 */
export async function takeSlot(
  deps: DispatchDeps,
  lane: Lane,
  job: WaitingJob,
  owner: string,
  others: number,
): Promise<Slot | undefined> {
  const free = freeNumbers(lane, await deps.queue.slots(lane.name));
  while (free.length > others) {
    const [number] = free.splice(shardOf(job.job_id, free.length), 1);
    const slot = slotOf(deps, lane, number!, job, owner);
    const outcome = await deps.queue.take(slot);
    if (outcome === 'slot_taken') continue;
    if (outcome === 'not_waiting') return undefined;
    await recordTurn(deps, slot);
    return slot;
  }
  return undefined;
}

/**
 * Starts the execution of a slot. A repetition starts the same execution, so it starts once. The slot of a job that was
 * cancelled meanwhile is freed.
 */
export async function start({ queue }: Pick<DispatchDeps, 'queue'>, lane: Lane, slot: Slot): Promise<void> {
  const job = await lane.jobs.get(slot.job_id);
  if (!job || isTerminal(job.status as JobStatus)) {
    await queue.free(slot);
    return;
  }
  // A port's input is that of its lane's jobs.
  const input = { ...job.execution_input, ...ownLane(job) };
  await lane.executions.start(input as never, executionName(slot));
}

/** The lane that a job names. */
export function ownLane({ queue }: Pick<QueueJob, 'queue'>): Pick<QueueEntry, 'lane'> {
  return queue.lane === undefined ? {} : { lane: queue.lane };
}

async function startAll({ queue, log }: DispatchDeps, lane: Lane, slots: readonly Slot[]): Promise<void> {
  for (let from = 0; from < slots.length; from += CONCURRENT_STARTS) {
    await Promise.all(
      slots.slice(from, from + CONCURRENT_STARTS).map((slot) =>
        // The job keeps its slot: repairSlots starts the execution again.
        start({ queue }, lane, slot).catch((error) =>
          log.error('failed to start execution', { job_id: slot.job_id, error }),
        ),
      ),
    );
  }
}

function freeNumbers(lane: Lane, slots: readonly Slot[]): number[] {
  const taken = new Set(slots.map(({ number }) => number));
  const free = Array.from({ length: lane.maxRunning }, (_, number) => number).filter(
    (each) => !taken.has(each),
  );
  // Slots above a limit that was lowered count until they end.
  return free.slice(0, Math.max(0, lane.maxRunning - slots.length));
}

function turnOf(entry: WaitingOwner, slots: readonly Slot[]): Turn {
  const running = slots.filter(({ owner }) => owner === entry.owner).length;
  return { entry, running, lastTurn: entry.last_turn, jobs: undefined };
}

function comesBefore(a: Turn, b: Turn): boolean {
  return a.running !== b.running ? a.running < b.running : a.lastTurn < b.lastTurn;
}

function slotOf(deps: DispatchDeps, lane: Lane, number: number, job: WaitingJob, owner: string): Slot {
  return { lane: lane.name, number, job_id: job.job_id, run: job.runs + 1, owner, since: deps.clock.now() };
}

async function removeIdle({ queue, clock }: DispatchDeps, lane: Lane, owner: WaitingOwner): Promise<void> {
  if (clock.now() - owner.announced_at < OWNER_GRACE_MS) return;
  if (await queue.isEmpty(lane.name, owner.owner)) await queue.removeOwner(lane.name, owner);
}
