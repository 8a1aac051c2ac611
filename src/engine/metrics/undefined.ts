import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { UndefinedMetrics, UndefinedReason } from '#contract/values/undefined-metrics.ts';

/** Reasons of metrics that depend on trades, in a run that has some. */
const OF_TRADES: Readonly<Record<string, UndefinedReason>> = {
  profit_factor: 'no_losses',
  expectancy_ratio: 'no_losses',
  sqn: 'equal_trades',
  p_value: 'equal_trades',
  closed_trade_sharpe_ratio: 'equal_trades',
  closed_trade_sortino_ratio: 'equal_losses',
  closed_trade_calmar_ratio: 'no_drawdown',
  avg_duration_winners_minutes: 'no_wins',
  avg_duration_losers_minutes: 'no_losses',
};

const OF_EQUITY: Readonly<Record<string, UndefinedReason>> = {
  sharpe_ratio: 'equal_days',
  sortino_ratio: 'no_losing_day',
  freqtrade_sortino_ratio: 'equal_losing_days',
  freqtrade_calmar_ratio: 'no_drawdown',
};

/** Every metric that is null, with its reason. */
export function undefinedMetrics(metrics: Metrics): UndefinedMetrics {
  const { account, equity, closed_trades, activity } = metrics;
  const growth: UndefinedReason = account.final_balance <= 0 ? 'balance_lost' : 'under_30_days';
  const isIdle = closed_trades.total_trades === 0;
  const ofTrades = (name: string) => (isIdle ? 'no_trades' : (OF_TRADES[name] ?? 'too_few_values'));
  return {
    ...reasonsOf(account, (name) => (name === 'cagr_pct' ? growth : 'too_few_values')),
    ...reasonsOf(equity, (name) => {
      if (isIdle) return 'no_trades';
      if (name === 'calmar_ratio') return account.cagr_pct === null ? growth : 'no_drawdown';
      return OF_EQUITY[name] ?? 'too_few_values';
    }),
    ...reasonsOf(closed_trades, ofTrades),
    ...reasonsOf(activity, (name) =>
      // A run of one candle has no candle that can end with a trade.
      name === 'exposure_pct' || name === 'avg_open_trades' ? 'too_few_values' : ofTrades(name),
    ),
  };
}

function reasonsOf(family: object, reasonOf: (name: string) => UndefinedReason): UndefinedMetrics {
  const names = Object.entries(family).flatMap(([name, value]) => (value === null ? [name] : []));
  return Object.fromEntries(names.map((name) => [name, reasonOf(name)]));
}
