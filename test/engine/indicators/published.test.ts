import { expect, it } from 'vitest';
import { ema, linearRegressionSlope, rsi, sma, standardDeviation } from '#engine/indicators/index.ts';

/** ChartSchool's worked example of Wilder's 14-day RSI (prices of QQQQ, four decimals). */
const RSI_PRICES = [
  44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931, 46.0328,
  45.614, 46.282, 46.282, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439, 46.2122, 46.2521, 45.7137, 46.4515,
  45.7835, 45.3548, 44.0288, 44.1783, 44.2181, 44.5672, 43.4205, 42.6628, 43.1314,
];
const RSI_VALUES = [
  70.53, 66.32, 66.55, 69.41, 66.36, 57.97, 62.93, 63.26, 56.06, 62.38, 54.71, 50.42, 39.99, 41.46, 41.87,
  45.46, 37.3, 33.08, 37.77,
];

/** ChartSchool's worked example of the 10-day averages. */
const EMA_PRICES = [
  22.2734, 22.194, 22.0847, 22.1741, 22.184, 22.1344, 22.2337, 22.4323, 22.2436, 22.2933, 22.1542, 22.3926,
  22.3816, 22.6109, 23.3558, 24.0519, 23.753, 23.8324, 23.9516, 23.6338, 23.8225, 23.8722, 23.6537, 23.187,
  23.0976, 23.326, 22.6805, 23.0976, 22.4025, 22.1725,
];
const EMA_VALUES = [
  22.22, 22.21, 22.24, 22.27, 22.33, 22.52, 22.8, 22.97, 23.13, 23.28, 23.34, 23.43, 23.51, 23.54, 23.47,
  23.4, 23.39, 23.26, 23.23, 23.08, 22.92,
];

const rounded = (column: Float64Array, from: number, digits: number) =>
  [...column.subarray(from)].map((value) => Number(value.toFixed(digits)));

it("rsi reproduces ChartSchool's worked example", () => {
  expect(rounded(rsi(Float64Array.from(RSI_PRICES), 14), 14, 2)).toEqual(RSI_VALUES);
});

it("ema and sma reproduce ChartSchool's worked example", () => {
  const prices = Float64Array.from(EMA_PRICES);
  expect(rounded(ema(prices, 10), 9, 2)).toEqual(EMA_VALUES);
  expect(rounded(sma(prices, 10).subarray(0, 12), 9, 2)).toEqual([22.22, 22.21, 22.23]);
});

it('standardDeviation and linearRegressionSlope reproduce the Tulip test collection', () => {
  const values = Float64Array.of(100, 101, 102, 107, 115, 123, 100, 92, 99, 58, 150);
  expect(rounded(standardDeviation(values, 3), 2, 8)).toEqual([
    0.81649658, 2.62466929, 5.35412613, 6.53197265, 9.53356643, 13.1402689, 3.55902608, 17.90716802,
    37.63272807,
  ]);
  expect(rounded(linearRegressionSlope(Float64Array.of(6, 7, 8, 9, 10, 11), 5), 4, 12)).toEqual([1, 1]);
});
