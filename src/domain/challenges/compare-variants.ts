import type { ChallengeEvaluation } from '#contract/registry/challenge-api.ts';
import type { StoredChallenge, Variant, VariantTotals } from '#contract/registry/stored-challenge.ts';
import { HOUR_MS } from '#contract/values/durations.ts';
import { alwaysValidP, type SequentialSample } from '#engine/stats/always-valid.ts';
import { NO_CLUSTERS, sampleOfClusters } from '#engine/stats/clusters.ts';
import { sampleRatioTest } from '#engine/stats/sample-ratio.ts';
import {
  improvementPct,
  isBalanced,
  pooled,
  type SampleStats,
  type StratifiedTest,
  sampleOf,
  sampleOfSums,
  stratifiedWelch,
} from '#engine/stats/welch.ts';
import { closedTrades, totalOf, trafficShareOf } from './challenge-state.ts';

/** Comparison of the variants from the totals of the stages. */
export interface VariantComparison {
  readonly test: StratifiedTest;
  readonly sample: SequentialSample;
  /** Improvement of the challenger over the champion, percent. */
  readonly improvement: number;
  /** False: skewed returns bias Welch's test, so the permutation test is used too. */
  readonly balanced: boolean;
  /** The means differ and both variances are zero. There is no test and no automatic action. */
  readonly degenerate: boolean;
  /** All trades of a variant as one sample. */
  readonly champion: SampleStats;
  readonly challenger: SampleStats;
  readonly alwaysValidP: number;
}

export function compareVariants(challenge: StoredChallenge): VariantComparison {
  const { analysis_unit } = challenge;
  const stages = challenge.stages.map(({ champion, challenger }) => ({
    a: sampleOfTotals(champion, analysis_unit),
    b: sampleOfTotals(challenger, analysis_unit),
  }));
  const test = stratifiedWelch(stages);
  const sample = { ...test, tuningSize: 4 * challenge.effective_min_trades };
  return {
    test,
    sample,
    improvement: improvementPct(test.meanA, test.meanB),
    balanced: isBalanced(stages),
    degenerate: test.usedStages > 0 && test.standardError === 0 && test.difference !== 0,
    champion: stages.reduce((all, { a }) => pooled(all, a), sampleOf([])),
    challenger: stages.reduce((all, { b }) => pooled(all, b), sampleOf([])),
    alwaysValidP: alwaysValidP(sample),
  };
}

function sampleOfTotals(
  { closed, sum, sum_of_squares, clusters }: VariantTotals,
  unit: StoredChallenge['analysis_unit'],
): SampleStats {
  if (unit === 'trade') return sampleOfSums(closed, sum, sum_of_squares);
  return sampleOfClusters(closed, sum, clusters ?? NO_CLUSTERS);
}

/** Keys of both variants with a closed trade that counts; null where trades are compared one by one. */
export function clustersOf({ stages, analysis_unit }: StoredChallenge) {
  if (analysis_unit === 'trade') return null;
  const of = (variant: Variant) =>
    stages.reduce((sum, stage) => sum + (stage[variant].clusters?.count ?? 0), 0);
  return { champion: of('champion'), challenger: of('challenger') };
}

/** Number of independent units per variant: closed trades, or their keys. */
export function independentUnits(challenge: StoredChallenge) {
  return clustersOf(challenge) ?? closedTrades(challenge);
}

/**
 * The p-value for display and decision: the p-value of the planned look until another trade closes, otherwise the always-valid
 * p-value.
 */
export function currentP(challenge: StoredChallenge, comparison: VariantComparison) {
  const look = challenge.planned_look;
  const { champion, challenger } = closedTrades(challenge);
  if (look?.champion_trades === champion && look.challenger_trades === challenger) {
    return { p: look.p_value, method: look.p_value_method };
  }
  return { p: comparison.alwaysValidP, method: 'always_valid' as const };
}

/** P-value below which the split is a mismatch. Conservative, since the test is repeated many times. */
const SAMPLE_RATIO_ALPHA = 0.001;

/** Sample ratio test: compares assignments with each stage's traffic share. */
export function sampleRatio({ stages }: StoredChallenge) {
  const { p, df } = sampleRatioTest(
    stages.map(({ canary_stage, champion, challenger }) => ({
      a: champion.assigned,
      b: challenger.assigned,
      shareB: trafficShareOf(canary_stage),
    })),
  );
  if (df === 0) return { p_value: 1, status: 'no_assignments' as const };
  return { p_value: p, status: p < SAMPLE_RATIO_ALPHA ? ('mismatch' as const) : ('healthy' as const) };
}

/** Minimum entered trades of a variant before its share of open trades is compared. */
const MIN_ENTERED = 20;
/** Maximum difference in the share of open trades, percentage points: a strategy that keeps losers open logs only winners. */
export const MAX_OPEN_TRADE_IMBALANCE = 20;

/** Difference between the variants' shares of open trades, percentage points; 0 while a variant has fewer than {@link MIN_ENTERED}. */
export function openTradeImbalance({ stages }: StoredChallenge): number {
  const open = totalOf(stages, 'open');
  const closed = totalOf(stages, 'closed');
  const entered = {
    champion: open.champion + closed.champion,
    challenger: open.challenger + closed.challenger,
  };
  if (Math.min(entered.champion, entered.challenger) < MIN_ENTERED) return 0;
  // Computed in integers, because each share would be rounded before the comparison.
  const crossed = Math.abs(open.champion * entered.challenger - open.challenger * entered.champion);
  return (100 * crossed) / (entered.champion * entered.challenger);
}

/**
 * Conditions of a verdict and their current values: closed trades and assignments of the variant that has fewer, and
 * hours since the creation of the challenge. No value ever falls.
 *
 * @param now Unix ms; after the end the hours no longer rise
 */
export function conditionsOf(challenge: StoredChallenge, now: number): ChallengeEvaluation['conditions'] {
  const { stages, created_at, ended_at, effective_min_trades, min_assignments, min_hours } = challenge;
  const closed = closedTrades(challenge);
  const assigned = totalOf(stages, 'assigned');
  const until = ended_at === null ? now : Date.parse(ended_at);
  const hours = (until - Date.parse(created_at)) / HOUR_MS;
  return {
    trades: condition(Math.min(closed.champion, closed.challenger), effective_min_trades),
    assignments: condition(Math.min(assigned.champion, assigned.challenger), min_assignments),
    // Truncated, not rounded: a condition is never shown as met too early.
    hours: condition(Math.floor(hours * 100) / 100, min_hours),
  };
}

function condition(value: number, needed: number) {
  return { value, needed, met: value >= needed };
}

/** True when all conditions of a verdict are met. */
export function areMet(conditions: ChallengeEvaluation['conditions']): boolean {
  return Object.values(conditions).every(({ met }) => met);
}
