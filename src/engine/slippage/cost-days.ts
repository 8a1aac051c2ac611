import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { IMPACT_DAYS } from '#contract/slippage-limits.ts';
import { DAY_MS } from '../timeframe.ts';

/** `from` (ms), or the earlier time from which the slippage model of a run needs candles. */
export function withCostDays(
  { slippage_model: model, date_range }: Pick<ResolvedBacktestConfig, 'slippage_model' | 'date_range'>,
  from: number,
): number {
  if (!model) return from;
  // One day more: a return and an estimate of two days need the day before.
  const days = 1 + Math.max(model.spread_days ?? 0, model.impact === undefined ? 0 : IMPACT_DAYS);
  const needed = model.spread || model.impact !== undefined ? days : 0;
  return Math.min(from, (Math.floor(Date.parse(date_range.start) / DAY_MS) - needed) * DAY_MS);
}
