import type { Challenge } from '#contract/registry/challenge-api.ts';
import type { Hold, StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { DAY_MS, HOUR_MS } from '#contract/values/durations.ts';
import { isoTime } from '../shared/iso-time.ts';
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

/** A winner's promotion lapses after this time. */
const PROMOTE_WITHIN_MS = 7 * DAY_MS;
const MAX_DWELL_MS = HOUR_MS;
const MIN_STAGE_TRADES = 20;

/**
 * Applies due deadlines from the totals only, so the result does not depend on the caller: the end of a challenge whose
 * time limit has passed, and the lapse of a promotion.
 */
export function applyDeadlines(progress: Progress, now: number): Progress {
  const ended = endOverdue(progress, now);
  const { challenge } = ended;
  if (!isAwaitingPromotion(challenge)) return ended;
  const lapsesAt = deadlineOf(challenge)!;
  if (now < lapsesAt) return ended;
  const reason = 'promotion lapsed after 7 days';
  const event = { action: 'keep_champion', at: isoTime(lapsesAt), reason } as const;
  return withEvent(ended, { outcome: 'champion_kept' }, event);
}

/** Unix ms of the next deadline: the time limit, or the lapse of a winner's promotion; undefined without one. */
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
 * Automatic canary rules of an active challenge, applied by every write and repair run: hold it on a health issue,
 * resume it when the issue is gone, and advance the challenger to the next traffic share when it is due.
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
  const issue = healthIssueOf(progress.challenge, now);
  if (hold === null) {
    return issue ? held(progress, issue, at) : progress;
  }
  // A failed health check replaces the `approval` hold, so that the approver sees it. When the check passes, `approval` returns.
  if (hold.reason === 'approval') return issue ? held(progress, issue, at) : progress;
  // A sample ratio mismatch and a manual hold need a person to resume.
  const endsAutomatically = hold.reason === 'open_trades' || hold.reason === 'no_traffic';
  if (!endsAutomatically || issue === hold.reason) return progress;
  const reason = `resolved: ${hold.reason}`;
  return reviewHold(withEvent(progress, { hold: null }, { action: 'resume', at, reason }), now);
}

function held(progress: Progress, reason: Hold['reason'], since: string): Progress {
  return withEvent(progress, { hold: { reason, since, note: null } }, { action: 'hold', at: since, reason });
}

function healthIssueOf(challenge: StoredChallenge, now: number): Hold['reason'] | undefined {
  const issues: Partial<Record<Hold['reason'], boolean>> = {
    sample_ratio_mismatch: sampleRatio(challenge).status === 'mismatch',
    open_trades: openTradeImbalance(challenge) > MAX_OPEN_TRADE_IMBALANCE,
    no_traffic: now - Date.parse(challenge.last_traffic_at) >= DAY_MS,
  };
  return (Object.keys(issues) as Hold['reason'][]).find(
    (reason) => issues[reason] && !challenge.acknowledged_holds.includes(reason),
  );
}

/** Requirements of the next stage, in addition to health; null in the last stage and after the end. */
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
  const required = nextStageRequirements(challenge);
  return (
    required !== null &&
    challenge.hold === null &&
    now >= Date.parse(required.not_before) &&
    required.challenger_trades >= required.trades_needed &&
    !compareVariants(challenge).degenerate
  );
}
