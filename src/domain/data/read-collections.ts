import type { Collection } from '#contract/market-data/market-data.ts';
import type { CollectionStatus, StoredCollection } from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Page } from '../ports.ts';
import type { CollectionStore } from './collection-queue.ts';

interface ReadDeps {
  readonly collections: Pick<CollectionStore, 'get' | 'list'>;
}

/** Throws COL001 for an unknown id, DATA005. */
export async function getCollection(deps: ReadDeps, id: string): Promise<Collection> {
  const stored = await deps.collections.get(id);
  if (!stored) throw unknownCollection(id);
  return collectionView(stored);
}

/** Newest first. Throws VAL006 for an invalid cursor, DATA005. */
export async function listCollections(
  deps: ReadDeps,
  query: {
    readonly status?: CollectionStatus | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<Page<Collection>> {
  const page = await deps.collections.list(query.status, query.limit, query.cursor ?? null);
  return { items: page.items.map(collectionView), next: page.next };
}

export function collectionView(stored: StoredCollection): Collection {
  const { schema_version: _, revision: _r, request_digest: _d, attempts: _s, ...collection } = stored;
  return collection;
}

export function unknownCollection(id: string): CodedError {
  return new CodedError('COL001', { field: 'collection_id', context: { collection_id: id } });
}
