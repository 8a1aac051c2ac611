import type { Candles } from '../candles.ts';
import { sma } from './moving-averages.ts';
import { checkPeriod, firstDefined, linearWindow, outputColumn, warmUp } from './windows.ts';

/** Three columns of one indicator: a line with one band on either side. */
export interface Bands {
  readonly upper: Float64Array;
  readonly middle: Float64Array;
  readonly lower: Float64Array;
}

/**
 * Bollinger bands: the simple average and `multiplier` population standard deviations above and below it.
 * First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function bollinger(values: Float64Array, period: number, multiplier = 2, out?: Bands): Bands {
  checkPeriod('bollinger', period);
  const upper = outputColumn(values.length, out?.upper);
  const middle = outputColumn(values.length, out?.middle);
  const lower = outputColumn(values.length, out?.lower);
  eachWindow(values, period, middle, upper);
  warmUp(lower, firstDefined(values) + period - 1);
  for (let row = firstDefined(values) + period - 1, { length } = values; row < length; row++) {
    const width = multiplier * upper[row]!;
    lower[row] = middle[row]! - width;
    upper[row] = middle[row]! + width;
  }
  return { upper, middle, lower };
}

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
 * Mean and population standard deviation of every full window, by blocks of one period (see windows.ts). The squares
 * are of distances from a value of the window. The loss of precision is at most a factor of `period` and does not
 * depend on the price level.
 */
function eachWindow(values: Float64Array, period: number, mean: Float64Array, deviation: Float64Array): void {
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

/**
 * Highest of the last `period` values, including the current one. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function highest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('highest', period);
  return extremes(values, period, 1, outputColumn(values.length, out));
}

/**
 * Lowest of the last `period` values, including the current one. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function lowest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('lowest', period);
  return extremes(values, period, -1, outputColumn(values.length, out));
}

/**
 * Donchian channel: highest high, lowest low and their middle over the last `period` candles, including the current
 * one. A breakout compares the close with the channel of the candle before: `shift(upper, 1)`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function donchian(candles: Pick<Candles, 'high' | 'low'>, period: number, out?: Bands): Bands {
  checkPeriod('donchian', period);
  const upper = highest(candles.high, period, out?.upper);
  const lower = lowest(candles.low, period, out?.lower);
  const middle = outputColumn(upper.length, out?.middle);
  for (let row = 0, { length } = middle; row < length; row++) middle[row] = (upper[row]! + lower[row]!) / 2;
  return { upper, middle, lower };
}

/** Columns of {@link stochastic}. */
interface Stochastic {
  readonly k: Float64Array;
  /** Simple average of `k`. */
  readonly d: Float64Array;
}

/**
 * Stochastic oscillator (Lane), 0 to 100: position of the close between the lowest low and the highest high of the
 * last `period` candles. `k` averages it over `smoothing` candles (1 is the fast form), `d` averages k over `signal`
 * candles. 50 where the range is empty (TA-Lib returns 0, which reads as oversold).
 * @throws RangeError for periods that are not integers from 1
 */
export function stochastic(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  period: number,
  smoothing = 3,
  signal = 3,
  out?: Stochastic,
): Stochastic {
  checkPeriod('stochastic', period);
  const k = sma(closePosition(candles, period), smoothing, out?.k);
  return { k, d: sma(k, signal, out?.d) };
}

/**
 * Williams %R, -100 to 0: difference of the close from the highest high of the last `period` candles, in percent of
 * their range. -50 where the range is empty.
 * @throws RangeError for a period that is not an integer from 1
 */
export function williamsR(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('williamsR', period);
  const result = closePosition(candles, period, out);
  for (let row = 0, { length } = result; row < length; row++) result[row]! -= 100;
  return result;
}

/** Position of the close between the lowest low (0) and the highest high (100). */
function closePosition(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  const high = highest(candles.high, period, out);
  const low = lowest(candles.low, period);
  for (let row = 0, { length } = high; row < length; row++) {
    const range = high[row]! - low[row]!;
    high[row] = range === 0 ? 50 : 100 * ((candles.close[row]! - low[row]!) / range);
  }
  return high;
}

/**
 * Largest `sign * value` of every full window, times `sign`. By blocks of one period (van Herk, Gil-Werman): a window is
 * the tail of one block and the head of the next. Every value is visited twice, for any period.
 */
function extremes(values: Float64Array, period: number, sign: 1 | -1, out: Float64Array): Float64Array {
  const first = firstDefined(values);
  const tails = new Float64Array(period + 1).fill(Number.NEGATIVE_INFINITY);
  warmUp(out, first + period - 1);
  for (let start = first; start < values.length; start += period) {
    const isFirst = start === first;
    for (let k = isFirst ? 0 : period - 1; k > 0; k--) {
      const value = sign * values[start - period + k]!;
      tails[k] = Math.max(value, tails[k + 1]!);
    }
    const count = Math.min(period, values.length - start);
    let head = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < count; k++) {
      head = Math.max(head, sign * values[start + k]!);
      if (isFirst && k < period - 1) continue;
      out[start + k] = sign * Math.max(tails[k + 1]!, head);
    }
  }
  return out;
}
