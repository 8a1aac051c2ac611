import type { Challenge } from '#contract/challenge-api.ts';
import type { WaiveRequest } from '#contract/release-policy.ts';
import type { MoveReply, RegistryCall } from '../registry/make-move.ts';
import { type PromoteVersionDeps, promoteVersion } from '../registry/promote-version.ts';
import { conflict, isAwaiting } from './challenge-state.ts';
import type { ControlDeps } from './control-challenge.ts';
import { challengeView, readChallenge } from './read-challenges.ts';

/**
 * Promotes the challenger that won: the registry's own move, with every rule of it, in one transaction with the challenge.
 * The champion must still be in Production and the challenger in Staging.
 * Throws CHL001, RES005 (it was not won, the champion is no longer in Production, the release policy), RES006, AUTH004,
 * VAL004, VAL005, SVC005.
 */
export async function promoteChallenge(
  deps: ControlDeps & PromoteVersionDeps,
  call: RegistryCall,
  input: {
    readonly challengeId: string;
    readonly comment?: string | undefined;
    /** Admins only. */
    readonly waive?: WaiveRequest | undefined;
  },
): Promise<MoveReply<Challenge>> {
  const { challengeId, comment, waive } = input;
  const challenge = await readChallenge(deps, challengeId);
  if (challenge.promoted_at !== null) return { body: challengeView(challenge), replayed: false };
  if (!isAwaiting(challenge)) throw conflict(challenge, 'The challenge does not await a promotion');
  const { model_name, champion_version, challenger_version } = challenge;
  const promotion = promoteVersion(
    deps,
    call,
    {
      ...{ model: model_name, version: challenger_version, comment, waive },
      ...{ expected_production: champion_version, challenge_id: challengeId },
    },
    challengeId,
  );
  const { replayed } = await promotion.catch(async (error: unknown) => {
    // Another call may have promoted it in between.
    if ((await readChallenge(deps, challengeId)).promoted_at === null) throw error;
    return { replayed: false };
  });
  return { body: challengeView(await readChallenge(deps, challengeId)), replayed };
}
