import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawdownPeriods, drawdownSeries } from '#engine/metrics/equity-curve.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';

const VALUES = [900, 1000, 1200, 1080, 1140, 1200, 1300, 1170];

describe('drawdown', () => {
  it('drawdownOf returns the largest drawdown with its peak and low', () => {
    expect(drawdownOf(1000, VALUES)).toEqual({
      amount: 130,
      ratioAtAmount: 0.1,
      ratio: 0.1,
      peakRow: -1,
      lowRow: 0,
    });
  });

  it('drawdownOf uses the last row of a repeated peak', () => {
    expect(drawdownOf(10, [12, 11, 12, 9])).toMatchObject({ peakRow: 2, lowRow: 3, ratio: 0.25 });
  });

  it('drawdownOf equals the maximum over all rows exactly', () => {
    const balance = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.double({ min: 0.1, max: 12, noNaN: true }));
    fc.assert(
      fc.property(fc.array(balance), (balances) => {
        let worst = { amount: 0, ratioAtAmount: 0, ratio: 0, peakRow: -1, lowRow: -1 };
        balances.forEach((value, lowRow) => {
          const series = [10, ...balances.slice(0, lowRow + 1)];
          const peak = Math.max(...series);
          const amount = peak - value;
          const ratio = amount / peak;
          if (amount > worst.amount) worst = { ...worst, amount, ratioAtAmount: ratio };
          if (ratio > worst.ratio) worst = { ...worst, ratio, peakRow: series.lastIndexOf(peak) - 1, lowRow };
        });
        expect(drawdownOf(10, balances)).toEqual(worst);
      }),
      { numRuns: 500 },
    );
  });

  it('drawdownSeries is never positive, and its minimum is the largest relative drawdown', () => {
    const series = drawdownSeries(1000, Float64Array.from(VALUES));
    [-10, 0, 0, -10, -5, 0, 0, -10].forEach((value, row) => {
      expect(series[row]).toBeCloseTo(value, 12);
    });
    expect(-Math.min(...series)).toBe(drawdownOf(1000, VALUES).ratio * 100);
  });

  it('drawdownPeriods end when the peak is reached again, or never', () => {
    const periods = drawdownPeriods(1000, VALUES);
    expect(
      periods.map(({ peakRow, lowRow, recoveryRow, amount }) => [peakRow, lowRow, recoveryRow, amount]),
    ).toEqual([
      [-1, 0, 1, 100],
      [2, 3, 5, 120],
      [6, 7, null, 130],
    ]);
  });

  it('drawdown of a growing account is 0 without periods', () => {
    expect(drawdownOf(10, [10, 11, 11, 12])).toMatchObject({ amount: 0, ratio: 0, lowRow: -1 });
    expect(drawdownPeriods(10, [10, 11, 11, 12])).toEqual([]);
  });
});
