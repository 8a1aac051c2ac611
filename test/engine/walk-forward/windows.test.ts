import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { planWindows } from '#engine/ml/windows.ts';
import { createRandom } from '#engine/random.ts';
import { createWindowCache } from '#engine/walk-forward/trial.ts';
import { contentKey } from '#engine/walk-forward/trial-pair.ts';

const START = Date.UTC(2024, 0, 1);
const PERIODS = { train_period_days: 30, backtest_period_days: 7 };

describe('planWindows', () => {
  it('windows are contiguous and train on the days before each', () => {
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

  it('windows of a longer range start with those of the shorter', () => {
    const long = planWindows(START, START + 70 * DAY_MS, PERIODS);
    expect(long).toHaveLength(10);
    expect(long.slice(0, 2)).toEqual(planWindows(START, START + 14 * DAY_MS, PERIODS));
  });
});

describe('window cache', () => {
  const bytes = (text: string) => text.length;

  it('window cache computes a value once', () => {
    const cache = createWindowCache(10);
    let made = 0;
    const make = () => `v${made++}`;
    expect([cache.get('a', make, bytes), cache.get('a', make, bytes)]).toEqual(['v0', 'v0']);
  });

  it('window cache evicts the least recently used value when full', () => {
    const cache = createWindowCache(10);
    let made = 0;
    const get = (key: string) => cache.get(key, () => `${key}${made++}`.padEnd(4), bytes);
    for (const key of ['a', 'b', 'a', 'c', 'a']) get(key);
    expect(made).toBe(3);
    get('b');
    expect(made).toBe(4);
  });

  it('window cache returns a value larger than its capacity', () => {
    const cache = createWindowCache(1);
    expect(cache.get('a', () => 'long', bytes)).toBe('long');
  });
});

describe('contentKey', () => {
  const matrix = (...columns: number[][]) => ({
    names: columns.map((_, i) => `f${i}`),
    columns: columns.map((column) => Float64Array.from(column)),
    rows: columns[0]!.length,
  });
  const key = contentKey(matrix([1, 2, 3], [4, 5, 6]));

  it('contentKey is equal for equal values at any buffer offset', () => {
    const wide = matrix([0, 1, 2, 3, 9], [0, 4, 5, 6, 9]);
    const part = { ...wide, columns: wide.columns.map((column) => column.subarray(1, 4)), rows: 3 };
    expect(contentKey(part)).toBe(key);
  });

  it.each([
    ['a value changed in its last bit', matrix([1, 2, 3 + 2 ** -51], [4, 5, 6])],
    ['swapped columns', matrix([4, 5, 6], [1, 2, 3])],
    ['swapped rows', matrix([2, 1, 3], [4, 5, 6])],
    ['one column', matrix([1, 2, 3, 4, 5, 6])],
    ['a missing value', matrix([1, 2, Number.NaN], [4, 5, 6])],
    ['other names', { ...matrix([1, 2, 3], [4, 5, 6]), names: ['f1', 'f0'] }],
  ])('contentKey differs for %s', (_, other) => {
    expect(contentKey(other)).not.toBe(key);
  });

  it('contentKey distinguishes columns of zeros and ones', () => {
    const random = createRandom(7);
    const flags = () => Array.from({ length: 100 }, () => Math.round(random()));
    const keys = Array.from({ length: 1000 }, () => contentKey(matrix(flags())));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
