import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { SlippageModel } from '#contract/config/slippage-model.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { IMPACT_DAYS } from '#contract/values/slippage-limits.ts';

/** Coefficient of the impact by which a capacity is measured, for a run without an impact. */
const DEFAULT_IMPACT = 1;

export function impactCoefficient(model: ResolvedBacktestConfig['slippage_model']): number {
  return model?.impact ?? DEFAULT_IMPACT;
}

/** The model of a run by which its capacity is measured: with an impact. Undefined for a run that measures none. */
export function capacityModel({
  slippage_model: model,
  robustness,
}: Pick<ResolvedBacktestConfig, 'slippage_model' | 'robustness'>): SlippageModel | undefined {
  return robustness?.capacity && { ...model, impact: impactCoefficient(model) };
}

/** `from` (ms), or the earlier time from which the slippage model of a run, or its capacity, needs candles. */
export function withCostDays(
  config: Pick<ResolvedBacktestConfig, 'slippage_model' | 'robustness' | 'date_range'>,
  from: number,
): number {
  const { date_range } = config;
  const model = capacityModel(config) ?? config.slippage_model;
  if (!model) return from;
  // One day more: a return and an estimate of two days need the day before.
  const days = 1 + Math.max(model.spread_days ?? 0, model.impact === undefined ? 0 : IMPACT_DAYS);
  const needed = model.spread || model.impact !== undefined ? days : 0;
  return Math.min(from, (Math.floor(Date.parse(date_range.start) / DAY_MS) - needed) * DAY_MS);
}
