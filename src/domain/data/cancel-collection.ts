import type { Collection } from '#contract/market-data/market-data.ts';
import type { StoredCollection } from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Clock, Log } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { type CollectionStore, isUnfinished, without } from './collection-queue.ts';
import { collectionView, unknownCollection } from './read-collections.ts';

/** An attempt fails when the worker has written progress in the meantime, once per second. */
const ATTEMPTS = 10;

/**
 * Cancels a pending or running collection; stored candles stay. The conditional write comes first. Its worker then can
 * write no more, and removes the collection from the queue if this process dies before it does.
 * Throws COL001, RES005 (it has ended), DATA005.
 */
export async function cancelCollection(
  deps: { readonly collections: CollectionStore; readonly clock: Clock; readonly log: Log },
  id: string,
): Promise<Collection> {
  const cancelled = await markCancelled(deps, id);
  try {
    await deps.collections.changeQueue((queue) => without(queue, id));
  } catch (error) {
    // The collection is cancelled: the worker skips it and removes it.
    deps.log.error('failed to unqueue collection', { collection_id: id, error });
  }
  return collectionView(cancelled);
}

async function markCancelled(
  { collections, clock }: { readonly collections: CollectionStore; readonly clock: Clock },
  id: string,
): Promise<StoredCollection> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = await collections.get(id);
    if (!stored) throw unknownCollection(id);
    if (!isUnfinished(stored)) {
      throw new CodedError('RES005', {
        message: `The collection is already ${stored.status}`,
        field: 'collection_id',
        context: { collection_id: id, status: stored.status },
      });
    }
    const updated_at = isoTime(clock.now());
    const written = await collections.update({ ...stored, status: 'cancelled', error: null, updated_at });
    if (written) return written;
  }
  throw new CodedError('DATA005', {
    message: `Write conflict: the collection changed during ${ATTEMPTS} attempts. Retry the request.`,
  });
}
