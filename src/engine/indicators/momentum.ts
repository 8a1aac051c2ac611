import type { Candles } from '../candles.ts';
import { typicalPrice } from './price.ts';
import { checkPeriod, firstDefined, meanOf, outputColumn, rollingSum, warmUp } from './windows.ts';

/** Value of an oscillator from 0 to 100 without any movement. TA-Lib returns 0, which reads as oversold. */
const NEUTRAL = 50;

/**
 * Relative strength index (Wilder 1978), 0 to 100: `100 * gain / (gain + loss)`. Gain and loss use Wilder's smoothing,
 * seeded with the simple average of the first `period` changes. First value on row `period`. 50 without any movement.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rsi(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rsi', period);
  const result = outputColumn(values.length, out);
  const first = firstDefined(values);
  warmUp(result, first + period);
  if (first + period >= values.length) return result;
  let gain = 0;
  let loss = 0;
  for (let row = first + 1; row <= first + period; row++) {
    const change = values[row]! - values[row - 1]!;
    if (change > 0) gain += change;
    else loss -= change;
  }
  const alpha = 1 / period;
  const keep = (period - 1) / period;
  gain *= alpha;
  loss *= alpha;
  result[first + period] = strength(gain, loss);
  for (let row = first + period + 1, { length } = values; row < length; row++) {
    const change = values[row]! - values[row - 1]!;
    // Rise and fall are exact. A branch on the sign would be mispredicted on every second candle.
    const rise = (Math.abs(change) + change) * 0.5;
    gain = gain * keep + rise * alpha;
    loss = loss * keep + (rise - change) * alpha;
    result[row] = strength(gain, loss);
  }
  return result;
}

function strength(gain: number, loss: number): number {
  const total = gain + loss;
  return total > 0 ? 100 * (gain / total) : NEUTRAL;
}

/** Columns of {@link macd}. */
export interface Macd {
  /** Fast minus slow average. */
  readonly macd: Float64Array;
  /** Exponential average of the line. */
  readonly signal: Float64Array;
  /** Line minus signal. */
  readonly histogram: Float64Array;
}

/**
 * Moving average convergence/divergence. As in TA-Lib, both averages start on row `slow - 1`. The fast one starts with
 * the simple average of the last `fast` values. Signal and histogram start on row `slow + signal - 2`.
 * @throws RangeError for periods that are not integers from 1, or a fast one that is not below the slow one
 */
export function macd(values: Float64Array, fast = 12, slow = 26, signal = 9, out?: Macd): Macd {
  checkPeriod('macd', fast);
  checkPeriod('macd', signal);
  checkPeriod('macd (slow)', slow, fast + 1);
  const length = values.length;
  const line = outputColumn(length, out?.macd);
  const signalLine = outputColumn(length, out?.signal);
  const histogram = outputColumn(length, out?.histogram);
  const lineRow = firstDefined(values) + slow - 1;
  const signalRow = lineRow + signal - 1;
  warmUp(line, lineRow);
  warmUp(signalLine, signalRow);
  warmUp(histogram, signalRow);
  if (lineRow >= length) return { macd: line, signal: signalLine, histogram };

  const fastFactor = 2 / (fast + 1);
  const slowFactor = 2 / (slow + 1);
  const signalFactor = 2 / (signal + 1);
  let fastAverage = meanOf(values, lineRow - fast + 1, fast);
  let slowAverage = meanOf(values, lineRow - slow + 1, slow);
  line[lineRow] = fastAverage - slowAverage;
  const seedEnd = Math.min(signalRow, length - 1);
  for (let row = lineRow + 1; row <= seedEnd; row++) {
    fastAverage += (values[row]! - fastAverage) * fastFactor;
    slowAverage += (values[row]! - slowAverage) * slowFactor;
    line[row] = fastAverage - slowAverage;
  }
  if (signalRow >= length) return { macd: line, signal: signalLine, histogram };

  let signalAverage = meanOf(line, lineRow, signal);
  signalLine[signalRow] = signalAverage;
  histogram[signalRow] = line[signalRow]! - signalAverage;
  for (let row = signalRow + 1; row < length; row++) {
    const value = values[row]!;
    fastAverage += (value - fastAverage) * fastFactor;
    slowAverage += (value - slowAverage) * slowFactor;
    const difference = fastAverage - slowAverage;
    signalAverage += (difference - signalAverage) * signalFactor;
    line[row] = difference;
    signalLine[row] = signalAverage;
    histogram[row] = difference - signalAverage;
  }
  return { macd: line, signal: signalLine, histogram };
}

/**
 * Rate of change in percent against the value `period` candles ago; 0 where that value was 0.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rateOfChange(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rateOfChange', period);
  const result = outputColumn(values.length, out);
  warmUp(result, period);
  for (let row = period, { length } = values; row < length; row++) {
    const before = values[row - period]!;
    result[row] = before === 0 ? 0 : 100 * (values[row]! / before - 1);
  }
  return result;
}

/**
 * Difference from the value `period` candles ago.
 * @throws RangeError for a period that is not an integer from 1
 */
export function momentum(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('momentum', period);
  const result = outputColumn(values.length, out);
  warmUp(result, period);
  for (let row = period, { length } = values; row < length; row++)
    result[row] = values[row]! - values[row - period]!;
  return result;
}

/**
 * Commodity channel index (Lambert): distance of the typical price from its simple average, in units of 0.015 mean
 * absolute deviations. 0 when all prices of the window are equal. First value on row `period - 1`. The mean
 * deviation has no sliding form, so the cost is length times period.
 * @throws RangeError for a period that is not an integer from 1
 */
export function cci(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('cci', period);
  const typical = typicalPrice(candles);
  const result = outputColumn(typical.length, out);
  warmUp(result, period - 1);
  for (let row = period - 1, { length } = typical; row < length; row++) {
    const mean = meanOf(typical, row - period + 1, period);
    let deviation = 0;
    for (let k = row - period + 1; k <= row; k++) deviation += Math.abs(typical[k]! - mean);
    result[row] = deviation > 0 ? (typical[row]! - mean) / ((0.015 * deviation) / period) : 0;
  }
  return result;
}

/**
 * The value over that of `period` candles ago; 0 where that was 0. TA-Lib's ROCP is this minus 1.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rateOfChangeRatio(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rateOfChangeRatio', period);
  const result = outputColumn(values.length, out);
  warmUp(result, firstDefined(values) + period);
  for (let row = firstDefined(values) + period, { length } = values; row < length; row++) {
    const before = values[row - period]!;
    result[row] = before === 0 ? 0 : values[row]! / before;
  }
  return result;
}

/** Balance of power: `(close - open) / (high - low)`, -1 to 1; 0 for a candle without range. */
export function balanceOfPower(
  { open, high, low, close }: Pick<Candles, 'open' | 'high' | 'low' | 'close'>,
  out?: Float64Array,
): Float64Array {
  const result = outputColumn(close.length, out);
  for (let row = 0, { length } = close; row < length; row++) {
    const range = high[row]! - low[row]!;
    result[row] = range > 0 ? (close[row]! - open[row]!) / range : 0;
  }
  return result;
}

/**
 * Money flow index, 0 to 100: `100 * rising / (rising + falling)`, the turnover of the last `period` candles by the
 * direction of their typical price. 50 when no price changed. First value on row `period`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function mfi(
  candles: Pick<Candles, 'high' | 'low' | 'close' | 'volume'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('mfi', period);
  const typical = typicalPrice(candles);
  const rising = new Float64Array(typical.length);
  const falling = new Float64Array(typical.length);
  for (let row = 1, { length } = typical; row < length; row++) {
    const flow = typical[row]! * candles.volume[row]!;
    if (typical[row]! > typical[row - 1]!) rising[row] = flow;
    else if (typical[row]! < typical[row - 1]!) falling[row] = flow;
  }
  const gains = rollingSum(rising, period);
  const result = rollingSum(falling, period, out);
  warmUp(result, period);
  for (let row = period, { length } = result; row < length; row++) {
    const total = gains[row]! + result[row]!;
    result[row] = total > 0 ? 100 * (gains[row]! / total) : 50;
  }
  return result;
}
