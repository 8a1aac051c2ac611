import type { ChallengeEvaluation } from '#contract/registry/challenge-api.ts';
import type { StoredChallenge, Variant } from '#contract/registry/stored-challenge.ts';
import { plus, ZERO } from '#engine/stats/double-double.ts';
import { minimumDetectableEffect, tradesNeeded } from '#engine/stats/welch.ts';
import { isoTime } from '../shared/iso-time.ts';
import { intervalOf } from './challenge-change.ts';
import { closedTrades, currentStage, totalOf, trafficSplit } from './challenge-state.ts';
import {
  clustersOf,
  compareVariants,
  conditionsOf,
  currentP,
  MAX_OPEN_TRADE_IMBALANCE,
  openTradeImbalance,
  sampleRatio,
  type VariantComparison,
} from './compare-variants.ts';
import { ALPHA, finalVerdictOn, MIN_CLUSTERS, MIN_IMPROVEMENT, verdictOn } from './decide-challenge.ts';
import { readChallenge } from './read-challenges.ts';
import type { ChallengeDeps } from './write-challenge.ts';

/** How the variants compare, from the totals of the stages. Throws CHL001, SVC005. */
export async function evaluateChallenge(
  deps: Pick<ChallengeDeps, 'challenges' | 'clock'>,
  challengeId: string,
): Promise<ChallengeEvaluation> {
  const challenge = await readChallenge(deps, challengeId);
  const comparison = compareVariants(challenge);
  const { p, method } = currentP(challenge, comparison);
  const { champion, challenger } = closedTrades(challenge);
  const { challenge_id, status, champion_version, challenger_version, min_trades, planned_look } = challenge;
  const { test, improvement } = comparison;
  return {
    challenge_id,
    status,
    recommendation: recommendationOf(challenge),
    champion_mean: test.meanA,
    challenger_mean: test.meanB,
    improvement_pct: improvement,
    p_value: p,
    is_significant: p < ALPHA,
    p_value_method: method,
    p_value_fixed: test.p,
    confidence_interval: intervalOf(comparison),
    raw: { champion_mean: comparison.champion.mean, challenger_mean: comparison.challenger.mean },
    criteria: criteriaOf(challenge, comparison, p),
    conditions: conditionsOf(challenge, deps.clock.now()),
    champion_version,
    challenger_version,
    champion_trades: champion,
    challenger_trades: challenger,
    open_trades: totalOf(challenge.stages, 'open'),
    errors: totalOf(challenge.stages, 'errors'),
    unrealised: {
      champion: unrealised(challenge, 'champion'),
      challenger: unrealised(challenge, 'challenger'),
    },
    analysis_unit: challenge.analysis_unit,
    clusters: clustersOf(challenge),
    assignments: totalOf(challenge.stages, 'assigned'),
    min_trades,
    effective_min_trades: challenge.effective_min_trades,
    srm: sampleRatio(challenge),
    planned_look,
    canary_stage: currentStage(challenge).canary_stage,
    traffic_split: trafficSplit(challenge),
    warnings: warningsOn(challenge, comparison),
    ...prospects(comparison),
    evaluated_at: isoTime(deps.clock.now()),
  };
}

/** Recommendation from the stored state. Reading it changes no decision. */
export function recommendationOf({
  status,
  outcome,
}: StoredChallenge): ChallengeEvaluation['recommendation'] {
  if (status === 'active') return 'CONTINUE';
  if (status === 'rolled_back') return 'ROLLBACK';
  const isBetter = outcome === 'challenger_wins' || outcome === 'promoted_manually';
  return isBetter ? 'PROMOTE_CHALLENGER' : 'KEEP_CHAMPION';
}

function unrealised({ stages }: StoredChallenge, variant: Variant) {
  const open = stages.reduce((count, stage) => count + stage[variant].open, 0);
  const marks = stages.flatMap((stage) => stage[variant].marked ?? []);
  const marked = marks.reduce((total, { count }) => total + count, 0);
  const [sum] = marks.reduce((total, mark) => plus(total, mark.sum), ZERO);
  return { open, marked, mean_pct: marked > 0 ? sum / marked : null };
}

function criteriaOf(
  challenge: StoredChallenge,
  { improvement }: VariantComparison,
  p: number,
): ChallengeEvaluation['criteria'] {
  const { champion, challenger } = closedTrades(challenge);
  const trades = Math.min(champion, challenger);
  const minTrades = challenge.effective_min_trades;
  const clusters = clustersOf(challenge);
  return [
    criterion('p_value', '<', ALPHA, p),
    criterion('improvement_pct', '>', MIN_IMPROVEMENT, improvement),
    criterion('min_trades', '>=', minTrades, trades),
    ...(clusters
      ? [criterion('min_clusters', '>=', MIN_CLUSTERS, Math.min(clusters.champion, clusters.challenger))]
      : []),
    criterion('open_trade_gap', '<=', MAX_OPEN_TRADE_IMBALANCE, openTradeImbalance(challenge)),
  ];
}

const PASSES = {
  '<': (value: number, threshold: number) => value < threshold,
  '>': (value: number, threshold: number) => value > threshold,
  '<=': (value: number, threshold: number) => value <= threshold,
  '>=': (value: number, threshold: number) => value >= threshold,
};

function criterion(name: string, operator: keyof typeof PASSES, threshold: number, value: number) {
  return { name, operator, threshold, value, passed: PASSES[operator](value, threshold) };
}

function warningsOn(challenge: StoredChallenge, comparison: VariantComparison): string[] {
  const { test, degenerate } = comparison;
  const warnings: Record<string, boolean> = {
    'DEGENERATE_VARIANCE: the trades of each variant have zero variance': degenerate,
    'baseline_near_zero: the mean of the champion is within its error of 0, so the percentage is not meaningful':
      Math.abs(test.meanA) < test.errorA,
    'sample_ratio_mismatch: assignments do not match the traffic split':
      sampleRatio(challenge).status === 'mismatch',
    'unrealised: with the open trades at their mark prices the verdict of the closed trades does not hold':
      verdictOn(challenge, comparison) !== undefined && finalVerdictOn(challenge) === undefined,
    'open_trades: the variants differ in their share of open trades':
      openTradeImbalance(challenge) > MAX_OPEN_TRADE_IMBALANCE,
    [`misassigned: ${challenge.misassigned} trades were traded by the other variant and do not count`]:
      challenge.misassigned > 0,
    [`unassigned: ${challenge.unassigned} trades have no key that was assigned before and do not count`]:
      challenge.unassigned > 0,
    // After the end late trades are expected.
    [`late: ${challenge.late} trades were opened before the start of the challenge and do not count`]:
      challenge.status === 'active' && challenge.late > 0,
    [`dependent_trades: ${challenge.keys_with_several_trades} keys have several, correlated trades: set analysis_unit assignment_key`]:
      challenge.analysis_unit === 'trade' && challenge.keys_with_several_trades > 0,
  };
  return [...challenge.warnings, ...Object.keys(warnings).filter((warning) => warnings[warning])];
}

/** Minimum detectable effect at the current number of trades, and the trades needed to detect the minimum improvement. */
function prospects({ champion, challenger, test }: VariantComparison) {
  const baseline = Math.abs(test.meanA);
  const known = test.usedStages > 0 && baseline > 1e-9;
  const detectable = (100 * minimumDetectableEffect(champion, challenger)) / baseline;
  const effect = (MIN_IMPROVEMENT / 100) * baseline;
  return {
    minimum_detectable_improvement_pct: known ? finite(detectable) : null,
    trades_needed: known ? finite(tradesNeeded(champion.variance, challenger.variance, effect)) : null,
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
