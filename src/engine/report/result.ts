import type { BacktestResult } from '#contract/backtest.ts';
import type { Metrics } from '#contract/report-metrics.ts';
import type { TradeColumns } from '#engine/metrics/trade-columns.ts';
import { finite, mean, sum, variance } from '#engine/stats/moments.ts';
import { roundNumbers } from './round.ts';
import { profitPct } from './trades.ts';

/** Profit factor of a run that has won and never lost: finite, so that it can be compared and optimised. */
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
