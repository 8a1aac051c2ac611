import type { Clock } from '../ports.ts';
import type { JobQueue, Lane, QueueJob, Slot, WaitingOwner } from './queue-ports.ts';

/** Owners that are examined: those who were given a slot last. */
const EXAMINED_OWNERS = 10;
/** Slots whose jobs are read: the oldest, which run if any does, and the newest, which started last. */
const EXAMINED_SLOTS = 20;

/**
 * Longest time for which a lane could have started a waiting job and started none, ms. Load that only waits gives 0: all
 * slots are taken and one of their jobs runs. A start that lacked capacity does not count.
 */
export async function idleTime(
  { queue, clock }: { readonly queue: JobQueue; readonly clock: Clock },
  lane: Lane,
  { owners, slots }: { readonly owners: readonly WaitingOwner[]; readonly slots: readonly Slot[] },
): Promise<number> {
  const now = clock.now();
  const waiting = owners.filter((owner) => owner.waiting > 0);
  if (waiting.length === 0) return 0;
  if (slots.length >= lane.maxRunning && (await anyRuns(lane, slots))) return 0;
  let oldest = now;
  let start = await latestStart(lane, slots);
  const examined = waiting.toSorted((a, b) => b.last_turn - a.last_turn).slice(0, EXAMINED_OWNERS);
  for (const { owner, last_turn } of examined) {
    const [first] = await queue.order(lane.name, owner, 1);
    const job = first === undefined ? undefined : await lane.jobs.get(first);
    if (!job) continue;
    const { since, shortage_since } = job.queue;
    oldest = Math.min(oldest, Date.parse(shortage_since ?? since));
    // The owner's latest turn may have been a start that lacked capacity.
    if (shortage_since === undefined) start = Math.max(start, last_turn);
  }
  return Math.max(0, now - Math.max(oldest, start));
}

/** Latest start among the slots that are taken, 0 without one. A job that never ran and lacks capacity was not started. */
async function latestStart(lane: Lane, slots: readonly Slot[]): Promise<number> {
  for (const { job_id, since } of slots.toSorted((a, b) => b.since - a.since).slice(0, EXAMINED_SLOTS)) {
    const job = await lane.jobs.get(job_id);
    if (job?.status === 'running' || (job && !lacksCapacity(job))) return since;
  }
  return 0;
}

async function anyRuns(lane: Lane, slots: readonly Slot[]): Promise<boolean> {
  for (const { job_id } of slots.toSorted((a, b) => a.since - b.since).slice(0, EXAMINED_SLOTS)) {
    if ((await lane.jobs.get(job_id))?.status === 'running') return true;
  }
  return false;
}

function lacksCapacity({ queue, shortage }: QueueJob): boolean {
  return queue.shortage_since !== undefined || shortage !== undefined;
}
