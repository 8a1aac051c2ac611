import type {
  ChallengeEvent,
  StoredAssignment,
  StoredChallenge,
  StoredEvaluation,
  StoredTrade,
  TradeResult,
} from '#contract/registry/stored-challenge.ts';
import type { Page } from '../ports.ts';
import type { IdempotencyKey, IdempotencyRecord, TransitionStore } from '../transitions/apply-transition.ts';
import type { ChallengeChange, StageTransition } from '../transitions/registry-store.ts';

/** Items that a write of a challenge may need. */
export interface ChallengeState {
  readonly challenge: StoredChallenge | undefined;
  /** Existing trades of those requested, by `trade_id`. */
  readonly trades: ReadonlyMap<string, StoredTrade>;
  /** Assignments of the requested keys and of the keys of the trades found. */
  readonly assignments: ReadonlyMap<string, StoredAssignment>;
  /** Stored under the requested key; it may have expired. */
  readonly idempotencyRecord: IdempotencyRecord | undefined;
}

export interface ChallengeQuestion {
  readonly trades?: readonly string[];
  readonly assignmentKeys?: readonly string[];
  readonly idempotencyKey?: IdempotencyKey | null;
}

/** All changes of one call, stored in one transaction. It is conditional on an unchanged challenge. */
export interface ChallengeWrite extends ChallengeChange {
  readonly trades?: readonly { readonly before: StoredTrade | null; readonly after: StoredTrade }[];
  readonly assignments?: readonly {
    readonly before: StoredAssignment | null;
    readonly after: StoredAssignment;
  }[];
  /** `revision` of the model that a new challenge requires unchanged. */
  readonly modelRevision?: number;
  /** The stage transition that promotes the winner. Its challenge changes include this one. */
  readonly promotion?: StageTransition;
}

/** Receives each change once, after it was stored. It does not throw. */
export type ChallengeListener = (changes: readonly ChallengeChange[]) => Promise<void>;

/** Maximum trades per transaction. DynamoDB limits the actions of a transaction, and a write also has other actions. */
export const TRADES_AT_ONCE = 25;

/** Row of the list of all challenges. */
export interface ChallengeRow extends ChallengePosition {
  /** As stored: deadlines may be due. */
  readonly status: StoredChallenge['status'];
}

export interface ChallengePosition {
  readonly challenge_id: string;
  readonly created_at: string;
}

export interface ChallengeListing {
  readonly limit: number;
  readonly cursor: string | null;
  /** Filter. Absent: all challenges. */
  readonly passes?: ((challenge: StoredChallenge) => boolean) | undefined;
}

export interface ChallengeStore extends TransitionStore<ChallengeWrite> {
  /** Strongly consistent. */
  read(id: string): Promise<StoredChallenge | undefined>;
  /** The challenge with some of its trades and assignments, strongly consistent. */
  find(id: string, question: ChallengeQuestion): Promise<ChallengeState>;
  /** Challenges stored as active, by model; deadlines may be due. Strongly consistent. */
  activeOf(models: readonly string[]): Promise<ReadonlyMap<string, StoredChallenge>>;
  /** The newest challenge of a model; only this one can be active. Strongly consistent. */
  latest(model: string): Promise<StoredChallenge | undefined>;
  /**
   * Challenges that pass the filter, newest first. A page reads up to 1,000 challenges, so it may be short
   * while more follow. Throws VAL006 for a broken cursor.
   */
  list(model: string, listing: ChallengeListing): Promise<Page<StoredChallenge>>;
  /** Rows of all challenges of all models after a position (null: the newest), newest first. Eventually consistent. */
  rows(after: ChallengePosition | null): AsyncIterable<ChallengeRow>;
  /** The existing ones of these challenges, in this order. Strongly consistent. */
  readMany(ids: readonly string[]): Promise<readonly StoredChallenge[]>;
  /** Last logged first. Throws VAL006 for a broken cursor. */
  trades(id: string, limit: number, cursor: string | null): Promise<Page<StoredTrade>>;
  /** Newest first. Throws VAL006 for a broken cursor. */
  events(id: string, limit: number, cursor: string | null): Promise<Page<ChallengeEvent>>;
  /** Oldest first. Throws VAL006 for a broken cursor. */
  evaluations(id: string, limit: number, cursor: string | null): Promise<Page<StoredEvaluation>>;
  /** The trades logged last, at most `limit`. */
  lastTrades(id: string, limit: number): Promise<readonly TradeResult[]>;
  /** Ids of all challenges that can still have a deadline. */
  unfinished(): AsyncIterable<string>;
  /**
   * Runs the calls of this host for one challenge in sequence: concurrent writes would conflict.
   */
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
}
