import type { StoredChallenge, StoredEvaluation } from '#contract/registry/stored-challenge.ts';
import { roundNumbers } from '#engine/round.ts';
import { alwaysValidHalfWidth } from '#engine/stats/always-valid.ts';
import type { ChallengeChange } from '../transitions/registry-store.ts';
import { closedTrades, currentStage, type Progress, profitOf, trafficSplit } from './challenge-state.ts';
import { compareVariants, currentP, type VariantComparison } from './compare-variants.ts';

/** The change to store, with an evaluation when one is due; null when the challenge is unchanged. */
export function changeOf(
  before: StoredChallenge,
  { challenge, events: all }: Progress,
  at: string,
): ChallengeChange | null {
  if (challenge === before) return null;
  const events = all.map((event) => (event.at === at ? event : { ...event, written_at: at }));
  const written = { ...challenge, revision: before.revision + 1, updated_at: at };
  if (!isEvaluationDue(before, challenge)) return { before, after: written, events };
  const after = {
    ...written,
    evaluations: challenge.evaluations + 1,
    evaluated_trades: countTrades(challenge),
  };
  return { before, after, events, evaluation: evaluationOf(after, at) };
}

/**
 * True when the stage or the status has changed, or when the closed trades have increased by 1 % (at least by one) since the
 * last evaluation. So a challenge of 10,000 trades stores about 600 evaluations, and one of a million about 1,100.
 */
function isEvaluationDue(before: StoredChallenge, after: StoredChallenge): boolean {
  if (before.status !== after.status || before.stages.length !== after.stages.length) return true;
  const trades = countTrades(after);
  return trades - after.evaluated_trades >= Math.max(1, Math.floor(trades / 100));
}

function countTrades(challenge: StoredChallenge): number {
  const { champion, challenger } = closedTrades(challenge);
  return champion + challenger;
}

/** How the variants compare at a time, from the totals of the stages, to 12 significant digits. */
export function evaluationOf(challenge: StoredChallenge, at: string): StoredEvaluation {
  const comparison = compareVariants(challenge);
  const { p, method } = currentP(challenge, comparison);
  const { champion, challenger } = closedTrades(challenge);
  return roundNumbers({
    schema_version: 1 as const,
    challenge_id: challenge.challenge_id,
    sequence: challenge.evaluations,
    evaluated_at: at,
    status: challenge.status,
    canary_stage: currentStage(challenge).canary_stage,
    traffic_split: trafficSplit(challenge),
    champion_trades: champion,
    challenger_trades: challenger,
    difference: comparison.test.difference,
    confidence_interval: intervalOf(comparison),
    improvement_pct: comparison.improvement,
    p_value: p,
    p_value_method: method,
    equity: { champion: profitOf(challenge, 'champion'), challenger: profitOf(challenge, 'challenger') },
  });
}

/** 95 % confidence sequence of the difference of the means; null without data. */
export function intervalOf({ test, sample }: VariantComparison): number[] | null {
  const half = alwaysValidHalfWidth(sample);
  return Number.isFinite(half) ? [test.difference - half, test.difference + half] : null;
}
