import { type LaneName, QUEUE_LIMITS, type QueueState } from '#contract/jobs/queue.ts';
import { isWaiting, type JobQueue, type QueueJob, type WaitingOwner } from './queue-ports.ts';

/** Fields of a listed job from which its state in the queue follows. */
export type ListedQueueJob = Pick<QueueJob, 'job_id' | 'owner' | 'status' | 'queue'>;

export interface QueueStateDeps {
  readonly queue: Pick<JobQueue, 'order' | 'owners'>;
}

/**
 * States of jobs in the queue, by id: of pending jobs and of running ones that wait for another run. A position is an estimate: it
 * assumes that owners take turns and that no job arrives or leaves.
 *
 * @param lane lane of jobs that name none
 */
export async function queueStates(
  deps: QueueStateDeps,
  lane: LaneName,
  jobs: readonly ListedQueueJob[],
): Promise<ReadonlyMap<string, QueueState>> {
  const byLane = Map.groupBy(jobs, ({ queue }) => queue.lane ?? lane);
  const states = await Promise.all([...byLane].map(([name, own]) => statesInLane(deps, name, own)));
  return new Map(states.flatMap((each) => [...each]));
}

async function statesInLane(
  { queue }: QueueStateDeps,
  lane: LaneName,
  jobs: readonly ListedQueueJob[],
): Promise<ReadonlyMap<string, QueueState>> {
  const waiting = jobs.filter(isWaiting);
  const listed = jobs.filter((job) => job.status === 'pending' || isWaiting(job));
  const names = [...new Set(waiting.map(({ owner }) => owner))];
  const [owners, ...orders] = await Promise.all([
    names.length > 0 ? queue.owners(lane) : [],
    ...names.map((owner) => queue.order(lane, owner, QUEUE_LIMITS.max_position)),
  ]);
  const ranks = new Map(
    names.map((owner, at) => [owner, new Map(orders[at]!.map((id, rank) => [id, rank]))]),
  );
  return new Map(
    listed.map((job) => [job.job_id, stateOf(job, ranks.get(job.owner)?.get(job.job_id), owners)]),
  );
}

function stateOf(job: ListedQueueJob, rank: number | undefined, owners: readonly WaitingOwner[]): QueueState {
  const { queue } = job;
  if (!isWaiting(job)) return { position: null, waiting_for: 'start', reason: null, next_start: null };
  const waiting_for = queue.reason === undefined ? 'slot' : 'capacity';
  return {
    position: rank === undefined ? '1,000+' : positionOf(rank, job.owner, owners),
    waiting_for,
    reason: queue.reason ?? null,
    next_start: queue.not_before ?? null,
  };
}

/** Every other owner starts as many jobs before this one as the owner itself does. */
function positionOf(rank: number, owner: string, owners: readonly WaitingOwner[]): QueueState['position'] {
  const others = owners.filter((each) => each.owner !== owner);
  const position = others.reduce((sum, { waiting }) => sum + Math.min(Math.max(0, waiting), rank), rank + 1);
  return position > QUEUE_LIMITS.max_position ? '1,000+' : position;
}
