import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { CodedError, ERRORS } from '#contract/values/errors.ts';
import { mayAccess, type OwnedResource } from '../access/access.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownChallenge } from '../shared/unknown-resources.ts';
import { applyTransition, type TransitionCall } from '../transitions/apply-transition.ts';
import { existing, lookUpVersion } from '../transitions/find-version.ts';
import { type PromotionDeps, planPromotion } from '../transitions/plan-promotion.ts';
import type { ChallengeChange, NewProduction } from '../transitions/registry-store.ts';
import { applyDeadlines } from './apply-deadlines.ts';
import { changeOf } from './challenge-change.ts';
import {
  begin,
  isAwaitingPromotion,
  notAwaitingPromotion,
  type Progress,
  withEvent,
} from './challenge-state.ts';
import type { ChallengeQuestion, ChallengeState, ChallengeStore, ChallengeWrite } from './challenge-store.ts';
import { withRejectedPromotion } from './decide-challenge.ts';

/** Dependencies of a write, which may promote a winner. */
export interface ChallengeDeps extends PromotionDeps {
  readonly challenges: ChallengeStore;
}

/** An existing challenge with due deadlines applied, and the requested items. */
export interface FoundChallenge extends ChallengeState {
  readonly challenge: StoredChallenge;
  readonly progress: Progress;
  /** The time of the write, ISO 8601: never before that of the last one. */
  readonly at: string;
  readonly now: number;
}

/** Result of a write: the response, and the progress of the challenge. */
export interface ChallengeDecision<T> {
  /** Result for the caller, from the stored challenge. */
  readonly response: (after: StoredChallenge) => T;
  readonly progress: Progress;
  readonly more?: Pick<ChallengeWrite, 'trades' | 'assignments'>;
}

/** Write conflicts come from other hosts only: writes of one challenge take turns within a host. */
const ATTEMPTS = 9;

/**
 * Loads the challenge, applies due deadlines, runs `decide` and commits in one transaction. Retries on a write conflict.
 * Throws CHL001, SVC005 (a write conflict in each of 9 attempts), and what `decide` throws.
 */
export async function writeChallenge<T>(
  deps: ChallengeDeps,
  id: string,
  question: ChallengeQuestion,
  decide: (found: FoundChallenge) => Promise<ChallengeDecision<T>>,
): Promise<T> {
  const { body } = await deps.challenges.inTurn(id, () =>
    applyTransition(
      deps,
      challengeTransitions(deps.challenges, { id, attempts: ATTEMPTS, code: 'SVC005' }),
      null,
      () => deps.challenges.find(id, question),
      async (state) => {
        const found = foundChallenge(deps, id, state);
        const { response, progress, more } = await decide(found);
        const write = await withPromotion(deps, { ...found, progress });
        return { body: response(write?.after ?? found.challenge), write: write && { ...write, ...more } };
      },
    ),
  );
  return body;
}

/** The part that all transitions of a challenge share. They throw the code after a write conflict in each attempt. */
export function challengeTransitions(
  store: ChallengeStore,
  {
    id,
    attempts,
    code,
  }: { readonly id: string; readonly attempts: number; readonly code: 'SVC005' | 'RES005' },
) {
  const message = `Write conflict: the challenge changed during ${attempts} attempts. Retry the request.`;
  const writeConflict = () =>
    new CodedError(code, { message, field: 'challenge_id', context: { challenge_id: id } });
  return { store, attempts, writeConflict };
}

/** The challenge with due deadlines applied. Throws CHL001 for an unknown one. */
export function foundChallenge(
  { clock }: { readonly clock: Clock },
  id: string,
  state: ChallengeState,
): FoundChallenge {
  const { challenge } = state;
  if (!challenge) throw unknownChallenge(id);
  const now = Math.max(clock.now(), Date.parse(challenge.updated_at));
  return { ...state, challenge, progress: applyDeadlines(begin(challenge), now), at: isoTime(now), now };
}

/** A challenge before and after a write. */
interface Written {
  readonly challenge: StoredChallenge;
  readonly progress: Progress;
  /** ISO 8601. */
  readonly at: string;
}

type Promoted = Pick<ChallengeWrite, keyof ChallengeChange | 'promotion'>;

/**
 * The write of a challenge; null when it is unchanged. A winner with `auto_promote` is promoted in the same transaction, under
 * all rules of the registry. If the registry rejects the promotion, the rejection is stored; the winner then needs manual
 * promotion. When the registry is unavailable, the next write tries again.
 */
async function withPromotion(deps: ChallengeDeps, written: Written): Promise<Promoted | null> {
  const { challenge: before, progress, at } = written;
  const { auto_promote, promotion_rejected } = progress.challenge;
  const unpromoted = changeOf(before, progress, at);
  if (!auto_promote || promotion_rejected || !isAwaitingPromotion(progress.challenge)) return unpromoted;
  try {
    return await promoted(deps, written);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    if (ERRORS[error.code].status >= 500) return unpromoted;
    const { code, message } = error;
    return changeOf(before, withRejectedPromotion(progress, { at, code, message }), at);
  }
}

async function promoted(deps: ChallengeDeps, { challenge: before, progress, at }: Written) {
  const { model_name: model, challenger_version: version, champion_version } = before;
  const { challenge_id: challengeId, created_by } = before;
  // The four-eyes principle applies to the user who created the challenge.
  const call: TransitionCall = {
    actor: { id: created_by, groups: [], isAdmin: false },
    idempotencyKey: null,
    correlationId: challengeId,
  };
  const reference = { model, version, field: 'challenger_version' };
  const found = existing(reference, await lookUpVersion(deps.registry, reference, null));
  checkCreator(before, found.model);
  let ours: ChallengeChange | undefined;
  const { write: promotion } = await planPromotion(deps, found, {
    call,
    expected_production: champion_version,
    challengeId,
    waiver: null,
    comment: `Challenge ${challengeId} was won: promoted automatically`,
    challenges: async (moment) => {
      const promotedAt = moment > at ? moment : at;
      const event = { action: 'promote', at: promotedAt, actor: created_by, reason: 'auto_promote' } as const;
      ours = changeOf(before, withEvent(progress, { promoted_at: promotedAt }, event), promotedAt)!;
      const all = await endChallenges(deps.challenges, { model, version, call, at: promotedAt });
      return [ours, ...all.filter(({ after }) => after.challenge_id !== challengeId)];
    },
  });
  return { ...ours!, promotion };
}

/** Throws AUTH005 when the creator may not change the model any more, in whose name the platform would promote. */
function checkCreator({ created_by: id, creator, model_name }: StoredChallenge, model: OwnedResource): void {
  if (!creator) return;
  const caller = { id, groups: creator.groups, isAdmin: creator.is_admin };
  if (mayAccess(caller, model, 'write')) return;
  throw new CodedError('AUTH005', {
    message: `${id}, who created this challenge, may not change ${model_name} any more: promote it yourself`,
    field: 'challenger_version',
    context: { resource: 'model', id: model_name, required: 'write' },
  });
}

/**
 * Changes of a model's challenges when Production changes, for the same transaction.
 * - An active challenge ends: promoted if the version is its challenger, otherwise rolled back.
 * - A challenge that awaits its promotion is promoted if the version is its challenger. If the version is neither of its two, it
 *   ends as `champion_kept`. A stop leaves it promotable.
 *
 * @param won the challenge that the version won, which must still await its promotion
 * Throws CHL001, RES005 when it does not await it.
 */
export async function endChallenges(
  challenges: Pick<ChallengeStore, 'latest' | 'read'>,
  production: NewProduction,
  won?: string,
): Promise<ChallengeChange[]> {
  const [latest, named] = await Promise.all([
    challenges.latest(production.model),
    won === undefined ? undefined : challenges.read(won),
  ]);
  if (won !== undefined && !named) throw unknownChallenge(won);
  const all = named && named.challenge_id !== latest?.challenge_id ? [latest, named] : [latest];
  return all
    .filter((challenge) => challenge !== undefined)
    .map((challenge) => changeOf(challenge, ended(challenge, production, won), production.at))
    .filter((change) => change !== null);
}

function ended(stored: StoredChallenge, production: NewProduction, won: string | undefined): Progress {
  const progress = applyDeadlines(begin(stored), Date.parse(production.at));
  const { challenge } = progress;
  const { at, version, call } = production;
  const by = { at, actor: call.actor.id, correlationId: call.correlationId };
  const isChallenger = challenge.challenger_version === version;
  if (isAwaitingPromotion(challenge) && isChallenger) {
    return withEvent(progress, { promoted_at: at }, { action: 'promote', ...by });
  }
  if (challenge.challenge_id === won) throw notAwaitingPromotion(challenge);
  // The champion's return keeps the promotion pending, and so does a stop: the promotion then needs no champion.
  if (isAwaitingPromotion(challenge) && version !== null && version !== challenge.champion_version) {
    const reason = 'champion_replaced';
    return withEvent(
      progress,
      { outcome: 'champion_kept', reason },
      { action: 'keep_champion', reason, ...by },
    );
  }
  if (challenge.status !== 'active') return progress;
  const end = { ended_at: at, hold: null };
  if (!isChallenger) {
    const reason = version === null ? 'champion_stopped' : 'champion_replaced';
    const fields = { ...end, status: 'rolled_back', reason } as const;
    return withEvent(progress, fields, { action: 'roll_back', reason, ...by });
  }
  const fields = { ...end, status: 'completed', outcome: 'promoted_manually', promoted_at: at } as const;
  return withEvent(progress, fields, { action: 'promote', reason: 'promoted_manually', ...by });
}
