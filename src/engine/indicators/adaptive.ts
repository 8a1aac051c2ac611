import type { Candles } from '../candles.ts';
import { ema, sma } from './moving-averages.ts';
import { highest, lowest } from './volatility.ts';
import { checkPeriod, firstDefined, outputColumn, rollingSum, warmUp } from './windows.ts';

/**
 * Kaufman's adaptive moving average: an exponential average of 2 candles in a trend, of 30 without one. The efficiency is the net
 * change over the sum of all changes of the last `period` candles. First value on row `period`; it starts from the value before.
 * @throws RangeError for a period that is not an integer from 1
 */
export function kama(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('kama', period);
  const first = firstDefined(values);
  const changes = outputColumn(values.length);
  warmUp(changes, first + 1);
  for (let row = first + 1, { length } = values; row < length; row++)
    changes[row] = Math.abs(values[row]! - values[row - 1]!);
  const result = rollingSum(changes, period, out);
  warmUp(result, first + period);
  if (first + period >= values.length) return result;
  const [fast, slow] = [2 / 3, 2 / 31];
  let average = values[first + period - 1]!;
  for (let row = first + period, { length } = values; row < length; row++) {
    const net = values[row]! - values[row - period]!;
    const sum = result[row]!;
    const efficiency = sum <= net || sum === 0 ? 1 : Math.abs(net / sum);
    const factor = efficiency * (fast - slow) + slow;
    average += (values[row]! - average) * (factor * factor);
    result[row] = average;
  }
  return result;
}

/**
 * Triangular moving average: a simple average of a simple average, with the largest weights in the middle of the window. First value on
 * row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function trima(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('trima', period);
  return sma(sma(values, Math.ceil(period / 2)), Math.floor(period / 2) + 1, out);
}

/**
 * T3 (Tillson): {@link dema} generalized by `volume`, three times. First value on row `6 * (period - 1)`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function t3(values: Float64Array, period: number, volume = 0.7, out?: Float64Array): Float64Array {
  checkPeriod('t3', period);
  const third = ema(ema(ema(values, period), period), period);
  const fourth = ema(third, period);
  const fifth = ema(fourth, period);
  const result = ema(fifth, period, out);
  const [square, cube] = [volume * volume, volume * volume * volume];
  for (let row = 0, { length } = result; row < length; row++) {
    result[row] =
      -cube * result[row]! +
      3 * (square + cube) * fifth[row]! -
      (6 * square + 3 * (volume + cube)) * fourth[row]! +
      (1 + 3 * volume + cube + 3 * square) * third[row]!;
  }
  return result;
}

/**
 * Middle between the highest and the lowest of the last `period` values. First value on row `period - 1`. TA-Lib's MIDPRICE is
 * `donchian(candles, period).middle`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function midpoint(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('midpoint', period);
  const result = highest(values, period, out);
  const low = lowest(values, period);
  for (let row = 0, { length } = result; row < length; row++) result[row] = (result[row]! + low[row]!) / 2;
  return result;
}

/** Median price: middle between high and low. */
export function medianPrice({ high, low }: Pick<Candles, 'high' | 'low'>, out?: Float64Array): Float64Array {
  const result = outputColumn(high.length, out);
  for (let row = 0, { length } = high; row < length; row++) result[row] = (high[row]! + low[row]!) / 2;
  return result;
}

/** Average price: mean of open, high, low and close. */
export function averagePrice(
  { open, high, low, close }: Pick<Candles, 'open' | 'high' | 'low' | 'close'>,
  out?: Float64Array,
): Float64Array {
  const result = outputColumn(close.length, out);
  for (let row = 0, { length } = close; row < length; row++)
    result[row] = (open[row]! + high[row]! + low[row]! + close[row]!) / 4;
  return result;
}

/** Weighted close: mean of high, low and twice the close. */
export function weightedClose(
  { high, low, close }: Pick<Candles, 'high' | 'low' | 'close'>,
  out?: Float64Array,
): Float64Array {
  const result = outputColumn(close.length, out);
  for (let row = 0, { length } = close; row < length; row++)
    result[row] = (high[row]! + low[row]! + 2 * close[row]!) / 4;
  return result;
}
