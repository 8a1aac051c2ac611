import { checkPeriod, firstDefined, linearWindow, outputColumn, warmUp } from './windows.ts';

/**
 * Population standard deviation of the last `period` values (the divisor is `period`, as in TA-Lib). Exactly 0 for
 * equal values. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function standardDeviation(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('standardDeviation', period);
  const result = outputColumn(values.length, out);
  eachWindow(values, period, new Float64Array(values.length), result);
  return result;
}

/**
 * Population variance of the last `period` values. Exactly 0 for equal values. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function variance(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('variance', period);
  const result = standardDeviation(values, period, out);
  for (let row = 0, { length } = result; row < length; row++) result[row] = result[row]! * result[row]!;
  return result;
}

/**
 * Distance of the value from its average over the last `period` values, in population standard deviations. 0 when all
 * values are equal. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function zScore(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('zScore', period);
  const result = outputColumn(values.length, out);
  const mean = new Float64Array(values.length);
  eachWindow(values, period, mean, result);
  for (let row = firstDefined(values) + period - 1, { length } = values; row < length; row++) {
    const deviation = result[row]!;
    result[row] = deviation > 0 ? (values[row]! - mean[row]!) / deviation : 0;
  }
  return result;
}

/**
 * Mean and population standard deviation of every full window, by blocks of one period (see windows.ts). The squares
 * are of distances from a value of the window. The loss of precision is at most a factor of `period` and does not
 * depend on the price level.
 */
export function eachWindow(
  values: Float64Array,
  period: number,
  mean: Float64Array,
  deviation: Float64Array,
): void {
  const first = firstDefined(values);
  const tails = new Float64Array(period + 1);
  const squareTails = new Float64Array(period + 1);
  const inverse = 1 / period;
  warmUp(mean, first + period - 1);
  warmUp(deviation, first + period - 1);
  for (let start = first; start < values.length; start += period) {
    const anchor = values[start]!;
    const isFirst = start === first;
    if (!isFirst) sumSquareTails(values, start - period, anchor, tails, squareTails);
    const count = Math.min(period, values.length - start);
    let head = 0;
    let squares = 0;
    for (let k = 0; k < count; k++) {
      const distance = values[start + k]! - anchor;
      head += distance;
      squares += distance * distance;
      if (isFirst && k < period - 1) continue;
      const offset = (tails[k + 1]! + head) * inverse;
      const variance = (squareTails[k + 1]! + squares) * inverse - offset * offset;
      mean[start + k] = anchor + offset;
      deviation[start + k] = variance > 0 ? Math.sqrt(variance) : 0;
    }
  }
}

function sumSquareTails(
  values: Float64Array,
  blockStart: number,
  anchor: number,
  tails: Float64Array,
  squareTails: Float64Array,
): void {
  let sum = 0;
  let squares = 0;
  for (let k = tails.length - 2; k > 0; k--) {
    const distance = values[blockStart + k]! - anchor;
    sum += distance;
    squares += distance * distance;
    tails[k] = sum;
    squareTails[k] = squares;
  }
}

// The least-squares line through a window is linear in its values: the mean plus the slope times a distance from the middle.

/** The line through the last `period` values, `ahead` candles after the middle of the window. */
function lineAt(
  indicator: string,
  values: Float64Array,
  period: number,
  ahead: number,
  out: Float64Array | undefined,
): Float64Array {
  checkPeriod(indicator, period, 2);
  const result = outputColumn(values.length, out);
  const slope = 12 / (period * (period * period - 1));
  linearWindow(values, period, result, {
    sum: 1 / period - (slope * ahead * (period + 1)) / 2,
    weighted: slope * ahead,
    anchor: 'added back',
  });
  return result;
}

/**
 * Least-squares line through the last `period` values, at the present candle. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 2
 */
export function linearRegression(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  return lineAt('linearRegression', values, period, (period - 1) / 2, out);
}

/**
 * Slope of the least-squares line through the last `period` values, per candle. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 2
 */
export function linearRegressionSlope(
  values: Float64Array,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('linearRegressionSlope', period, 2);
  const result = outputColumn(values.length, out);
  const weighted = 12 / (period * (period * period - 1));
  linearWindow(values, period, result, {
    weighted,
    sum: (-weighted * (period + 1)) / 2,
    anchor: 'subtracted',
  });
  return result;
}

/**
 * Angle of the least-squares line through the last `period` values, degrees for a slope in price per candle. It depends on the price
 * unit: compare it within one pair only. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 2
 */
export function linearRegressionAngle(
  values: Float64Array,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('linearRegressionAngle', period, 2);
  const result = linearRegressionSlope(values, period, out);
  for (let row = 0, { length } = result; row < length; row++)
    result[row] = (Math.atan(result[row]!) * 180) / Math.PI;
  return result;
}

/**
 * {@link linearRegression} at the oldest candle of the window.
 * @throws RangeError for a period that is not an integer from 2
 */
export function linearRegressionIntercept(
  values: Float64Array,
  period: number,
  out?: Float64Array,
): Float64Array {
  return lineAt('linearRegressionIntercept', values, period, (1 - period) / 2, out);
}

/**
 * {@link linearRegression} continued to the next candle.
 * @throws RangeError for a period that is not an integer from 2
 */
export function timeSeriesForecast(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  return lineAt('timeSeriesForecast', values, period, (period + 1) / 2, out);
}

/**
 * Pearson's correlation of two columns over the last `period` candles, -1 to 1; 0 where one of them is constant. First value on row
 * `period - 1`.
 * @throws RangeError for a period that is not an integer from 1, or columns of different lengths
 */
export function correlation(
  a: Float64Array,
  b: Float64Array,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('correlation', period);
  return eachPair(a, b, period, out, (varianceA, varianceB, covariance) => {
    const product = varianceA * varianceB;
    return product > 0 ? Math.max(-1, Math.min(1, covariance / Math.sqrt(product))) : 0;
  });
}

/**
 * Beta of `values` against `market` over the last `period` candles: covariance of their returns over the variance of the market's.
 * 0 where the market does not move. First value on row `period`. TA-Lib's BETA names the market first.
 * @throws RangeError for a period that is not an integer from 1, or columns of different lengths
 */
export function beta(
  values: Float64Array,
  market: Float64Array,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('beta', period);
  return eachPair(returnsOf(market), returnsOf(values), period, out, (varianceA, _, covariance) =>
    varianceA > 0 ? covariance / varianceA : 0,
  );
}

function returnsOf(values: Float64Array): Float64Array {
  const returns = outputColumn(values.length);
  warmUp(returns, 1);
  for (let row = 1, { length } = values; row < length; row++) {
    const before = values[row - 1]!;
    returns[row] = before === 0 ? 0 : values[row]! / before - 1;
  }
  return returns;
}

/**
 * Writes a form of both variances and the covariance of each full window, by blocks of one period (see windows.ts). Sums are of
 * distances from values of the window, so that a large common price costs no digits.
 */
function eachPair(
  a: Float64Array,
  b: Float64Array,
  period: number,
  out: Float64Array | undefined,
  form: (varianceA: number, varianceB: number, covariance: number) => number,
): Float64Array {
  if (a.length !== b.length) throw new RangeError(`The columns have ${a.length} and ${b.length} rows.`);
  const result = outputColumn(a.length, out);
  const first = Math.max(firstDefined(a), firstDefined(b));
  const tails = Array.from({ length: 5 }, () => new Float64Array(period + 1));
  const [tailA, tailB, tailAA, tailBB, tailAB] = tails as [
    ...[Float64Array, Float64Array, Float64Array, Float64Array, Float64Array],
  ];
  const inverse = 1 / period;
  warmUp(result, first + period - 1);
  for (let start = first; start < a.length; start += period) {
    const anchorA = a[start]!;
    const anchorB = b[start]!;
    const isFirst = start === first;
    let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
    for (let k = isFirst ? 0 : period - 1; k > 0; k--) {
      const x = a[start - period + k]! - anchorA;
      const y = b[start - period + k]! - anchorB;
      tailA[k] = sumA += x;
      tailB[k] = sumB += y;
      tailAA[k] = sumAA += x * x;
      tailBB[k] = sumBB += y * y;
      tailAB[k] = sumAB += x * y;
    }
    [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
    const count = Math.min(period, a.length - start);
    for (let k = 0; k < count; k++) {
      const x = a[start + k]! - anchorA;
      const y = b[start + k]! - anchorB;
      sumA += x;
      sumB += y;
      sumAA += x * x;
      sumBB += y * y;
      sumAB += x * y;
      if (isFirst && k < period - 1) continue;
      const meanA = (tailA[k + 1]! + sumA) * inverse;
      const meanB = (tailB[k + 1]! + sumB) * inverse;
      result[start + k] = form(
        (tailAA[k + 1]! + sumAA) * inverse - meanA * meanA,
        (tailBB[k + 1]! + sumBB) * inverse - meanB * meanB,
        (tailAB[k + 1]! + sumAB) * inverse - meanA * meanB,
      );
    }
  }
  return result;
}
