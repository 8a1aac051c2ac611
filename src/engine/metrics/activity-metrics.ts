import type { ActivityMetrics } from '#contract/report-metrics.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { finite, largest, mean, ratio, smallest, sum } from '../stats/moments.ts';
import type { TradeColumns } from './trade-columns.ts';

/**
 * @param trades in the order of closing
 * @param days whole days of the run, at least 1
 */
export function activityMetrics(trades: TradeColumns, curve: EquityCurve, days: number): ActivityMetrics {
  const { profit, minutes } = trades;
  return {
    trades_per_day: profit.length / days,
    ...timeInMarket(curve),
    min_duration_minutes: finite(smallest(minutes)),
    max_duration_minutes: finite(largest(minutes)),
    ...averageDurations(trades),
    max_consecutive_wins: longestRun(profit, (each) => each > 0),
    max_consecutive_losses: longestRun(profit, (each) => each <= 0),
    same_candle_trades: minutes.filter((each) => each === 0).length,
    left_open_trades: sum(trades.leftOpen),
    avg_stake: finite(mean(trades.stake)),
    avg_leverage: finite(mean(trades.leverage)),
    total_volume: sum(trades.volume) + sum(trades.fees),
  };
}

function averageDurations({ profit, minutes }: TradeColumns) {
  let [won, wins, lost, losses] = [0, 0, 0, 0];
  for (let row = 0, { length } = profit; row < length; row++) {
    if (profit[row]! > 0) {
      won += minutes[row]!;
      wins++;
    } else if (profit[row]! < 0) {
      lost += minutes[row]!;
      losses++;
    }
  }
  return {
    avg_duration_winners_minutes: ratio(won, wins),
    avg_duration_losers_minutes: ratio(lost, losses),
  };
}

function timeInMarket(curve: EquityCurve) {
  const { openTrades } = curve;
  let candles = 0;
  let total = 0;
  let most = 0;
  for (let row = 0, { length } = openTrades; row < length; row++) {
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

function longestRun(profits: Float64Array, counts: (profit: number) => boolean): number {
  let longest = 0;
  let run = 0;
  for (let row = 0, { length } = profits; row < length; row++) {
    run = counts(profits[row]!) ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}
