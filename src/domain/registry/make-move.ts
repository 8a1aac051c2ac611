import { CodedError } from '#contract/errors.ts';
import type { StoredModel } from '#contract/stored-registry.ts';
import { canonicalJson } from '#engine/digest.ts';
import type { Random } from '#engine/random.ts';
import type { Caller } from '../access.ts';
import { checkIdempotencyKey, keyUsedAgain } from '../id-suffix.ts';
import type { Clock, Digest, Ids } from '../ports.ts';
import type { IdempotentReply, RegistryMove, RegistryStore, ReplyKey } from './registry-store.ts';

/** Who calls, and how the call is told from others. */
export interface RegistryCall {
  readonly actor: Caller;
  readonly idempotencyKey: string | null;
  readonly correlationId: string;
}

export interface MoveDeps {
  readonly registry: RegistryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly chance: Random;
  readonly sleep: (ms: number) => Promise<unknown>;
}

export interface MoveRequest {
  /** Id of the operation. */
  readonly operation: string;
  readonly call: RegistryCall;
  /** All that the caller sent beside the key: another content under the same key is a conflict. */
  readonly input: unknown;
}

/** What a call comes to in the state that was found: a reply, and the move that makes it true (null: it is true already). */
export interface Decision<T, M = Omit<RegistryMove, 'reply'>> {
  readonly body: T;
  readonly move: M | null;
}

/** Where moves of one kind are stored, with the replies of their calls. */
interface MoveStore<M> {
  /** `lost`: something that the move rests on has changed; nothing was stored. */
  commit(move: M & { readonly reply: IdempotentReply | null }): Promise<'done' | 'lost'>;
  keep(reply: IdempotentReply): Promise<'done' | 'lost'>;
}

export interface MoveReply<T> {
  readonly body: T;
  /** It was stored under the caller's Idempotency-Key. */
  readonly replayed: boolean;
}

interface State {
  readonly model: StoredModel | undefined;
  readonly reply: IdempotentReply | undefined;
}

/** Each lost attempt is one that another call won: up to 21 concurrent calls on one model all succeed. */
const MAX_RETRIES = 20;
/** Pause before the first retry. It doubles up to 0.64 s: 10 s in all at most. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 640;
const KEY_LIFETIME_S = 24 * 3600;

/**
 * Reads the state, decides and stores the move with its reply in one transaction. When the state has changed in between,
 * all is done again: `decide` sees the new state and may refuse.
 * Throws RES005 when the state still changes during the 20th retry, or when the Idempotency-Key came with another content, VAL005 for
 * a malformed key, SVC005, and what `read` and `decide` throw.
 */
export function makeMove<S extends State, T>(
  deps: MoveDeps,
  request: MoveRequest,
  read: (key: ReplyKey | null) => Promise<S>,
  decide: (state: S) => Promise<Decision<T>>,
): Promise<MoveReply<T>> {
  return makeMoveIn<S, T, Omit<RegistryMove, 'reply'>>(deps.registry, deps, request, read, decide);
}

/** As {@link makeMove}, of moves that are stored elsewhere. */
export async function makeMoveIn<S extends State, T, M>(
  moves: MoveStore<M>,
  deps: MoveDeps,
  request: MoveRequest,
  read: (key: ReplyKey | null) => Promise<S>,
  decide: (state: S) => Promise<Decision<T, M>>,
): Promise<MoveReply<T>> {
  const key = replyKeyOf(request.call);
  for (let attempt = 0; ; attempt++) {
    const state = await read(key);
    const stored = storedReply<T>(deps, request, state.reply);
    if (stored) return { body: stored.body, replayed: true };
    const { body, move } = await decide(state);
    const reply = key && newReply(deps, request, key, body);
    if ((await store(moves, move, reply)) === 'done') return { body, replayed: false };
    if (attempt === MAX_RETRIES) throw outpaced(state.model);
    await deps.sleep(Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** attempt) * deps.chance());
  }
}

async function store<M>(
  moves: MoveStore<M>,
  move: Decision<unknown, M>['move'],
  reply: IdempotentReply | null,
): Promise<'done' | 'lost'> {
  if (move) return moves.commit({ ...move, reply });
  return reply ? moves.keep(reply) : 'done';
}

function replyKeyOf({ actor, idempotencyKey }: RegistryCall): ReplyKey | null {
  if (idempotencyKey === null) return null;
  return { principal: actor.id, key: checkIdempotencyKey(idempotencyKey) };
}

/** The reply to repeat. Throws RES005 for another request under its key. */
function storedReply<T>(
  deps: MoveDeps,
  request: MoveRequest,
  reply: IdempotentReply | undefined,
): { readonly body: T } | undefined {
  if (!reply || reply.expires_at <= seconds(deps.clock)) return undefined;
  if (reply.request_digest === requestDigest(deps, request)) return { body: reply.body as T };
  throw keyUsedAgain();
}

function newReply(deps: MoveDeps, request: MoveRequest, key: ReplyKey, body: unknown): IdempotentReply {
  const now = seconds(deps.clock);
  return {
    ...key,
    request_digest: requestDigest(deps, request),
    body,
    stored_at: now,
    expires_at: now + KEY_LIFETIME_S,
  };
}

function requestDigest(deps: MoveDeps, { operation, input }: MoveRequest): string {
  return deps.digest(canonicalJson([operation, input]));
}

function outpaced(model: StoredModel | undefined): CodedError {
  return new CodedError('RES005', {
    message: 'Other calls keep changing this model: read it again and repeat the call',
    field: model ? 'version' : '',
    context: { current_production: model?.production_version ?? null },
  });
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
