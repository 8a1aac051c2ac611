import type { EquityMetrics } from '#contract/report-metrics.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { deviation, finite, mean, ratio, sum } from '../stats/moments.ts';
import { type DailyEquity, dailyReturns } from './daily.ts';
import { type Drawdown, drawdownOf, drawdownPeriods } from './drawdown.ts';

const YEAR_ROOT = Math.sqrt(365);

/** What the equity metrics need to know of the whole run. */
export interface EquityContext {
  readonly wallet: number;
  /** Of the equity at the close of every candle. */
  readonly candleDrawdown: Drawdown;
  readonly days: number;
  readonly totalProfitPct: number;
  readonly cagrPct: number | null;
}

export function equityMetrics(curve: EquityCurve, daily: DailyEquity, context: EquityContext): EquityMetrics {
  const returns = dailyReturns(context.wallet, daily.equity);
  const drawdown = drawdownOf(context.wallet, daily.equity);
  const drawdownPct = drawdown.ratio * 100;
  return {
    ...dailyRatios(returns),
    calmar_ratio: ratio((context.totalProfitPct / context.days) * YEAR_ROOT, drawdown.ratio),
    cagr_to_drawdown: context.cagrPct === null ? null : ratio(context.cagrPct, drawdownPct),
    max_drawdown_pct: drawdownPct,
    max_drawdown_abs: drawdown.amount,
    max_drawdown_candle_pct: context.candleDrawdown.ratio * 100,
    max_drawdown_candle_abs: context.candleDrawdown.amount,
    ...timeUnderWater(context.wallet, daily.equity),
    ...extremes(context.wallet, curve.equity),
  };
}

/** Ratios of daily returns (as ratios, not percent): see the definitions of sharpe_ratio and the sortino ratios. */
function dailyRatios(returns: Float64Array) {
  const average = mean(returns);
  const spread = deviation(returns, 'population');
  const negative = returns.filter((each) => each < 0);
  const downside = Math.sqrt(sum(negative.map((each) => each * each)) / returns.length);
  const percent = returns.map((each) => each * 100);
  return {
    sharpe_ratio: ratio(average * YEAR_ROOT, spread),
    sortino_ratio: ratio(average * YEAR_ROOT, deviation(negative, 'population')),
    sortino_ratio_downside: ratio(average * YEAR_ROOT, downside),
    volatility_pct: finite(spread * YEAR_ROOT * 100),
    best_day_pct: returns.length === 0 ? null : percent.reduce((a, b) => Math.max(a, b)),
    worst_day_pct: returns.length === 0 ? null : percent.reduce((a, b) => Math.min(a, b)),
  };
}

function timeUnderWater(wallet: number, equity: Float64Array) {
  let below = 0;
  let longest = 0;
  for (const period of drawdownPeriods(wallet, equity)) {
    const end = period.recoveryRow ?? equity.length;
    below += end - 1 - period.peakRow;
    longest = Math.max(longest, (period.recoveryRow ?? equity.length - 1) - period.peakRow);
  }
  return {
    time_under_water_pct: ratio(below * 100, equity.length),
    longest_drawdown_days: longest,
  };
}

function extremes(wallet: number, equity: Float64Array) {
  let low = wallet;
  let high = wallet;
  for (let row = 0, { length } = equity; row < length; row++) {
    if (equity[row]! < low) low = equity[row]!;
    if (equity[row]! > high) high = equity[row]!;
  }
  return { lowest_equity: low, highest_equity: high };
}
