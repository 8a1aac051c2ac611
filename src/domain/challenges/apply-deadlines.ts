import type { Challenge } from '#contract/challenge-api.ts';
import type { Hold, StoredChallenge } from '#contract/stored-challenge.ts';
import { isoTime } from '../validate.ts';
import {
  currentStage,
  isAwaitingPromotion,
  newStage,
  nextStage,
  type Progress,
  withEvent,
} from './challenge-state.ts';
import {
  compareVariants,
  MAX_OPEN_TRADE_IMBALANCE,
  openTradeImbalance,
  sampleRatio,
} from './compare-variants.ts';
import { completed, finalVerdictOn } from './decide-challenge.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A winner that nobody promotes is given up. */
const PROMOTE_WITHIN_MS = 7 * DAY_MS;
const MAX_DWELL_MS = HOUR_MS;
const MIN_STAGE_TRADES = 20;

/**
 * What time alone has made of a challenge, from its totals and so the same whoever asks and whenever: the end of one whose
 * time is up, and of a winner that nobody promoted.
 */
export function applyDeadlines(progress: Progress, now: number): Progress {
  const ended = endOverdue(progress, now);
  const { challenge } = ended;
  if (!isAwaitingPromotion(challenge)) return ended;
  const givenUp = deadlineOf(challenge)!;
  if (now < givenUp) return ended;
  const reason = 'nobody promoted it within 7 days';
  const event = { action: 'keep_champion', at: isoTime(givenUp), reason } as const;
  return withEvent(ended, { outcome: 'champion_kept' }, event);
}

/** Unix ms at which time alone ends a challenge, or gives its winner up; undefined when it can do neither. */
export function deadlineOf(challenge: StoredChallenge): number | undefined {
  if (challenge.status === 'active') return Date.parse(challenge.ends_at);
  return isAwaitingPromotion(challenge) ? Date.parse(challenge.ended_at!) + PROMOTE_WITHIN_MS : undefined;
}

function endOverdue(progress: Progress, now: number): Progress {
  const { challenge } = progress;
  const at = challenge.ends_at;
  if (challenge.status !== 'active' || now < Date.parse(at)) return progress;
  const verdict = finalVerdictOn(challenge);
  if (verdict) return completed(progress, verdict, at);
  return withEvent(progress, { status: 'expired', ended_at: at, hold: null }, { action: 'expire', at });
}

/**
 * What the platform does with an active challenge by itself when something is written or time passes: it holds one whose
 * health is in doubt, lets it go on when the doubt is gone, and gives the challenger the next share when that is due.
 */
export function applyCanaryRules(progress: Progress, now: number): Progress {
  if (progress.challenge.status !== 'active') return progress;
  const at = isoTime(now);
  const checked = reviewHold(progress, now);
  const { challenge } = checked;
  const next = nextStage(currentStage(challenge).canary_stage);
  if (!next || !isAdvanceDue(challenge, now)) return checked;
  if (challenge.approval_stages.includes(next)) return held(checked, 'approval', at);
  return withEvent(
    checked,
    { stages: [...challenge.stages, newStage(next, at)] },
    { action: 'advance', at, reason: 'dwell and trades' },
  );
}

function reviewHold(progress: Progress, now: number): Progress {
  const at = isoTime(now);
  const { hold } = progress.challenge;
  const doubt = healthIssueOf(progress.challenge, now);
  if (hold === null) {
    return doubt ? held(progress, doubt, at) : progress;
  }
  // Whoever is asked to approve must see that its health is in doubt. When that is over, it is held for approval again.
  if (hold.reason === 'approval') return doubt ? held(progress, doubt, at) : progress;
  // A mismatch does not heal by itself, and who held it by hand says when it goes on.
  const heals = hold.reason === 'open_trades' || hold.reason === 'no_traffic';
  if (!heals || doubt === hold.reason) return progress;
  const reason = `no longer: ${hold.reason}`;
  return reviewHold(withEvent(progress, { hold: null }, { action: 'resume', at, reason }), now);
}

function held(progress: Progress, reason: Hold['reason'], since: string): Progress {
  return withEvent(progress, { hold: { reason, since, note: null } }, { action: 'hold', at: since, reason });
}

function healthIssueOf(challenge: StoredChallenge, now: number): Hold['reason'] | undefined {
  const doubts: Partial<Record<Hold['reason'], boolean>> = {
    sample_ratio_mismatch: sampleRatio(challenge).status === 'mismatch',
    open_trades: openTradeImbalance(challenge) > MAX_OPEN_TRADE_IMBALANCE,
    no_traffic: now - Date.parse(challenge.last_traffic_at) >= DAY_MS,
  };
  return (Object.keys(doubts) as Hold['reason'][]).find(
    (reason) => doubts[reason] && !challenge.acknowledged_holds.includes(reason),
  );
}

/** What the next stage of an active challenge waits for, beside its health; null when there is none. */
export function nextStageRequirements(challenge: StoredChallenge): Challenge['next_stage'] {
  const { canary_stage, since, challenger } = currentStage(challenge);
  const next = nextStage(canary_stage);
  if (!next || challenge.status !== 'active') return null;
  const dwell = Math.min(MAX_DWELL_MS, (challenge.max_duration_hours * HOUR_MS) / 8);
  return {
    canary_stage: next,
    not_before: isoTime(Date.parse(since) + dwell),
    challenger_trades: challenger.closed,
    trades_needed: Math.ceil(Math.max(MIN_STAGE_TRADES, challenge.min_trades / 5)),
    needs_approval: challenge.approval_stages.includes(next),
  };
}

function isAdvanceDue(challenge: StoredChallenge, now: number): boolean {
  const awaited = nextStageRequirements(challenge);
  return (
    awaited !== null &&
    challenge.hold === null &&
    now >= Date.parse(awaited.not_before) &&
    awaited.challenger_trades >= awaited.trades_needed &&
    !compareVariants(challenge).degenerate
  );
}
