import type { Challenge } from '#contract/challenge-api.ts';
import { MAX_NOTE_LENGTH } from '#contract/limits.ts';
import { CANARY_STAGE_NAMES, type StoredChallenge } from '#contract/stored-challenge.ts';
import { type MoveDeps, type MoveReply, makeMoveIn, type RegistryCall } from '../registry/make-move.ts';
import { checkOneOf, checkText } from '../validate.ts';
import {
  changeOf,
  conflict,
  currentStage,
  isAwaiting,
  newStage,
  nextStage,
  type Progress,
  told,
} from './challenge-state.ts';
import type { ChallengeStore } from './challenge-store.ts';
import { challengeView } from './read-challenges.ts';
import { foundChallenge } from './write-challenge.ts';

/** What a person decides of a challenge: advance, hold, resume, roll back. */

export interface ControlDeps extends MoveDeps {
  readonly challenges: ChallengeStore;
}

export interface ControlInput {
  readonly challengeId: string;
  readonly reason?: string | undefined;
  /** Of an advance: the next stage, by name. */
  readonly canaryStage?: string | undefined;
}

interface Order {
  readonly actor: string;
  readonly at: string;
  readonly reason: string | null;
  readonly correlationId: string;
}

/** What an order makes of a challenge; the same progress when it is so already. */
type Decide = (progress: Progress, order: Order) => Progress;

async function control(
  deps: ControlDeps,
  call: RegistryCall,
  {
    operation,
    input,
    field,
  }: { readonly operation: string; readonly input: ControlInput; readonly field: string },
  decide: Decide,
): Promise<MoveReply<Challenge>> {
  const text = checkText(input.reason, field, MAX_NOTE_LENGTH);
  const reason = text?.trim() ? text : null;
  const { challengeId } = input;
  const { actor, correlationId } = call;
  return deps.challenges.inTurn(challengeId, () =>
    makeMoveIn(
      deps.challenges,
      deps,
      { operation, call, input },
      async (key) => ({ ...(await deps.challenges.find(challengeId, { reply: key })), model: undefined }),
      async (state) => {
        const found = foundChallenge(deps, challengeId, state);
        const { at } = found;
        const progress = decide(found.progress, { actor: actor.id, at, reason, correlationId });
        const move = changeOf(found.challenge, progress, at);
        return { body: challengeView(move?.after ?? progress.challenge), move };
      },
    ),
  );
}

/** Gives the challenger the next share at once, and ends a hold. Throws VAL005, CHL001, RES005 (ended, no such next stage), SVC005. */
export function advanceChallenge(
  deps: ControlDeps,
  call: RegistryCall,
  input: ControlInput,
): Promise<MoveReply<Challenge>> {
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
          ? `The stage after ${canary_stage} is ${next}`
          : `${canary_stage} is the last stage`;
        throw conflict(challenge, message, 'canary_stage');
      }
      const stages = [...challenge.stages, newStage(next, order.at)];
      return told(progress, { stages, hold: null }, { action: 'advance', ...order });
    },
  );
}

/**
 * Keeps the share as it is until somebody resumes; held by hand already, it takes another reason. Throws VAL005, CHL001,
 * RES005 (ended), SVC005.
 */
export function holdChallenge(
  deps: ControlDeps,
  call: RegistryCall,
  input: ControlInput,
): Promise<MoveReply<Challenge>> {
  return control(deps, call, { operation: 'holdChallenge', input, field: 'reason' }, (progress, order) => {
    const { hold: held } = progress.challenge;
    checkActive(progress.challenge);
    const isManual = held?.reason === 'manual';
    if (isManual && (order.reason === null || order.reason === held.note)) return progress;
    const since = isManual ? held.since : order.at;
    const hold = { reason: 'manual', since, note: order.reason } as const;
    return told(progress, { hold }, { action: 'hold', ...order });
  });
}

/**
 * Ends a hold; its cause holds the challenge no second time. Throws VAL005, CHL001, RES005 (ended, held for approval), SVC005.
 */
export function resumeChallenge(
  deps: ControlDeps,
  call: RegistryCall,
  input: ControlInput,
): Promise<MoveReply<Challenge>> {
  return control(deps, call, { operation: 'resumeChallenge', input, field: 'comment' }, (progress, order) => {
    const { challenge } = progress;
    checkActive(challenge);
    if (challenge.hold === null) return progress;
    const { reason } = challenge.hold;
    if (reason === 'approval') {
      throw conflict(challenge, 'It is held until somebody approves the next stage: advance it');
    }
    const lasting = reason === 'sample_ratio' || reason === 'open_trades';
    const accepted_holds = lasting ? [...challenge.accepted_holds, reason] : challenge.accepted_holds;
    // A day without traffic begins anew.
    const waiting = reason === 'no_traffic' ? { last_traffic_at: order.at } : {};
    return told(progress, { hold: null, accepted_holds, ...waiting }, { action: 'resume', ...order });
  });
}

/**
 * Ends an active challenge, or gives up a winner: the champion stays. Throws VAL005, CHL001, RES005 (it ended otherwise),
 * SVC005.
 */
export function rollBackChallenge(
  deps: ControlDeps,
  call: RegistryCall,
  input: ControlInput,
): Promise<MoveReply<Challenge>> {
  return control(
    deps,
    call,
    { operation: 'rollBackChallenge', input, field: 'reason' },
    (progress, order) => {
      const { challenge } = progress;
      if (challenge.reason === 'manual' || challenge.outcome === 'champion_kept') return progress;
      if (isAwaiting(challenge)) {
        return told(progress, { outcome: 'champion_kept' }, { action: 'keep_champion', ...order });
      }
      checkActive(challenge);
      const end = { status: 'rolled_back', reason: 'manual', ended_at: order.at, hold: null } as const;
      return told(progress, end, { action: 'roll_back', ...order });
    },
  );
}

function checkActive(challenge: StoredChallenge): void {
  if (challenge.status !== 'active') throw conflict(challenge, `The challenge is ${challenge.status}`);
}
