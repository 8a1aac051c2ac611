import type { EquityCurve, Trade } from '#engine/simulator/types.ts';
import { columnOf, finite, mean, ratio, sum } from './moments.ts';
import { durationMinutes } from './trade-metrics.ts';

/** How, and how much, the run traded. Formulas: {@link METRIC_DEFINITIONS}. */
export interface ActivityMetrics {
  readonly trades_per_day: number;
  readonly exposure_pct: number | null;
  readonly avg_open_trades: number | null;
  readonly max_open_trades: number;
  readonly min_duration_minutes: number | null;
  readonly max_duration_minutes: number | null;
  readonly avg_duration_winners_minutes: number | null;
  readonly avg_duration_losers_minutes: number | null;
  readonly max_consecutive_wins: number;
  readonly max_consecutive_losses: number;
  readonly same_candle_trades: number;
  readonly left_open_trades: number;
  readonly avg_stake: number | null;
  readonly avg_leverage: number | null;
  readonly total_volume: number;
}

/**
 * @param trades in the order of closing
 * @param days whole days of the run, at least 1
 */
export function activityMetrics(trades: readonly Trade[], curve: EquityCurve, days: number): ActivityMetrics {
  const durations = columnOf(trades, durationMinutes).sort();
  const meanDuration = (of: readonly Trade[]) => finite(mean(columnOf(of, durationMinutes)));
  return {
    trades_per_day: trades.length / days,
    ...timeInMarket(curve),
    min_duration_minutes: durations[0] ?? null,
    max_duration_minutes: durations.at(-1) ?? null,
    avg_duration_winners_minutes: meanDuration(trades.filter((trade) => trade.profit > 0)),
    avg_duration_losers_minutes: meanDuration(trades.filter((trade) => trade.profit < 0)),
    max_consecutive_wins: longestRun(trades, (trade) => trade.profit > 0),
    max_consecutive_losses: longestRun(trades, (trade) => trade.profit <= 0),
    same_candle_trades: trades.filter((trade) => trade.openedAt === trade.closedAt).length,
    left_open_trades: trades.filter((trade) => trade.leftOpen).length,
    avg_stake: finite(mean(columnOf(trades, (trade) => trade.stake))),
    avg_leverage: finite(mean(columnOf(trades, (trade) => trade.leverage))),
    total_volume: sum(columnOf(trades, tradedVolume)),
  };
}

/** Quote currency moved by the entry and the exit of a trade, before fees. */
export function tradedVolume(trade: Trade): number {
  return trade.amount * (trade.entryPrice + trade.exitPrice);
}

function timeInMarket(curve: EquityCurve) {
  const { openTrades } = curve;
  let candles = 0;
  let total = 0;
  let most = 0;
  for (let row = 0; row < openTrades.length; row++) {
    const open = openTrades[row]!;
    total += open;
    if (open > 0) candles++;
    if (open > most) most = open;
  }
  return {
    exposure_pct: ratio(candles * 100, openTrades.length),
    avg_open_trades: ratio(total, openTrades.length),
    max_open_trades: most,
  };
}

function longestRun(trades: readonly Trade[], counts: (trade: Trade) => boolean): number {
  let longest = 0;
  let run = 0;
  for (const trade of trades) {
    run = counts(trade) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
