import { CodedError, ERRORS } from '#contract/errors.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import { existing, lookUpVersion } from '../registry/find-version.ts';
import type { RegistryCall } from '../registry/make-move.ts';
import { type PromoteVersionDeps, planPromotion } from '../registry/promote-version.ts';
import { changeOf, isAwaiting, type Progress, told } from './challenge-state.ts';
import type { ChallengeChange, ChallengeWrite } from './challenge-store.ts';
import { withoutPromotion } from './complete-challenge.ts';
import { challengesEndedBy } from './end-challenge.ts';

/** A challenge as it was read, and as a write makes it. */
interface Written {
  readonly challenge: StoredChallenge;
  readonly progress: Progress;
  /** ISO 8601. */
  readonly at: string;
}

type Promoted = Pick<ChallengeWrite, 'before' | 'after' | 'events' | 'promotion'>;

/**
 * What is to be stored of a challenge; null when nothing has changed. One that was won and promotes by itself is promoted
 * in the same transaction, by every rule of the registry. What the registry refuses is left to a person, and told; when it
 * cannot answer now, the next write tries again.
 */
export async function withPromotion(deps: PromoteVersionDeps, written: Written): Promise<Promoted | null> {
  const { challenge: before, progress, at } = written;
  const { auto_promote, promotion_refused } = progress.challenge;
  const unpromoted = changeOf(before, progress, at);
  if (!auto_promote || promotion_refused || !isAwaiting(progress.challenge)) return unpromoted;
  try {
    return await promoted(deps, written);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    if (ERRORS[error.code].status >= 500) return unpromoted;
    const { code, message } = error;
    return changeOf(before, withoutPromotion(progress, { at, code, message }), at);
  }
}

async function promoted(deps: PromoteVersionDeps, { challenge: before, progress, at }: Written) {
  const { model_name: model, challenger_version: version, champion_version } = before;
  const { challenge_id: challengeId, created_by } = before;
  // Four eyes are judged for who asked for it by creating the challenge.
  const call: RegistryCall = {
    actor: { id: created_by, groups: [], isAdmin: false },
    ...{ idempotencyKey: null, correlationId: challengeId },
  };
  const reference = { model, version, field: 'challenger_version' };
  const found = existing(reference, await lookUpVersion(deps.registry, reference, null));
  let ours: ChallengeChange | undefined;
  const { move: promotion } = await planPromotion(deps, found, {
    ...{ call, expected_production: champion_version, challengeId, waiver: null },
    comment: `Challenge ${challengeId} was won: promoted automatically`,
    challenges: async (moment) => {
      const promotedAt = moment > at ? moment : at;
      const event = { action: 'promote', at: promotedAt, actor: created_by, reason: 'auto_promote' } as const;
      ours = changeOf(before, told(progress, { promoted_at: promotedAt }, event), promotedAt)!;
      const production = { call, at: promotedAt, version };
      const all = await challengesEndedBy(deps.challenges, found.model, production);
      return [ours, ...all.filter(({ after }) => after.challenge_id !== challengeId)];
    },
  });
  return { ...ours!, promotion };
}
