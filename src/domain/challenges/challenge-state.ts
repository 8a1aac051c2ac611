import {
  CANARY_STAGES,
  type CanaryStage,
  type ChallengeAction,
  type ChallengeEvent,
  type StageTotals,
  type StoredAssignment,
  type StoredChallenge,
  type Variant,
  type VariantTotals,
} from '#contract/registry/stored-challenge.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { plus, ZERO } from '#engine/stats/double-double.ts';
import { spokenAgainst } from '../transitions/plan-promotion.ts';

/** A challenge while a call changes it, with the events so far. */
export interface Progress {
  readonly challenge: StoredChallenge;
  readonly events: readonly ChallengeEvent[];
}

/** Fields of an event in addition to the challenge's state. */
export interface EventDetails {
  readonly action: ChallengeAction;
  readonly at: string;
  /** Default: the platform itself. */
  readonly actor?: string;
  readonly reason?: string | null;
  readonly correlationId?: string | null;
}

export function begin(challenge: StoredChallenge): Progress {
  return { challenge, events: [] };
}

/** The challenge with some fields changed, without an event. */
export function changed({ challenge, events }: Progress, fields: Partial<StoredChallenge>): Progress {
  return { challenge: { ...challenge, ...fields }, events };
}

/** The challenge with some fields changed, and the event of the change. */
export function withEvent(
  progress: Progress,
  fields: Partial<StoredChallenge>,
  event: EventDetails,
): Progress {
  const challenge = { ...progress.challenge, ...fields, events: progress.challenge.events + 1 };
  return {
    challenge,
    events: [
      ...progress.events,
      {
        schema_version: 2,
        challenge_id: challenge.challenge_id,
        sequence: challenge.events,
        at: event.at,
        actor: event.actor ?? PLATFORM,
        action: event.action,
        status: challenge.status,
        outcome: challenge.outcome,
        canary_stage: currentStage(challenge).canary_stage,
        reason: event.reason ?? null,
        warnings: event.action === 'promote' ? spokenAgainst(challenge) : [],
        correlation_id: event.correlationId ?? null,
      },
    ],
  };
}

/** Prefix of the warning that the champion was not in Production when the challenge was created. */
export const CHAMPION_NOT_IN_PRODUCTION = 'champion_not_in_production';

/** The latest stage: entries from now on belong to it. */
export function currentStage(challenge: StoredChallenge): StageTotals {
  return challenge.stages.at(-1)!;
}

/** The stage that was current at a time (ISO 8601, milliseconds); times before the challenge map to the first stage. */
export function stageAt({ stages }: StoredChallenge, at: string): CanaryStage {
  return (stages.findLast(({ since }) => since <= at) ?? stages[0]!).canary_stage;
}

/** Totals of a variant at the start of a stage. */
export const NO_TRADES: VariantTotals = {
  assigned: 0,
  open: 0,
  closed: 0,
  errors: 0,
  sum: ZERO,
  sum_of_squares: ZERO,
  clusters: null,
  marked: null,
};

/** Totals of the trades of one key. */
export type KeyTotals = Pick<StoredAssignment, 'closed' | 'sum' | 'marked' | 'marked_sum'>;

/** Totals of a key without trades. */
export const NO_KEY_TOTALS: KeyTotals = { closed: 0, sum: ZERO, marked: 0, marked_sum: ZERO };

export function newStage(canary_stage: CanaryStage, since: string): StageTotals {
  return { canary_stage, since, champion: NO_TRADES, challenger: NO_TRADES };
}

/** Traffic share of the challenger in a canary stage. */
export function trafficShareOf(stage: CanaryStage): number {
  return CANARY_STAGES.find(({ name }) => name === stage)!.share;
}

/** Next canary stage; undefined after the last. */
export function nextStage(stage: CanaryStage): CanaryStage | undefined {
  return CANARY_STAGES[CANARY_STAGES.findIndex(({ name }) => name === stage) + 1]?.name;
}

/** True while the challenger has won and its promotion is pending: not promoted and not lapsed. */
export function isAwaitingPromotion({
  status,
  outcome,
  promoted_at,
}: Pick<StoredChallenge, 'status' | 'outcome' | 'promoted_at'>): boolean {
  return status === 'completed' && outcome === 'challenger_wins' && promoted_at === null;
}

/** Traffic split now, champion first. It stays unchanged while a winner awaits its promotion. */
export function trafficSplit(challenge: StoredChallenge): [number, number] {
  if (challenge.promoted_at !== null) return [0, 1];
  if (challenge.status !== 'active' && !isAwaitingPromotion(challenge)) return [1, 0];
  const share = trafficShareOf(currentStage(challenge).canary_stage);
  return [1 - share, share];
}

/** Closed trades of both variants that count. */
export function closedTrades({ stages }: StoredChallenge): { champion: number; challenger: number } {
  return totalOf(stages, 'closed');
}

/** One of the totals over all stages. */
export function totalOf(stages: readonly StageTotals[], name: 'assigned' | 'open' | 'closed' | 'errors') {
  return {
    champion: stages.reduce((sum, stage) => sum + stage.champion[name], 0),
    challenger: stages.reduce((sum, stage) => sum + stage.challenger[name], 0),
  };
}

/** Sum of the profits of a variant's closed trades that count, percentage points. */
export function profitOf({ stages }: StoredChallenge, variant: Variant): number {
  return stages.reduce((total, stage) => plus(total, stage[variant].sum), ZERO)[0];
}

/** RES005 with the state of the challenge. */
export function conflict(challenge: StoredChallenge, message: string, field = 'challenge_id'): CodedError {
  const { challenge_id, status, outcome, reason } = challenge;
  const { canary_stage } = currentStage(challenge);
  return new CodedError('RES005', {
    message,
    field,
    context: { challenge_id, status, outcome, reason, canary_stage },
  });
}

/** RES005 for the promotion of a challenge without a winner, or whose winner is promoted or replaced already. */
export function notAwaitingPromotion(challenge: StoredChallenge): CodedError {
  const { status, outcome, promoted_at } = challenge;
  if (promoted_at !== null) {
    return conflict(
      challenge,
      `The winner of this challenge was promoted at ${promoted_at}. No action is needed.`,
    );
  }
  const state = `${status}${outcome === null ? '' : ` with outcome ${outcome}`}`;
  return conflict(
    challenge,
    `The challenge is ${state}: only a winner that awaits promotion can be promoted`,
  );
}

/**
 * Bucket of a key in a challenge, 0 to 1: the first 4 bytes of SHA-256 of `challenge_id:key`, big-endian, by 2^32. A key
 * belongs to the challenger when its bucket is below the traffic share. It therefore stays there while the share grows.
 */
function bucketOf(challengeId: string, key: string, sha256: Digest): number {
  return Number.parseInt(sha256(`${challengeId}:${key}`).slice(0, 8), 16) / 2 ** 32;
}

function variantOf(bucket: number, share: number): Variant {
  return bucket < share ? 'challenger' : 'champion';
}

/** The version of a variant. */
export function versionOf(challenge: StoredChallenge, variant: Variant): string {
  return variant === 'champion' ? challenge.champion_version : challenge.challenger_version;
}

/** The assignment of a key that had none, by the shares at the time of its entry. Default: now. */
export function assign(
  challenge: StoredChallenge,
  key: string,
  sha256: Digest,
  { at, entered }: { readonly at: string; readonly entered?: string | null },
): StoredAssignment {
  const bucket = bucketOf(challenge.challenge_id, key, sha256);
  const stage = entered ? stageAt(challenge, entered) : currentStage(challenge).canary_stage;
  return {
    schema_version: 1,
    challenge_id: challenge.challenge_id,
    assignment_key: key,
    variant: variantOf(bucket, trafficShareOf(stage)),
    canary_stage: stage,
    bucket,
    at,
    revision: 1,
    ...NO_KEY_TOTALS,
  };
}

/** The challenge with one more assignment in its totals. */
export function withAssignment(
  progress: Progress,
  { canary_stage, variant, at }: Pick<StoredAssignment, 'canary_stage' | 'variant' | 'at'>,
): Progress {
  const stages = progress.challenge.stages.map((stage) =>
    stage.canary_stage === canary_stage
      ? { ...stage, [variant]: { ...stage[variant], assigned: stage[variant].assigned + 1 } }
      : stage,
  );
  return changed(progress, { stages, last_traffic_at: at });
}
