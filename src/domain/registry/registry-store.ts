import type {
  CatalogRow,
  RegistryEvent,
  Stage,
  StoredModel,
  StoredVersion,
} from '#contract/stored-registry.ts';
import type { Page } from '../ports.ts';

/** What one call of the registry found of a model: read together, strongly consistent. */
export interface ModelState {
  /** Undefined: nothing was registered under this name. */
  readonly model: StoredModel | undefined;
  /** The versions asked for that exist, by number. */
  readonly versions: ReadonlyMap<string, StoredVersion>;
}

/** A reply that is repeated for a repeated Idempotency-Key. */
export interface IdempotentReply {
  readonly principal: string;
  readonly key: string;
  /** Digest of operation, path and body: another one under the same key is a conflict. */
  readonly request_digest: string;
  readonly status: number;
  readonly body: unknown;
  /** Unix seconds after which the key may be used anew. */
  readonly expires_at: number;
}

/** A change of one version: to `after`, if its stage still is `from` (null: if it does not exist yet). */
export interface VersionChange {
  readonly from: Stage | null;
  readonly after: StoredVersion;
}

/** All that one call changes: stored together or not at all. */
export interface RegistryMove {
  /** The model after the move. It is stored only while `rev` and `latest_version` are as in `before` (null: no model yet). */
  readonly model: { readonly before: StoredModel | null; readonly after: StoredModel };
  readonly versions: readonly VersionChange[];
  readonly event: RegistryEvent;
  readonly reply: IdempotentReply | null;
}

export interface CatalogFilter {
  readonly stage?: 'Production' | 'Staging';
}

export interface RegistryStore {
  /** The model and the versions named, in one round of strongly consistent reads. */
  read(model: string, versions: readonly string[]): Promise<ModelState>;
  /** All versions, newest number first. */
  versions(model: string): Promise<readonly StoredVersion[]>;
  /** Newest first. Throws VAL006 for a broken cursor. */
  history(model: string, limit: number, cursor: string | null): Promise<Page<RegistryEvent>>;
  /** One transaction. `lost`: something that the move rests on has changed; nothing was stored. */
  commit(move: RegistryMove): Promise<'done' | 'lost'>;
  /** The reply stored under a key that has not expired. */
  reply(principal: string, key: string): Promise<IdempotentReply | undefined>;
  /** Rows of the catalog by name, sharpe or drawdown, from an index. */
  catalog(
    filter: CatalogFilter,
    sort: { readonly field: 'name' | 'sharpe' | 'drawdown'; readonly order: 'asc' | 'desc' },
  ): AsyncIterable<CatalogRow>;
}
