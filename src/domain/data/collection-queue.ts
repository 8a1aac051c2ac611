import type {
  CollectionQueue,
  CollectionStatus,
  StoredCollection,
} from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import { COLLECTION_LIMITS } from '#contract/values/market-data-limits.ts';
import type { Page } from '../ports.ts';

/** Collections and their queue. Every write is conditional, so that any number of processes may share them. */
export interface CollectionStore {
  /** Stores a new collection. Returns the stored one when the id exists already. */
  create(collection: StoredCollection): Promise<StoredCollection>;
  get(id: string): Promise<StoredCollection | undefined>;
  /**
   * Newest first; with a status, a page may be short or empty before the end. Throws VAL006 for a cursor that is broken or
   * was made with another status.
   */
  list(
    status: CollectionStatus | undefined,
    limit: number,
    cursor: string | null,
  ): Promise<Page<StoredCollection>>;
  /** Stores the collection with the next revision and returns it; undefined when another writer came first. */
  update(collection: StoredCollection): Promise<StoredCollection | undefined>;
  /** Replaces the queue by the result of `change`, if that differs. Rethrows errors of `change`. */
  changeQueue(change: (queue: CollectionQueue) => CollectionQueue): Promise<CollectionQueue>;
}

/** True until the collection has ended. */
export function isUnfinished({ status }: Pick<StoredCollection, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

const { unfinished: MAX_UNFINISHED } = COLLECTION_LIMITS;
/** Lease duration, ms. A process renews three times per lease, so two renewals may fail. */
const LEASE_MS = 60_000;
export const RENEW_MS = LEASE_MS / 3;

/** The queue with the collection appended unless it is queued already. Throws HTTP429 when too many are unfinished. */
export function enqueue(queue: CollectionQueue, id: string): CollectionQueue {
  if (queue.ids.includes(id)) return queue;
  checkRoom(queue);
  return { ...queue, ids: [...queue.ids, id] };
}

/** The unchanged queue. Throws HTTP429 when too many are unfinished. */
export function checkRoom(queue: CollectionQueue): CollectionQueue {
  if (queue.ids.length < MAX_UNFINISHED) return queue;
  throw new CodedError('HTTP429', {
    message: `${MAX_UNFINISHED} collections are waiting or running: retry when one has ended`,
    context: { unfinished: queue.ids.length, max: MAX_UNFINISHED },
  });
}

/** Leases a non-empty queue to `owner` if the lease is free, expired or its own; `force` ignores another owner's lease. */
export function lease(
  queue: CollectionQueue,
  owner: string,
  { now, force }: { readonly now: number; readonly force: boolean },
): CollectionQueue {
  const free =
    queue.lease_owner === null || queue.lease_owner === owner || queue.lease_expires_at <= now || force;
  return free && queue.ids.length > 0
    ? { ...queue, lease_owner: owner, lease_expires_at: now + LEASE_MS }
    : queue;
}

export function without(queue: CollectionQueue, id: string): CollectionQueue {
  return queue.ids.includes(id) ? { ...queue, ids: queue.ids.filter((each) => each !== id) } : queue;
}

export function release(queue: CollectionQueue, owner: string): CollectionQueue {
  return queue.lease_owner === owner ? { ...queue, lease_owner: null, lease_expires_at: 0 } : queue;
}
