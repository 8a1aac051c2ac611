import type { Challenge } from '#contract/registry/challenge-api.ts';
import type { WaiveRequest } from '#contract/registry/release-policy.ts';
import { CANARY_STAGE_NAMES, type StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { checkMaxLength, checkOneOf } from '../shared/validate.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import { existing, lookUpVersion } from '../transitions/find-version.ts';
import { planPromotion } from '../transitions/plan-promotion.ts';
import { stageTransitions } from '../transitions/plan-transition.ts';
import { readWaiver } from '../transitions/release-policy.ts';
import { changeOf } from './challenge-change.ts';
import {
  conflict,
  currentStage,
  isAwaitingPromotion,
  newStage,
  nextStage,
  notAwaitingPromotion,
  type Progress,
  withEvent,
} from './challenge-state.ts';
import { challengeView, readChallenge } from './read-challenges.ts';
import {
  type ChallengeDeps,
  challengeTransitions,
  endChallenges,
  foundChallenge,
} from './write-challenge.ts';

/** Attempts on a write conflict, the same number as for a stage transition. */
const ATTEMPTS = 21;

export interface ControlInput {
  readonly challengeId: string;
  readonly reason?: string | undefined;
  /** Next stage of an advance, by name. */
  readonly canaryStage?: string | undefined;
}

interface Order {
  readonly actor: string;
  readonly at: string;
  readonly reason: string | null;
  readonly correlationId: string;
}

/** Applies an order to a challenge. Returns the same progress if the order was applied before. */
type Decide = (progress: Progress, order: Order) => Progress;

async function control(
  deps: ChallengeDeps,
  call: TransitionCall,
  {
    operation,
    input,
    field,
  }: { readonly operation: string; readonly input: ControlInput; readonly field: string },
  decide: Decide,
): Promise<TransitionResult<Challenge>> {
  const text = checkMaxLength(input.reason, field, MAX_NOTE_LENGTH);
  const reason = text?.trim() ? text : null;
  const { challengeId } = input;
  const { actor, correlationId } = call;
  return deps.challenges.inTurn(challengeId, () =>
    applyTransition(
      deps,
      challengeTransitions(deps.challenges, { id: challengeId, attempts: ATTEMPTS, code: 'RES005' }),

      { operation, call, input },
      (idempotencyKey) => deps.challenges.find(challengeId, { idempotencyKey }),
      async (state) => {
        const found = foundChallenge(deps, challengeId, state);
        const { at } = found;
        const progress = decide(found.progress, { actor: actor.id, at, reason, correlationId });
        const write = changeOf(found.challenge, progress, at);
        return { body: challengeView(write?.after ?? progress.challenge), write };
      },
    ),
  );
}

/** Advances to the next stage immediately and ends a hold. Throws VAL005, CHL001, RES005 (ended, not the next stage), SVC005. */
export function advanceChallenge(
  deps: ChallengeDeps,
  call: TransitionCall,
  input: ControlInput,
): Promise<TransitionResult<Challenge>> {
  const { canaryStage } = input;
  if (canaryStage !== undefined) checkOneOf(canaryStage, 'canary_stage', CANARY_STAGE_NAMES);
  return control(
    deps,
    call,
    { operation: 'advanceChallenge', input, field: 'comment' },
    (progress, order) => {
      const { challenge } = progress;
      checkActive(challenge);
      const { canary_stage } = currentStage(challenge);
      if (canaryStage === canary_stage) return progress;
      const next = nextStage(canary_stage);
      if (!next || (canaryStage ?? next) !== next) {
        const message = next
          ? `The next stage after ${canary_stage} is ${next}, not ${canaryStage}`
          : `${canary_stage} is the last stage: the challenge cannot be advanced`;
        throw conflict(challenge, message, 'canary_stage');
      }
      const stages = [...challenge.stages, newStage(next, order.at)];
      return withEvent(progress, { stages, hold: null }, { action: 'advance', ...order });
    },
  );
}

/**
 * Keeps the traffic share unchanged until a user resumes; a manual hold takes another reason. Throws VAL005, CHL001,
 * RES005 (ended), SVC005.
 */
export function holdChallenge(
  deps: ChallengeDeps,
  call: TransitionCall,
  input: ControlInput,
): Promise<TransitionResult<Challenge>> {
  return control(deps, call, { operation: 'holdChallenge', input, field: 'reason' }, (progress, order) => {
    const { hold: held } = progress.challenge;
    checkActive(progress.challenge);
    const isManual = held?.reason === 'manual';
    if (isManual && (order.reason === null || order.reason === held.note)) return progress;
    const since = isManual ? held.since : order.at;
    const hold = { reason: 'manual', since, note: order.reason } as const;
    return withEvent(progress, { hold }, { action: 'hold', ...order });
  });
}

/**
 * Ends a hold; the same cause cannot hold the challenge again. Throws VAL005, CHL001, RES005 (ended, held for
 * approval), SVC005.
 */
export function resumeChallenge(
  deps: ChallengeDeps,
  call: TransitionCall,
  input: ControlInput,
): Promise<TransitionResult<Challenge>> {
  return control(deps, call, { operation: 'resumeChallenge', input, field: 'comment' }, (progress, order) => {
    const { challenge } = progress;
    checkActive(challenge);
    if (challenge.hold === null) return progress;
    const { reason } = challenge.hold;
    if (reason === 'approval') {
      throw conflict(
        challenge,
        'The challenge is held for an approval: advance it to approve the next stage',
      );
    }
    const lasting = reason === 'sample_ratio_mismatch' || reason === 'open_trades';
    const acknowledged_holds = lasting
      ? [...challenge.acknowledged_holds, reason]
      : challenge.acknowledged_holds;
    // The 24-hour timer of `no_traffic` restarts.
    const waiting = reason === 'no_traffic' ? { last_traffic_at: order.at } : {};
    return withEvent(
      progress,
      { hold: null, acknowledged_holds, ...waiting },
      { action: 'resume', ...order },
    );
  });
}

/**
 * Ends an active challenge, or a winner's pending promotion: the champion stays. Throws VAL005, CHL001, RES005 (it ended otherwise),
 * SVC005.
 */
export function rollBackChallenge(
  deps: ChallengeDeps,
  call: TransitionCall,
  input: ControlInput,
): Promise<TransitionResult<Challenge>> {
  return control(
    deps,
    call,
    { operation: 'rollBackChallenge', input, field: 'reason' },
    (progress, order) => {
      const { challenge } = progress;
      if (challenge.reason === 'manual' || challenge.outcome === 'champion_kept') return progress;
      if (isAwaitingPromotion(challenge)) {
        return withEvent(progress, { outcome: 'champion_kept' }, { action: 'keep_champion', ...order });
      }
      checkActive(challenge);
      const end = { status: 'rolled_back', reason: 'manual', ended_at: order.at, hold: null } as const;
      return withEvent(progress, end, { action: 'roll_back', ...order });
    },
  );
}

/**
 * Promotes the challenger that won: the registry's own stage transition, with all its rules, in one transaction with
 * the challenge. The champion must still be in Production, unless a stop left it empty, and the challenger in Staging.
 * Throws CHL001, RES005 (it was not won, the champion is no longer in Production, the release policy), RES006, AUTH004,
 * VAL004, VAL005, SVC005.
 */
export async function promoteChallenge(
  deps: ChallengeDeps,
  call: TransitionCall,
  input: {
    readonly challengeId: string;
    readonly comment?: string | undefined;
    /** Admins only. */
    readonly waive?: WaiveRequest | undefined;
  },
): Promise<TransitionResult<Challenge>> {
  const { challengeId } = input;
  const challenge = await readChallenge(deps, challengeId);
  if (challenge.promoted_at !== null) return { body: challengeView(challenge), replayed: false };
  if (!isAwaitingPromotion(challenge)) throw notAwaitingPromotion(challenge);
  const { model_name: model, champion_version, challenger_version: version } = challenge;
  const comment = checkMaxLength(input.comment, 'comment', MAX_NOTE_LENGTH);
  const waiver = readWaiver(input.waive);
  const reference = { model, version, field: 'version', modelField: 'name' };
  const promotion = applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'promoteChallenge', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    (state) => {
      const found = existing(reference, state);
      return planPromotion(deps, found, {
        call,
        expected_production: found.model.stopped_version === null ? champion_version : null,
        comment,
        challengeId,
        waiver,
        challenges: (at) => endChallenges(deps.challenges, { model, version, call, at }, challengeId),
      });
    },
  );
  const { replayed } = await promotion.catch(async (error: unknown) => {
    // Another call may have promoted the challenger in the meantime.
    if ((await readChallenge(deps, challengeId)).promoted_at === null) throw error;
    return { replayed: false };
  });
  return { body: challengeView(await readChallenge(deps, challengeId)), replayed };
}

function checkActive(challenge: StoredChallenge): void {
  if (challenge.status !== 'active')
    throw conflict(challenge, `The challenge is ${challenge.status}, not active: create a new challenge`);
}
