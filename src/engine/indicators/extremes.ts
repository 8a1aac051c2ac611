import type { Candles } from '../candles.ts';
import { checkPeriod, firstDefined, outputColumn, warmUp } from './column.ts';
import type { Bands } from './deviation.ts';
import { sma } from './moving-averages.ts';

/**
 * Highest of the last `period` values, the present one included. First value on row `period - 1`.
 * @throws RangeError for a period that is not a whole number from 1
 */
export function highest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('highest', period);
  return extremes(values, period, 1, outputColumn(values.length, out));
}

/**
 * Lowest of the last `period` values, the present one included. First value on row `period - 1`.
 * @throws RangeError for a period that is not a whole number from 1
 */
export function lowest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('lowest', period);
  return extremes(values, period, -1, outputColumn(values.length, out));
}

/**
 * Donchian channel: highest high, lowest low and their middle over the last `period` candles, the present one
 * included. A breakout compares the close with the channel of the candle before: `shift(upper, 1)`.
 * @throws RangeError for a period that is not a whole number from 1
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
 * Stochastic oscillator (Lane), 0 to 100: where the close lies between the lowest low and the highest high of the last
 * `period` candles, averaged over `smoothing` candles (k; 1 is the fast form), and that over `signal` candles (d).
 * 50 where the range is empty (TA-Lib gives 0, which reads as oversold).
 * @throws RangeError for periods that are not whole numbers from 1
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
 * Williams %R, -100 to 0: where the close lies below the highest high of the last `period` candles. -50 where the
 * range is empty.
 * @throws RangeError for a period that is not a whole number from 1
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

/** Percent of the way from the lowest low to the highest high at which the candle closed. */
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
 * the tail of one block and the head of the next, so every value is visited twice whatever the period.
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
