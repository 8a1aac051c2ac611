import type { BacktestResult } from '#contract/backtest.ts';
import type { EquityData } from '#contract/backtest-api.ts';
import type { FillModel } from '#contract/limits.ts';
import type { FillModelComparison } from '#contract/report.ts';
import type { Metrics } from '#contract/report-metrics.ts';
import { type DailyEquity, drawdownSeries, isoDay, monthOf, periodReturns } from '../metrics/equity-curve.ts';
import type { TradeColumns } from '../metrics/trade-metrics.ts';
import { countFillModelDifferences } from '../simulator/differences.ts';
import type { Simulation } from '../simulator/types.ts';
import { finite, mean, sum, variance } from '../stats/moments.ts';
import { roundNumbers } from './round.ts';
import { profitPct } from './trades.ts';

/** Profit factor of a run with wins and without losses: finite, for comparisons and optimization. */
const PROFIT_FACTOR_WITHOUT_LOSSES = 999;

export function buildResult(metrics: Metrics, trades: TradeColumns): BacktestResult {
  const { account, equity, closed_trades: closed, activity } = metrics;
  const profits = trades.profitRatio.map(profitPct);
  const withoutLosses = closed.winning_trades > 0 ? PROFIT_FACTOR_WITHOUT_LOSSES : 0;
  return roundNumbers({
    total_trades: closed.total_trades,
    winning_trades: closed.winning_trades,
    losing_trades: closed.losing_trades,
    total_profit: account.total_profit,
    total_profit_pct: account.total_profit_pct,
    sharpe_ratio: equity.sharpe_ratio ?? 0,
    profit_factor: closed.profit_factor ?? withoutLosses,
    win_rate: closed.win_rate ?? 0,
    max_drawdown_pct: equity.max_drawdown_pct,
    draws: closed.draws,
    final_balance: account.final_balance,
    sortino_ratio: equity.sortino_ratio,
    calmar_ratio: equity.calmar_ratio,
    cagr_pct: account.cagr_pct,
    expectancy: closed.expectancy,
    sqn: closed.sqn,
    exposure_pct: activity.exposure_pct,
    market_change_pct: account.market_change_pct,
    fees: sum(trades.fees),
    funding: sum(trades.funding),
    trade_stats: {
      n: profits.length,
      mean: finite(mean(profits)),
      variance: finite(variance(profits, 'sample')),
    },
  });
}

/** @param wallet starting balance, quote currency */
export function buildEquityData(wallet: number, daily: DailyEquity): EquityData {
  return roundNumbers({
    dates: Array.from(daily.day, isoDay),
    equity: Array.from(daily.equity),
    drawdown: Array.from(drawdownSeries(wallet, daily.equity)),
    monthly_returns: Object.fromEntries(periodReturns(daily, wallet, monthOf)),
  });
}

/** The fill model that was not used. */
export function alternativeModel(used: FillModel): FillModel {
  return used === 'freqtrade' ? 'conservative' : 'freqtrade';
}

/**
 * Compares the run with its repetition under the other fill model.
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
