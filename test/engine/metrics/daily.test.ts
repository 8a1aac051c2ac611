import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { dailyEquity, dailyReturns, monthOf, periodReturns } from '#engine/metrics/equity-curve.ts';
import { curve, START } from './samples.ts';

describe('dailyEquity', () => {
  it('dailyEquity starts on the day of the first candle with the wallet', () => {
    const daily = dailyEquity(curve([1010, 1020], DAY_MS, START + DAY_MS), 1000, START);
    expect([...daily.day]).toEqual([START, START + DAY_MS, START + 2 * DAY_MS]);
    expect([...daily.equity]).toEqual([1000, 1010, 1020]);
  });

  it('dailyEquity carries the equity over days without candles', () => {
    const daily = dailyEquity(curve([1010, 1020], 3 * DAY_MS), 1000, START);
    expect([...daily.equity]).toEqual([1010, 1010, 1010, 1020]);
  });

  it('dailyEquity of an empty curve is one day with the wallet', () => {
    expect([...dailyEquity(curve([]), 1000, START).equity]).toEqual([1000]);
  });
});

describe('dailyReturns', () => {
  it('dailyReturns returns one value per day, the first relative to the wallet', () => {
    const returns = dailyReturns(1000, Float64Array.of(1100, 1100, 550));
    expect(returns).toHaveLength(3);
    expect(returns[0]).toBeCloseTo(0.1, 12);
    expect([...returns.slice(1)]).toEqual([0, -0.5]);
  });

  it('dailyReturns is 0 after a total loss', () => {
    expect([...dailyReturns(1000, Float64Array.of(0, 0))]).toEqual([-1, 0]);
  });
});

describe('periodReturns', () => {
  const daysOf = (equity: readonly number[]) => ({
    day: Float64Array.from(equity, (_, i) => Date.UTC(2024, 0, 30) + i * DAY_MS),
    equity: Float64Array.from(equity),
  });

  it('periodReturns divides each period end by the previous one, the first by the wallet', () => {
    const returns = periodReturns(daysOf([1100, 1210, 605]), 1000, monthOf);
    expect([...returns.keys()]).toEqual(['2024-01', '2024-02']);
    expect(returns.get('2024-01')).toBeCloseTo(21, 12);
    expect(returns.get('2024-02')).toBeCloseTo(-50, 12);
  });

  it('periodReturns handles equity below 0 within a period', () => {
    // January ends at 1000. February falls to -200 and 0 and ends at 1500. March ends at 0.
    const year = [1000, 1000, -200, 0, ...Array.from({ length: 27 }, () => 1500), ...Array(31).fill(0), 50];
    const returns = periodReturns(daysOf(year), 1000, monthOf);
    expect([...returns]).toEqual([
      ['2024-01', 0],
      ['2024-02', 50],
      ['2024-03', -100],
      ['2024-04', 0],
    ]);
  });

  it('periodReturns compounds nonadjacent days', () => {
    const odd = (day: number) => ((day / DAY_MS) % 2 === 0 ? 'even' : 'odd');
    const returns = periodReturns(daysOf([1100, 550, 605, 1210]), 1000, odd);
    expect([...returns.values()].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([21, 0]);
  });
});
