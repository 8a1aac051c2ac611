import type { StoredModel } from '#contract/registry/stored-registry.ts';
import type { Digest } from '#contract/values/digest.ts';
import type { CodedError } from '#contract/values/errors.ts';
import { canonicalJson } from '#engine/digest.ts';
import type { Random } from '#engine/random.ts';
import type { Caller } from '../access/access.ts';
import type { Clock, Ids } from '../ports.ts';
import { checkIdempotencyKey, keyUsedAgain } from '../shared/idempotency-key.ts';
import { retryConflicts } from '../shared/retry-conflicts.ts';

/** The caller of a transition, and what identifies the request. */
export interface TransitionCall {
  readonly actor: Caller;
  readonly idempotencyKey: string | null;
  readonly correlationId: string;
}

export interface TransitionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly random: Random;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/** An Idempotency-Key of one caller. */
export interface IdempotencyKey {
  readonly principal: string;
  readonly key: string;
}

/** Stored response, returned again for the same Idempotency-Key. */
export interface IdempotencyRecord extends IdempotencyKey {
  /** Digest of operation, path and body: a different digest under the same key is a conflict. */
  readonly request_digest: string;
  readonly body: unknown;
  /** Unix seconds. */
  readonly stored_at: number;
  /** Unix seconds from which the key may be used again. */
  readonly expires_at: number;
}

/** Store of one kind of writes, with the idempotency records of their calls. */
export interface TransitionStore<W> {
  /** One transaction. `conflict`: something that the write depends on has changed; nothing was stored. */
  commit(write: W & { readonly idempotencyRecord?: IdempotencyRecord | null }): Promise<'done' | 'conflict'>;
  /** Stores the record of a call that changed nothing. `conflict`: another one is stored under its key. */
  saveIdempotencyRecord(record: IdempotencyRecord): Promise<'done' | 'conflict'>;
}

/** Result of a call in the state that was found: the response, and the write that makes it true (null: it is true already). */
export interface Decision<T, W> {
  readonly body: T;
  readonly write: W | null;
}

interface TransitionState {
  /** Stored under the requested key; it may have expired. */
  readonly idempotencyRecord: IdempotencyRecord | undefined;
  readonly model?: StoredModel | undefined;
}

/** Store of one kind of transitions, its number of attempts and the error of a write conflict. */
export interface TransitionKind<W> {
  readonly store: TransitionStore<W>;
  /** Attempts before {@link writeConflict}. */
  readonly attempts: number;
  /** The error of a write conflict in every attempt. */
  readonly writeConflict: (state: TransitionState) => CodedError;
}

/** A call with an Idempotency-Key, or without one. */
export interface TransitionRequest {
  /** Id of the operation. */
  readonly operation: string;
  readonly call: TransitionCall;
  /** Content of the request without the key. Different content under the same key is a conflict. */
  readonly input: unknown;
}

export interface TransitionResult<T> {
  readonly body: T;
  /** True when the result was stored under the caller's Idempotency-Key. */
  readonly replayed: boolean;
}

/** Before the first retry; it doubles up to 0.64 s. */
const BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 640;
const KEY_LIFETIME_S = 24 * 3600;

/**
 * Reads the state, decides, and stores the write with its event and its idempotency record in one transaction. After a write
 * conflict it starts again: `decide` sees the new state and may reject.
 * Throws RES005 for an Idempotency-Key that came with another content, VAL005 for a malformed key, SVC005, and what `read`,
 * `decide` and `writeConflict` throw.
 *
 * @param request null where repeats are recognized by what is written
 */
export async function applyTransition<S extends TransitionState, T, W>(
  deps: Omit<TransitionDeps, 'ids'>,
  { store, attempts, writeConflict }: TransitionKind<W>,
  request: TransitionRequest | null,
  read: (key: IdempotencyKey | null) => Promise<S>,
  decide: (state: S) => Promise<Decision<T, W>>,
): Promise<TransitionResult<T>> {
  const key = request ? idempotencyKeyOf(request.call) : null;
  const requestDigest = key && deps.digest(canonicalJson([request!.operation, request!.input]));
  const pause = (failed: number) => {
    const backoff = Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** (failed - 1));
    return deps.sleep(backoff * (0.5 + deps.random() / 2));
  };
  return retryConflicts<TransitionResult<T>>({ attempts, pause }, async () => {
    const state = await read(key);
    const stored = state.idempotencyRecord;
    const now = Math.floor(deps.clock.now() / 1000);
    if (stored && stored.expires_at > now) {
      if (stored.request_digest !== requestDigest) throw keyUsedAgain();
      return { result: { body: stored.body as T, replayed: true } };
    }
    const { body, write } = await decide(state);
    const idempotencyRecord = key && {
      ...key,
      request_digest: requestDigest!,
      body,
      stored_at: now,
      expires_at: now + KEY_LIFETIME_S,
    };
    const saved = await save(store, write, idempotencyRecord);
    return saved === 'done' ? { result: { body, replayed: false } } : { conflict: writeConflict(state) };
  });
}

async function save<W>(
  store: TransitionStore<W>,
  write: W | null,
  idempotencyRecord: IdempotencyRecord | null,
): Promise<'done' | 'conflict'> {
  if (write) return store.commit({ ...write, idempotencyRecord });
  return idempotencyRecord ? store.saveIdempotencyRecord(idempotencyRecord) : 'done';
}

function idempotencyKeyOf({ actor, idempotencyKey }: TransitionCall): IdempotencyKey | null {
  if (idempotencyKey === null) return null;
  return { principal: actor.id, key: checkIdempotencyKey(idempotencyKey) };
}
