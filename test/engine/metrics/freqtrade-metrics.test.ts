import { expect, it } from 'vitest';
import { computeMetrics } from '#engine/metrics/metrics.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { pairsOf, settingsOf, VECTORS } from '../simulator/vectors.ts';

/** Closed-trade metrics by freqtrade's names, with percentages as ratios. */
function metricsOf(vector: (typeof VECTORS)[number]): Record<string, number | null> {
  const pairs = pairsOf(vector);
  const settings = settingsOf(vector);
  const run = simulate(pairs, settings);
  const times = pairs.map(({ candles }) => candles.timestamp);
  const changes = pairs.map(({ candles: { close } }) => close.at(-1)! / close[0]! - 1);
  const { metrics, length } = computeMetrics({
    trades: run.table,
    curve: run.curve!,
    finalBalance: run.finalBalance,
    wallet: settings.startingBalance,
    firstCandle: Math.min(...times.map((each) => each[0]!)),
    lastCandle: Math.max(...times.map((each) => each.at(-1)!)),
    timeframeMs: settings.timeframeMs,
    marketChangePct: (changes.reduce((sum, each) => sum + each, 0) / changes.length) * 100,
  });
  const { account, closed_trades, activity } = metrics;
  return {
    total_trades: closed_trades.total_trades,
    profit_total_abs: account.total_profit,
    profit_mean: closed_trades.profit_mean_pct! / 100,
    profit_median: closed_trades.profit_median_pct! / 100,
    final_balance: account.final_balance,
    // freqtrade has these numbers where a value is undefined.
    sharpe: closed_trades.closed_trade_sharpe_ratio ?? -100,
    sortino: closed_trades.closed_trade_sortino_ratio ?? -100,
    calmar: closed_trades.closed_trade_calmar_ratio ?? -100,
    // freqtrade rounds this value.
    sqn: Number(closed_trades.sqn!.toFixed(4)),
    p_value: closed_trades.p_value,
    profit_factor: closed_trades.profit_factor ?? 0,
    expectancy: closed_trades.expectancy,
    expectancy_ratio: closed_trades.expectancy_ratio ?? 100,
    winrate: closed_trades.win_rate! / 100,
    wins: closed_trades.winning_trades,
    losses: closed_trades.losing_trades,
    draws: closed_trades.draws,
    max_drawdown_abs: closed_trades.closed_trade_max_drawdown_abs,
    max_drawdown_account: closed_trades.closed_trade_max_drawdown_pct / 100,
    max_relative_drawdown: closed_trades.closed_trade_max_relative_drawdown_pct / 100,
    csum_min: closed_trades.lowest_closed_balance,
    csum_max: closed_trades.highest_closed_balance,
    total_volume: activity.total_volume,
    avg_stake_amount: activity.avg_stake,
    market_change: account.market_change_pct! / 100,
    backtest_days: length.wholeDays,
  };
}

/** freqtrade computes these with whole days; ours are headline figures, with the days as they are. */
const OF_WHOLE_DAYS = ['cagr', 'trades_per_day'];

it.each(VECTORS.filter(({ expected }) => expected.metrics))(
  'metrics of closed trades equal those of freqtrade 2026.9: $id',
  (vector) => {
    const ours = metricsOf(vector);
    const { startingBalance } = settingsOf(vector);
    const theirs = Object.entries(vector.expected.metrics!).map(([name, value]): [string, number] => {
      // The start is a balance of a run, too.
      if (name === 'csum_min') return [name, Math.min(value, startingBalance)];
      return [name, name === 'csum_max' ? Math.max(value, startingBalance) : value];
    });
    expect(theirs.map(([name]) => name).filter((name) => !(name in ours))).toEqual(OF_WHOLE_DAYS);
    for (const [name, value] of theirs.filter(([name]) => name in ours))
      expect([name, ours[name]]).toEqual([name, expect.closeTo(value, 7)]);
  },
);
