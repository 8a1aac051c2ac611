import { expect } from 'vitest';
import {
  bollinger,
  highest,
  linearRegressionSlope,
  lowest,
  rollingSum,
  sma,
  standardDeviation,
  wma,
  zScore,
} from '#engine/indicators/index.ts';
import { marketCandles } from './market.ts';
import { twoPassDeviation, worstError } from './reference.ts';

export const LIMIT = 1e-12;
export const candles = marketCandles(11, 20_000);
const { high, low, close, volume } = candles;

/** `measure` of every full window, NaN before. */
export function perWindow(
  values: Float64Array,
  period: number,
  measure: (window: Float64Array, row: number) => number,
): Float64Array {
  return values.map((_, row) =>
    row < period - 1 ? Number.NaN : measure(values.subarray(row - period + 1, row + 1), row),
  );
}

export const total = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0);

/** Sums, means and extremes of each window equal their definitions. */
export function expectExactSums(period: number): void {
  const weights = (period * (period + 1)) / 2;
  const expected: [Float64Array, Float64Array][] = [
    [sma(close, period), perWindow(close, period, (window) => total(window) / period)],
    [
      wma(close, period),
      perWindow(close, period, (window) => total(window.map((value, k) => value * (k + 1))) / weights),
    ],
    [rollingSum(volume, period), perWindow(volume, period, (window) => total(window))],
    [highest(high, period), perWindow(high, period, (window) => Math.max(...window))],
    [lowest(low, period), perWindow(low, period, (window) => Math.min(...window))],
  ];
  for (const [actual, reference] of expected) expect(worstError(actual, reference)).toBeLessThan(LIMIT);
}

/** Deviations, bands, scores and slopes of each window equal their definitions. */
export function expectExactMoments(period: number): void {
  const { mean, deviation } = twoPassDeviation(close, period);
  expect(worstError(standardDeviation(close, period), deviation)).toBeLessThan(LIMIT);
  const bands = bollinger(close, period, 2.5);
  expect(worstError(bands.middle, mean)).toBeLessThan(LIMIT);
  const upper = mean.map((value, row) => value + 2.5 * deviation[row]!);
  const lower = mean.map((value, row) => value - 2.5 * deviation[row]!);
  expect(worstError(bands.upper, upper, mean)).toBeLessThan(LIMIT);
  // Relative to the price: a wide lower band can cross zero.
  expect(worstError(bands.lower, lower, mean)).toBeLessThan(LIMIT);
  const score = close.map((value, row) => (value - mean[row]!) / deviation[row]!);
  // Scores near zero are differences of nearly equal prices, so the error is relative to at least one deviation.
  expect(
    worstError(
      zScore(close, period),
      score,
      score.map((value) => Math.max(1, Math.abs(value))),
    ),
  ).toBeLessThan(LIMIT);
  const centre = (period - 1) / 2;
  const spread = total(Array.from({ length: period }, (_, k) => (k - centre) ** 2));
  const slope = perWindow(close, period, (window, row) => {
    const offsets = window.map((value, k) => (k - centre) * (value - mean[row]!));
    return total(offsets) / spread;
  });
  expect(worstError(linearRegressionSlope(close, period), slope, deviation)).toBeLessThan(LIMIT);
}
