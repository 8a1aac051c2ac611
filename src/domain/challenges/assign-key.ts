import type { Assignment, Route } from '#contract/registry/challenge-api.ts';
import type { StoredAssignment, StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { MAX_ASSIGNMENT_KEY_LENGTH } from '#contract/values/registry-limits.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { applyCanaryRules, applyDeadlines } from './apply-deadlines.ts';
import { nonEmpty } from './apply-trade.ts';
import {
  assign,
  begin,
  changed,
  isAwaitingPromotion,
  trafficSplit,
  versionOf,
  withAssignment,
} from './challenge-state.ts';
import { type ChallengeDeps, writeChallenge } from './write-challenge.ts';

/**
 * Assigns a key to a variant and counts it. An assigned key keeps its variant regardless of the current traffic split.
 * New keys are not counted after the verdict. After the end they belong to the variant with all traffic.
 * Throws VAL005, CHL001, SVC005.
 */
export async function assignKey(
  deps: ChallengeDeps,
  input: { readonly challengeId: string; readonly assignmentKey: string },
): Promise<Assignment> {
  const key = nonEmpty(input.assignmentKey, 'assignment_key', MAX_ASSIGNMENT_KEY_LENGTH);
  return writeChallenge(deps, input.challengeId, { assignmentKeys: [key] }, async (found) => {
    const { progress, at, now } = found;
    const known = found.assignments.get(key);
    const given = known ?? decisionOn(deps, progress.challenge, key, at);
    const body = {
      challenge_id: input.challengeId,
      ...assignmentOf(progress.challenge, given),
      repeated: known !== undefined,
    };
    const { challenge } = progress;
    if (known || (challenge.status !== 'active' && !isAwaitingPromotion(challenge))) {
      return { response: () => body, progress };
    }
    // While a winner awaits its promotion, the traffic split and the version of each key stay unchanged.
    const counted = isAwaitingPromotion(challenge)
      ? changed(progress, { last_traffic_at: at })
      : applyCanaryRules(withAssignment(progress, given), now);
    return {
      response: () => body,
      progress: counted,
      more: { assignments: [{ before: null, after: given }] },
    };
  });
}

/**
 * The version that trades for a key, by the first rule that applies:
 * 1. The version assigned to the key in the model's last challenge, also after its end.
 * 2. The version that the challenge would assign, while it is active or awaits its promotion.
 * 3. The version in Production.
 *
 * Throws RES002, SVC005.
 */
export async function routeKey(
  deps: ChallengeDeps & { readonly registry: RegistryStore },
  { model: name, key }: { readonly model: string; readonly key: string },
): Promise<Route> {
  const { challenges, registry, clock } = deps;
  const [{ model }, latest] = await Promise.all([registry.read(name, []), challenges.latest(name)]);
  if (!model) throw unknownModel(name);
  const challenge = latest && applyDeadlines(begin(latest), clock.now()).challenge;
  const state = challenge && (await challenges.find(challenge.challenge_id, { assignmentKeys: [key] }));
  const known = state?.assignments.get(key);
  if (!challenge || (!known && challenge.status !== 'active' && !isAwaitingPromotion(challenge))) {
    const nothing = {
      challenge_id: null,
      variant: null,
      canary_stage: null,
      bucket: null,
      traffic_split: null,
      should_close: false,
    };
    return { model_name: name, key, version: model.production_version, ...nothing };
  }
  const { challenge_id } = challenge;
  const given = known ?? decisionOn(deps, challenge, key, challenge.updated_at);
  const { assignment_key: _, ...decision } = assignmentOf(challenge, given);
  return { model_name: name, key, challenge_id, ...decision };
}

/** Assignment of a new key by the current traffic split. After the end one variant has all traffic. */
function decisionOn(
  deps: ChallengeDeps,
  challenge: StoredChallenge,
  key: string,
  at: string,
): StoredAssignment {
  const given = assign(challenge, key, deps.digest, { at });
  const [champion] = trafficSplit(challenge);
  if (champion === 1) return { ...given, variant: 'champion' };
  return champion === 0 ? { ...given, variant: 'challenger' } : given;
}

/** True when the challenger was rolled back, or won without being promoted. */
function wasRolledBack({ status, outcome }: StoredChallenge): boolean {
  return status === 'rolled_back' || outcome === 'champion_kept';
}

function assignmentOf(challenge: StoredChallenge, given: StoredAssignment) {
  const { assignment_key, variant, canary_stage, bucket } = given;
  return {
    assignment_key,
    variant,
    version: versionOf(challenge, variant),
    canary_stage,
    bucket,
    traffic_split: trafficSplit(challenge),
    should_close: variant === 'challenger' && challenge.on_rollback === 'close' && wasRolledBack(challenge),
  };
}
