import { describe, expect, it } from 'vitest';
import { dailyEquity, dailyReturns, monthOf, periodReturns } from '#engine/metrics/daily.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { curve, START } from './samples.ts';

describe('dailyEquity', () => {
  it('begins with the day of the first candle, though the curve begins one candle later', () => {
    const daily = dailyEquity(curve([1010, 1020], DAY_MS, START + DAY_MS), 1000, START);
    expect([...daily.day]).toEqual([START, START + DAY_MS, START + 2 * DAY_MS]);
    expect([...daily.equity]).toEqual([1000, 1010, 1020]);
  });

  it('a day without candles keeps the equity of the day before', () => {
    const daily = dailyEquity(curve([1010, 1020], 3 * DAY_MS), 1000, START);
    expect([...daily.equity]).toEqual([1010, 1010, 1010, 1020]);
  });

  it('a curve without rows is one day with the wallet', () => {
    expect([...dailyEquity(curve([]), 1000, START).equity]).toEqual([1000]);
  });
});

describe('dailyReturns', () => {
  it('n days give n returns, the first against the wallet', () => {
    const returns = dailyReturns(1000, Float64Array.of(1100, 1100, 550));
    expect(returns).toHaveLength(3);
    expect(returns[0]).toBeCloseTo(0.1, 12);
    expect([...returns.slice(1)]).toEqual([0, -0.5]);
  });

  it('are 0 once nothing is left', () => {
    expect([...dailyReturns(1000, Float64Array.of(0, 0))]).toEqual([-1, 0]);
  });
});

it('periodReturns compounds days by key', () => {
  const day = Float64Array.from({ length: 3 }, (_, i) => Date.UTC(2024, 0, 30) + i * DAY_MS);
  const returns = periodReturns(day, Float64Array.of(0.1, 0.1, -0.5), monthOf);
  expect([...returns.keys()]).toEqual(['2024-01', '2024-02']);
  expect(returns.get('2024-01')).toBeCloseTo(21, 12);
  expect(returns.get('2024-02')).toBeCloseTo(-50, 12);
});
