import { QUEUE_LIMITS } from '#contract/jobs/queue.ts';
import { CodedError } from '#contract/values/errors.ts';
import { type DispatchDeps, start, takeSlot } from './dispatch.ts';
import type { Lane, QueueJob, WaitingOwner } from './queue-ports.ts';

/**
 * Stores a new job that waits in a lane. If more slots are free than other jobs wait, it gives the job one at once. The
 * owner is announced before the job is stored: whatever dies in between, the dispatcher looks for the owner's jobs.
 *
 * @param create stores the job and returns it, or the stored job of the same id
 * @throws CodedError HTTP429 when too many jobs wait
 */
export async function enqueue<Job extends QueueJob>(
  deps: DispatchDeps,
  lane: Lane,
  job: Job,
  create: () => Promise<Job>,
): Promise<Job> {
  const owners = await deps.queue.owners(lane.name);
  checkRoom(owners, job.owner);
  await deps.queue.announce(lane.name, job.owner, deps.clock.now());
  const stored = await create();
  if (stored !== job) {
    // The same request had stored it before: it waits, or has left the queue.
    await deps.queue.leave(lane.name, job.owner);
    return stored;
  }
  const others = waitingOf(owners);
  // Slots are not read when they cannot suffice: in a burst each submission would read all of them.
  if (others >= lane.maxRunning) return stored;
  // The job is stored: whatever fails here, the dispatcher starts it later.
  await startNow(deps, lane, job, others).catch((error) =>
    deps.log.error('failed to start execution', { job_id: job.job_id, error }),
  );
  return stored;
}

function waitingOf(owners: readonly WaitingOwner[]): number {
  return owners.reduce((sum, { waiting }) => sum + waiting, 0);
}

function checkRoom(owners: readonly WaitingOwner[], owner: string): void {
  const total = waitingOf(owners);
  const own = owners.find((each) => each.owner === owner)?.waiting ?? 0;
  const { max_pending, max_pending_per_owner, retry_after_s } = QUEUE_LIMITS;
  if (total < max_pending && own < max_pending_per_owner) return;
  const [waiting, max, whose] =
    own >= max_pending_per_owner ? [own, max_pending_per_owner, 'of yours '] : [total, max_pending, ''];
  throw new CodedError('HTTP429', {
    message: `${waiting} jobs ${whose}are waiting; at most ${max} may. Submit again when some of them have started.`,
    retryAfterSeconds: retry_after_s,
    context: { waiting, max },
  });
}

async function startNow(deps: DispatchDeps, lane: Lane, job: QueueJob, others: number): Promise<void> {
  const slot = await takeSlot(deps, lane, { ...job, priority: job.priority ?? 0 }, job.owner, others);
  if (slot) await start(deps, lane, slot);
}
