import type { Assignment, Route } from '#contract/registry/challenge-api.ts';
import {
  type StoredAssignment,
  type StoredChallenge,
  VARIANTS,
} from '#contract/registry/stored-challenge.ts';
import { MAX_ASSIGNMENT_KEY_LENGTH } from '#contract/values/registry-limits.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { applyCanaryRules, applyDeadlines } from './apply-deadlines.ts';
import { nonEmpty } from './apply-trade.ts';
import {
  assign,
  begin,
  CHAMPION_NOT_IN_PRODUCTION,
  changed,
  isAwaitingPromotion,
  trafficSplit,
  versionOf,
  withAssignment,
} from './challenge-state.ts';
import { type ChallengeDeps, writeChallenge } from './write-challenge.ts';

type RoutingDeps = ChallengeDeps & { readonly registry: RegistryStore };

/**
 * Assigns a key to a variant and counts it. An assigned key keeps its variant regardless of the current traffic split.
 * New keys are not counted after the verdict. After the end they get the version that {@link routeKey} names. While a stop leaves
 * Production empty, no key is assigned and all close.
 * Throws VAL005, CHL001, SVC005.
 */
export async function assignKey(
  deps: RoutingDeps,
  input: { readonly challengeId: string; readonly assignmentKey: string },
): Promise<Assignment> {
  const key = nonEmpty(input.assignmentKey, 'assignment_key', MAX_ASSIGNMENT_KEY_LENGTH);
  return writeChallenge(deps, input.challengeId, { assignmentKeys: [key] }, async (found) => {
    const { progress, at, now } = found;
    const { challenge } = progress;
    const known = found.assignments.get(key);
    const given = known ?? assign(challenge, key, deps.digest, { at });
    const isKnown = known !== undefined;
    const stopped = await isStopped(deps, challenge);
    const decision = stopped
      ? { ...assignmentOf(challenge, given), variant: known?.variant ?? null, ...STOPPED }
      : isRouting(challenge)
        ? routedBy(challenge, given)
        : await assignedAfterEnd(deps, challenge, given, isKnown);
    const { challenge_id } = challenge;
    const body = { challenge_id, assignment_key: key, ...decision, repeated: isKnown };
    if (isKnown || stopped || !isRouting(challenge)) return { response: () => body, progress };
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
 * 1. None, while a stop leaves Production empty: all positions close.
 * 2. The version assigned to the key in the model's last challenge, also after its end.
 * 3. The version that the challenge would assign, while it is active or awaits its promotion.
 * 4. The version in Production.
 *
 * Throws RES002, SVC005.
 */
export async function routeKey(
  deps: RoutingDeps,
  { model: name, key }: { readonly model: string; readonly key: string },
): Promise<Route> {
  const [{ model }, challenge] = await Promise.all([deps.registry.read(name, []), lastChallenge(deps, name)]);
  if (!model) throw unknownModel(name);
  if (model.stopped_version !== null) return { model_name: name, key, ...UNASSIGNED, ...STOPPED };
  const state = challenge && (await deps.challenges.find(challenge.challenge_id, { assignmentKeys: [key] }));
  const known = state?.assignments.get(key);
  if (!challenge || (!known && !isRouting(challenge))) {
    const { production_version: version } = model;
    return { model_name: name, key, version, entry_version: version, ...UNASSIGNED, should_close: false };
  }
  const { challenge_id, updated_at: at } = challenge;
  const decision = isRouting(challenge)
    ? routedBy(challenge, known ?? assign(challenge, key, deps.digest, { at }))
    : await finishing(deps, challenge, known!);
  return { model_name: name, key, challenge_id, ...decision };
}

/** Fields of a route that no challenge decides. */
const UNASSIGNED = {
  challenge_id: null,
  variant: null,
  canary_stage: null,
  bucket: null,
  traffic_split: null,
};
/** Decision on every key while a stop leaves Production empty. */
const STOPPED = { version: null, entry_version: null, should_close: true };

/**
 * True while a stop leaves Production empty. A stop ends an active challenge, and so does the next version in Production: only a
 * challenge that was created without its champion there can be active meanwhile, so the others need no read.
 */
async function isStopped(deps: RoutingDeps, { status, warnings, model_name }: StoredChallenge) {
  const wasInProduction = !warnings.some((warning) => warning.startsWith(CHAMPION_NOT_IN_PRODUCTION));
  if (status === 'active' && wasInProduction) return false;
  const { model } = await deps.registry.read(model_name, []);
  return model !== undefined && model.stopped_version !== null;
}

/** The newest challenge of a model with due deadlines applied. */
async function lastChallenge({ challenges, clock }: RoutingDeps, model: string) {
  const latest = await challenges.latest(model);
  if (!latest) return undefined;
  return applyDeadlines(begin(latest), Math.max(clock.now(), Date.parse(latest.updated_at))).challenge;
}

/** True while new keys get one of the challenge's variants. */
function isRouting(challenge: StoredChallenge): boolean {
  return challenge.status === 'active' || isAwaitingPromotion(challenge);
}

/** True when the challenger was rolled back, or won without being promoted. */
function wasRolledBack({ status, outcome }: StoredChallenge): boolean {
  return status === 'rolled_back' || outcome === 'champion_kept';
}

/** Decision while the challenge routes: its version also gets the new positions of the key. */
function routedBy(challenge: StoredChallenge, given: StoredAssignment) {
  const version = versionOf(challenge, given.variant);
  return { ...assignmentOf(challenge, given), version, entry_version: version, should_close: false };
}

/**
 * Decision on an assigned key after the end. Its positions keep their version, and close when that was rolled back or stopped since: in
 * the registry, or rolled back with `on_rollback: close` by its challenge or by the model's last one. Those of the version in
 * Production stay, because it also gets the new ones.
 */
async function finishing(
  deps: RoutingDeps,
  challenge: StoredChallenge,
  given: StoredAssignment,
  last = challenge,
) {
  const version = versionOf(challenge, given.variant);
  const { model, versions } = await deps.registry.read(challenge.model_name, [version]);
  const isClosed = [challenge, last].some(
    (each) => each.challenger_version === version && each.on_rollback === 'close' && wasRolledBack(each),
  );
  const { rolled_back = false, stopped = false } = versions.get(version) ?? {};
  return {
    ...assignmentOf(challenge, given),
    version,
    entry_version: model?.production_version ?? null,
    should_close: model?.production_version !== version && (isClosed || rolled_back || stopped),
  };
}

/** Decision of an ended challenge, which need not be the last of its model. */
async function assignedAfterEnd(
  deps: RoutingDeps,
  challenge: StoredChallenge,
  given: StoredAssignment,
  isKnown: boolean,
) {
  const { model_name: model } = challenge;
  const { version, entry_version, should_close } = await routeKey(deps, { model, key: given.assignment_key });
  if (!isKnown) {
    const variant = VARIANTS.find((each) => versionOf(challenge, each) === version) ?? null;
    return { ...assignmentOf(challenge, given), variant, version, entry_version, should_close };
  }
  const last = await lastChallenge(deps, model);
  return { ...(await finishing(deps, challenge, given, last)), entry_version };
}

function assignmentOf(challenge: StoredChallenge, given: StoredAssignment) {
  const { variant, canary_stage, bucket } = given;
  return { variant, canary_stage, bucket, traffic_split: trafficSplit(challenge) };
}
