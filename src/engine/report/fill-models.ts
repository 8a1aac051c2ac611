import type { FillModel } from '#contract/limits.ts';
import type { FillModelComparison } from '#contract/report.ts';
import { countFillModelDifferences } from '#engine/simulator/differences.ts';
import type { Simulation } from '#engine/simulator/types.ts';

/** The other fill model. */
export function alternativeModel(used: FillModel): FillModel {
  return used === 'freqtrade' ? 'conservative' : 'freqtrade';
}

/**
 * Compares the run with the same run under the other fill model.
 *
 * @param wallet starting balance, quote currency
 */
export function compareFillModels(
  used: FillModel,
  run: Simulation,
  other: Simulation,
  wallet: number,
): FillModelComparison {
  let profit = 0;
  for (let row = 0; row < other.outcomes.length; row++) profit += other.outcomes.at(row).profit;
  return {
    used,
    alternative: alternativeModel(used),
    differing_trades: countFillModelDifferences(run, other),
    alternative_trades: other.outcomes.length,
    alternative_total_profit: profit,
    alternative_total_profit_pct: (profit / wallet) * 100,
  };
}
