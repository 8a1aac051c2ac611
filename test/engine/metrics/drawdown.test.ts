import { describe, expect, it } from 'vitest';
import { drawdownOf, drawdownPeriods, drawdownSeries } from '#engine/metrics/drawdown.ts';

const VALUES = [900, 1000, 1200, 1080, 1140, 1200, 1300, 1170];

describe('drawdown', () => {
  it('the worst fall and where it is', () => {
    expect(drawdownOf(1000, VALUES)).toEqual({
      amount: 130,
      ratioAtAmount: 0.1,
      ratio: 0.1,
      peakRow: -1,
      lowRow: 0,
    });
  });

  it('a peak that was reached again counts from its last day', () => {
    expect(drawdownOf(10, [12, 11, 12, 9])).toMatchObject({ peakRow: 2, lowRow: 3, ratio: 0.25 });
  });

  it('the series is zero or negative, and its smallest value is the largest share', () => {
    const series = drawdownSeries(1000, Float64Array.from(VALUES));
    [-10, 0, 0, -10, -5, 0, 0, -10].forEach((value, row) => {
      expect(series[row]).toBeCloseTo(value, 12);
    });
    expect(-Math.min(...series)).toBe(drawdownOf(1000, VALUES).ratio * 100);
  });

  it('periods end when the peak is reached again, the last one maybe never', () => {
    const periods = drawdownPeriods(1000, VALUES);
    expect(
      periods.map(({ peakRow, lowRow, recoveryRow, amount }) => [peakRow, lowRow, recoveryRow, amount]),
    ).toEqual([
      [-1, 0, 1, 100],
      [2, 3, 5, 120],
      [6, 7, null, 130],
    ]);
  });

  it('an account that only grows has none', () => {
    expect(drawdownOf(10, [10, 11, 11, 12])).toMatchObject({ amount: 0, ratio: 0, lowRow: -1 });
    expect(drawdownPeriods(10, [10, 11, 11, 12])).toEqual([]);
  });
});
