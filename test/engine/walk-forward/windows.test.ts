import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#engine/timeframe.ts';
import { createWindowCache } from '#engine/walk-forward/window-cache.ts';
import { planWindows } from '#engine/walk-forward/windows.ts';

const START = Date.UTC(2024, 0, 1);
const PERIODS = { train_period_days: 30, backtest_period_days: 7 };

describe('windows of a range', () => {
  it('follow on each other and learn from the days before', () => {
    const windows = planWindows(START, START + 17 * DAY_MS, PERIODS);
    expect(windows.map(({ from, to }) => [(from - START) / DAY_MS, (to - START) / DAY_MS])).toEqual([
      [0, 7],
      [7, 14],
      [14, 17],
    ]);
    expect(windows.map(({ index, trainFrom, from }) => [index, (from - trainFrom) / DAY_MS])).toEqual([
      [0, 30],
      [1, 30],
      [2, 30],
    ]);
  });

  it('of a longer range begin with those of the shorter', () => {
    const long = planWindows(START, START + 70 * DAY_MS, PERIODS);
    expect(long).toHaveLength(10);
    expect(long.slice(0, 2)).toEqual(planWindows(START, START + 14 * DAY_MS, PERIODS));
  });
});

describe('the cache of a study', () => {
  const bytes = (text: string) => text.length;

  it('makes a value once and keeps it', () => {
    const cache = createWindowCache(10);
    let made = 0;
    const make = () => `v${made++}`;
    expect([cache.get('a', make, bytes), cache.get('a', make, bytes)]).toEqual(['v0', 'v0']);
  });

  it('drops what was used longest ago when it holds too much', () => {
    const cache = createWindowCache(10);
    let made = 0;
    const get = (key: string) => cache.get(key, () => `${key}${made++}`.padEnd(4), bytes);
    for (const key of ['a', 'b', 'a', 'c', 'a']) get(key);
    expect(made).toBe(3);
    get('b');
    expect(made).toBe(4);
  });

  it('answers with what is larger than itself, too', () => {
    const cache = createWindowCache(1);
    expect(cache.get('a', () => 'long', bytes)).toBe('long');
  });
});
