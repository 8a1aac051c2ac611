import { expect, it } from 'vitest';
import { activityMetrics } from '#engine/metrics/metrics.ts';
import { columnsOf, curve, START, trade } from './samples.ts';

it('activityMetrics counts durations, streaks, exposure and volume', () => {
  const lasting = (minutes: number) => ({ openedAt: START, closedAt: START + minutes * 60_000 });
  const trades = [
    trade(10, 1, { ...lasting(60), leverage: 2, stake: 50 }),
    trade(5, 1, lasting(20)),
    trade(-5, 1, lasting(0)),
    trade(0, 1, lasting(30)),
    trade(-1, 1, { ...lasting(90), leftOpen: true, leverage: 3, fees: 7 }),
    trade(2, 1, lasting(40)),
  ];
  const activity = activityMetrics(columnsOf(trades), curve([1, 1, 1, 1], 1, START, [0, 1, 3, 0]), 4);
  expect(activity).toMatchObject({
    trades_per_day: 1.5,
    exposure_pct: 50,
    avg_open_trades: 1,
    max_open_trades: 3,
    min_duration_minutes: 0,
    max_duration_minutes: 90,
    avg_duration_winners_minutes: 40,
    avg_duration_losers_minutes: 45,
    max_consecutive_wins: 2,
    // A draw counts as a loss here.
    max_consecutive_losses: 3,
    same_candle_trades: 1,
    left_open_trades: 1,
    total_volume: 6 * 100 + (110 + 105 + 95 + 100 + 99 + 102) + 7,
  });
  expect(activity.avg_stake).toBeCloseTo(550 / 6, 12);
  expect(activity.avg_leverage).toBeCloseTo(9 / 6, 12);
});

it('activityMetrics returns null averages without trades', () => {
  expect(activityMetrics(columnsOf([]), curve([1, 1]), 1)).toEqual({
    trades_per_day: 0,
    exposure_pct: 0,
    avg_open_trades: 0,
    max_open_trades: 0,
    min_duration_minutes: null,
    max_duration_minutes: null,
    avg_duration_winners_minutes: null,
    avg_duration_losers_minutes: null,
    max_consecutive_wins: 0,
    max_consecutive_losses: 0,
    same_candle_trades: 0,
    left_open_trades: 0,
    avg_stake: null,
    avg_leverage: null,
    total_volume: 0,
  });
});
