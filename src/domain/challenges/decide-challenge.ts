import {
  CANARY_STAGE_NAMES,
  type CanaryStage,
  type StoredChallenge,
} from '#contract/registry/stored-challenge.ts';
import { hash32 } from '#engine/random.ts';
import { roundNumber } from '#engine/round.ts';
import { isHarmful } from '#engine/stats/always-valid.ts';
import type { Cluster } from '#engine/stats/clusters.ts';
import { permutationTest, type StageValues } from '#engine/stats/permutation.ts';
import { closedTrades, type Progress, totalOf, withEvent } from './challenge-state.ts';
import {
  areMet,
  clustersOf,
  compareVariants,
  conditionsOf,
  currentP,
  independentUnits,
  MAX_OPEN_TRADE_IMBALANCE,
  openTradeImbalance,
  type VariantComparison,
} from './compare-variants.ts';
import { asIfClosed } from './variant-totals.ts';

/** P-value below which a difference is significant. */
export const ALPHA = 0.05;
/** Minimum improvement of a challenger for a promotion, percent. */
export const MIN_IMPROVEMENT = 10;

/** Minimum keys with a closed trade per variant before the planned look, when keys are compared. */
export const MIN_CLUSTERS = 20;

/**
 * The profits of a challenge's trades by stage, summed by key when keys are compared, including trades about to be
 * logged. Limited to the last trades, some thousands.
 */
export type ReadProfits = (challenge: StoredChallenge) => Promise<readonly StageValues<number | Cluster>[]>;

/**
 * Decides on an active challenge, after a closed trade or error or when its minimum hours are reached:
 * - It rolls back automatically on errors, drawdown or harm.
 * - It makes the planned look when all conditions are met for the first time.
 * - It completes the challenge when the criteria hold.
 *
 * It reads trades only if the variants are unbalanced and the totals would decide.
 */
export async function decideChallenge(progress: Progress, at: string, read: ReadProfits): Promise<Progress> {
  if (progress.challenge.status !== 'active') return progress;
  const comparison = compareVariants(progress.challenge);
  const stop = await reasonToStop(progress.challenge, comparison, read);
  if (stop) {
    const end = { status: 'rolled_back', reason: stop, ended_at: at, hold: null } as const;
    return withEvent(progress, end, { action: 'roll_back', at, reason: stop });
  }
  const looked = await lookAsPlanned(progress, comparison, at, read);
  return decide(looked, comparison, at);
}

async function reasonToStop(challenge: StoredChallenge, comparison: VariantComparison, read: ReadProfits) {
  const { max_drawdown_pct, max_errors, equity, stages } = challenge;
  if (max_errors !== null && totalOf(stages, 'errors').challenger > max_errors) return 'errors';
  if (max_drawdown_pct !== null && equity.drawdown > max_drawdown_pct) return 'max_drawdown';
  if (comparison.degenerate) return null;
  const { challenger: challengerTrades } = independentUnits(challenge);
  const looksHarmful = isHarmful(comparison.sample, { challengerTrades, lowerP: null });
  if (!looksHarmful || comparison.balanced) return looksHarmful ? 'harm' : null;
  const permuted = permutationTest(await read(challenge), seedOf(challenge));
  const lowerP = permuted?.pLower ?? 1;
  return isHarmful(comparison.sample, { challengerTrades, lowerP }) ? 'harm' : null;
}

async function lookAsPlanned(
  progress: Progress,
  comparison: VariantComparison,
  at: string,
  read: ReadProfits,
): Promise<Progress> {
  const { challenge } = progress;
  if (!isLookDue(challenge, at)) return progress;
  const { champion, challenger } = closedTrades(challenge);
  const { test, balanced, improvement } = comparison;
  const permuted = balanced ? undefined : permutationTest(await read(challenge), seedOf(challenge));
  const guarded = permuted !== undefined && permuted.p > test.p;
  const planned_look = {
    at,
    champion_trades: champion,
    challenger_trades: challenger,
    improvement_pct: improvement,
    // The database refuses numbers as small as the p-value of very different variants.
    p_value: roundNumber(guarded ? permuted.p : test.p),
    p_value_method: guarded ? ('permutation' as const) : ('welch' as const),
  };
  return withEvent(progress, { planned_look }, { action: 'planned_look', at });
}

/** True when all conditions of an active challenge's planned look are met and it has not been made. */
export function isLookDue(challenge: StoredChallenge, at: string): boolean {
  if (challenge.status !== 'active' || challenge.planned_look) return false;
  if (!areMet(conditionsOf(challenge, Date.parse(at)))) return false;
  const clusters = clustersOf(challenge);
  return clusters === null || Math.min(clusters.champion, clusters.challenger) >= MIN_CLUSTERS;
}

/** Completes a challenge that has a verdict; returns any other unchanged. */
function decide(progress: Progress, comparison: VariantComparison, at: string): Progress {
  const verdict = verdictOn(progress.challenge, comparison);
  return verdict ? completed(progress, verdict, at) : progress;
}

/** Verdict of the trades so far; undefined before the planned look and while the difference is not significant. */
export function verdictOn(challenge: StoredChallenge, comparison: VariantComparison) {
  if (!challenge.planned_look || currentP(challenge, comparison).p >= ALPHA) return undefined;
  if (comparison.improvement < 0) return 'champion_wins' as const;
  const isBetter =
    comparison.improvement > MIN_IMPROVEMENT && openTradeImbalance(challenge) <= MAX_OPEN_TRADE_IMBALANCE;
  return isBetter ? ('challenger_wins' as const) : undefined;
}

/** Verdict at the time limit: it must hold for the closed trades only, and with the open trades at their mark prices. */
export function finalVerdictOn(challenge: StoredChallenge) {
  const verdict = verdictOn(challenge, compareVariants(challenge));
  if (!verdict || challenge.stages.every((stage) => !stage.champion.marked && !stage.challenger.marked)) {
    return verdict;
  }
  const stages = challenge.stages.map((stage) => ({
    ...stage,
    champion: asIfClosed(stage.champion),
    challenger: asIfClosed(stage.challenger),
  }));
  const closed = { ...challenge, stages };
  return verdictOn(closed, compareVariants(closed)) === verdict ? verdict : undefined;
}

/** The same trades give the same p-value. */
function seedOf(challenge: StoredChallenge): number {
  const { champion, challenger } = closedTrades(challenge);
  return hash32(`${challenge.challenge_id}:${champion + challenger}`);
}

/** A challenge that ends by a verdict on its trades. */
export function completed(
  progress: Progress,
  outcome: 'challenger_wins' | 'champion_wins',
  at: string,
): Progress {
  const end = { status: 'completed', outcome, ended_at: at, hold: null } as const;
  const ended = withEvent(progress, end, { action: 'complete', at, reason: outcome });
  const message = outcome === 'challenger_wins' ? manualPromotionReason(progress.challenge) : null;
  return message === null ? ended : withRejectedPromotion(ended, { at, code: 'RES005', message });
}

/** Records the reason why a winner was not promoted automatically. From then on it needs manual promotion. */
export function withRejectedPromotion(
  progress: Progress,
  promotion_rejected: NonNullable<StoredChallenge['promotion_rejected']>,
): Progress {
  const { at, code, message } = promotion_rejected;
  const event = { action: 'promotion_rejected', at, reason: `${code}: ${message}` } as const;
  return withEvent(progress, { promotion_rejected }, event);
}

/** Reason why a winner with `auto_promote` needs manual promotion; null without one. */
function manualPromotionReason(challenge: StoredChallenge): string | null {
  const { auto_promote, hold } = challenge;
  if (!auto_promote) return null;
  if (compareVariants(challenge).degenerate) return 'The trades of each variant have zero variance';
  // The other holds end automatically.
  const waits =
    hold?.reason === 'manual' || hold?.reason === 'approval' || hold?.reason === 'sample_ratio_mismatch';
  if (waits) return `It was held when it won: ${hold.reason}`;
  const unapproved = laterStages(challenge).filter((stage) => challenge.approval_stages.includes(stage));
  return unapproved.length > 0 ? `It won before an approver had advanced it to ${unapproved[0]}` : null;
}

/** Canary stages after the present one. */
function laterStages({ stages }: StoredChallenge): CanaryStage[] {
  return CANARY_STAGE_NAMES.slice(CANARY_STAGE_NAMES.indexOf(stages.at(-1)!.canary_stage) + 1);
}
