import type {
  ChallengeEvent,
  StoredChallenge,
  StoredEvaluation,
} from '#contract/registry/stored-challenge.ts';
import type {
  CatalogRow,
  RegistryEvent,
  StoredModel,
  StoredVersion,
} from '#contract/registry/stored-registry.ts';
import type { OwnedResource, StoredSharing } from '../access/access.ts';
import type { Page } from '../ports.ts';
import type {
  IdempotencyKey,
  IdempotencyRecord,
  TransitionCall,
  TransitionStore,
} from './apply-transition.ts';
import type { ApprovalChange, ApprovalStore } from './approval-store.ts';

/** Items of a model, read together, strongly consistent. */
export interface ModelState {
  /** Undefined: nothing was registered under this name. */
  readonly model: StoredModel | undefined;
  /** The requested versions that exist, by number. */
  readonly versions: ReadonlyMap<string, StoredVersion>;
  /** Stored under the requested key; it may have expired. */
  readonly idempotencyRecord: IdempotencyRecord | undefined;
}

/**
 * A change of one version: to the state in `after`, if its stage, tags and the status of its validation still are those
 * of `before` (null: if it does not exist yet).
 */
export interface VersionChange {
  readonly before: StoredVersion | null;
  readonly after: StoredVersion;
}

/** The version that leaves Production. Only its stage changes, so it need not be read first. */
export interface ArchivedProduction {
  readonly version: string;
  readonly at: string;
  /** The rollback that removed the version, with its reason; null for a promotion. */
  readonly rolledBack: { readonly reason: string | null } | null;
}

/** A challenge before (null: a new one) and after a change, with the new events and the new evaluation. */
export interface ChallengeChange {
  readonly before: StoredChallenge | null;
  readonly after: StoredChallenge;
  readonly events: readonly ChallengeEvent[];
  /** Absent when none is due. */
  readonly evaluation?: StoredEvaluation;
}

/** A change of Production, with the attributes that decide the state of the model's challenges. */
export interface NewProduction {
  readonly model: string;
  /** The version that enters Production; null when a stop leaves it empty. */
  readonly version: string | null;
  readonly call: TransitionCall;
  /** ISO 8601. */
  readonly at: string;
}

/** Changes of the model's challenges, for the transaction that changes Production. */
export type EndChallenges = (production: NewProduction) => Promise<readonly ChallengeChange[]>;

/** All changes of one stage transition, stored in one transaction. */
export interface StageTransition {
  /** The model after the transition. It is stored only while `events` is as in `before` (null: no model yet). */
  readonly model: { readonly before: StoredModel | null; readonly after: StoredModel };
  readonly versions: readonly VersionChange[];
  readonly archived: ArchivedProduction | null;
  readonly event: RegistryEvent;
  /** Challenges of the model that the transition ends. */
  readonly challenges: readonly ChallengeChange[];
  /** Requests for approval that the transition ends. */
  readonly approvals: readonly ApprovalChange[];
}

/** Version that a rollback or a stop took out of Production. */
export type EndedVersion = Pick<
  StoredVersion,
  'version' | 'backtest_run_id' | 'rolled_back' | 'rolled_back_reason' | 'stopped' | 'stopped_reason'
>;

export interface CatalogFilter {
  readonly stage?: CatalogRow['stage'];
}

export interface CatalogSort {
  /** `drawdown` orders by magnitude. */
  readonly field: 'name' | 'sharpe' | 'drawdown';
  readonly order: 'asc' | 'desc';
}

/** Position of a row in one order of the catalog: sort key of the index, model and version. */
export type CatalogPosition = readonly [sortKey: string, model: string, version: string];

export interface CatalogEntry {
  readonly row: CatalogRow;
  readonly position: CatalogPosition;
}

/** Owners and grants of the models, and the shared models by principal. */
export interface ModelSharing extends StoredSharing {
  /** Owners and grants of the existing models, by name. Strongly consistent. */
  findMany(models: readonly string[]): Promise<ReadonlyMap<string, OwnedResource>>;
  /** Names of the models that are shared with any of the principals. Strongly consistent. */
  sharedWith(principals: readonly string[]): Promise<ReadonlySet<string>>;
  /** Gives the catalog's rows of transferred models their owner, where the process of a transfer ended before. Idempotent. */
  finishTransfers(): Promise<void>;
}

export interface RegistryStore extends TransitionStore<StageTransition> {
  readonly sharing: ModelSharing;
  readonly approvals: ApprovalStore;
  /** The model, the versions named and what is stored under a key, in one strongly consistent read. */
  read(model: string, versions: readonly string[], key?: IdempotencyKey | null): Promise<ModelState>;
  /** All versions, newest number first. */
  versions(model: string): Promise<readonly StoredVersion[]>;
  /** True when a version of the model is of that backtest. Reads the model's versions up to it, newest first. */
  hasRun(model: string, jobId: string): Promise<boolean>;
  /** The versions below a number (null: all), newest number first, read `size` at a time. */
  versionsBelow(model: string, version: string | null, size: number): AsyncIterable<StoredVersion>;
  /** Versions that are marked as rolled back or stopped, newest number first. */
  endedVersions(model: string): Promise<readonly EndedVersion[]>;
  /** Those of the models that may have some, by model: one read for all models, and one more for each of these. */
  endedVersionsOf(models: readonly string[]): Promise<ReadonlyMap<string, readonly EndedVersion[]>>;
  /** Newest first. Throws VAL006 for a broken cursor. */
  history(model: string, limit: number, cursor: string | null): Promise<Page<RegistryEvent>>;
  /** The last event at or before a time (ISO 8601, milliseconds). */
  eventAt(model: string, at: string): Promise<RegistryEvent | undefined>;
  /** Events that changed the version in Production, newest first, of those at or before a time (ISO 8601; null: all). */
  productionChanges(model: string, until: string | null): AsyncIterable<RegistryEvent>;
  /**
   * Rows of the catalog in that order, from an index, after a position of the same order (null: from its start). It reads
   * ahead by little more than a page, so that a caller that stops early reads little in excess.
   */
  catalog(
    filter: CatalogFilter,
    sort: CatalogSort,
    after: CatalogPosition | null,
  ): AsyncIterable<CatalogEntry>;
  /** Rows that {@link catalog} has for the filter, from counters that each transition updates: no row is read for it. */
  catalogCount(filter: CatalogFilter): Promise<number>;
}
