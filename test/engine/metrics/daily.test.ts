import { describe, expect, it } from 'vitest';
import { dailyEquity, dailyReturns, monthOf, periodReturns } from '#engine/metrics/equity-curve.ts';
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

describe('periodReturns', () => {
  const daysOf = (equity: readonly number[]) => ({
    day: Float64Array.from(equity, (_, i) => Date.UTC(2024, 0, 30) + i * DAY_MS),
    equity: Float64Array.from(equity),
  });

  it('are the end of a period over the end of the one before, the first over the wallet', () => {
    const returns = periodReturns(daysOf([1100, 1210, 605]), 1000, monthOf);
    expect([...returns.keys()]).toEqual(['2024-01', '2024-02']);
    expect(returns.get('2024-01')).toBeCloseTo(21, 12);
    expect(returns.get('2024-02')).toBeCloseTo(-50, 12);
  });

  it('do not mind an equity below 0 in between', () => {
    // January ends at 1000; February falls to -200 and 0, and ends at 1500; nothing is left at the end of March.
    const year = [1000, 1000, -200, 0, ...Array.from({ length: 27 }, () => 1500), ...Array(31).fill(0), 50];
    const returns = periodReturns(daysOf(year), 1000, monthOf);
    expect([...returns]).toEqual([
      ['2024-01', 0],
      ['2024-02', 50],
      ['2024-03', -100],
      ['2024-04', 0],
    ]);
  });

  it('compound days that are apart', () => {
    const odd = (day: number) => ((day / DAY_MS) % 2 === 0 ? 'even' : 'odd');
    const returns = periodReturns(daysOf([1100, 550, 605, 1210]), 1000, odd);
    expect([...returns.values()].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([21, 0]);
  });
});
