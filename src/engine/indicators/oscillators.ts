import type { Candles } from '../candles.ts';
import { rateOfChange, rsi } from './momentum.ts';
import { ema, sma } from './moving-averages.ts';
import { trueRange } from './volatility.ts';
import { checkPeriod, highest, lowest, outputColumn, rollingSum, warmUp } from './windows.ts';

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

/** Width of a range of the RSI below which it is an error of the last bits: without trades the RSI is constant but for those. */
const NOISE = 1e-9;

/**
 * Stochastic RSI (Chande, Kroll), 0 to 100: position of the RSI between its lowest and highest of the last `range` candles (`k`), and
 * its simple average over `signal` candles (`d`). 50 where the range is empty (TA-Lib returns 0, which reads as oversold).
 * @throws RangeError for periods that are not integers from 1
 */
export function stochasticRsi(
  values: Float64Array,
  period: number,
  range = 5,
  signal = 3,
  out?: { readonly k: Float64Array; readonly d: Float64Array },
): { readonly k: Float64Array; readonly d: Float64Array } {
  checkPeriod('stochasticRsi', range);
  const strength = rsi(values, period);
  const k = highest(strength, range, out?.k);
  const low = lowest(strength, range);
  for (let row = 0, { length } = k; row < length; row++) {
    const width = k[row]! - low[row]!;
    k[row] = width <= NOISE ? 50 : 100 * ((strength[row]! - low[row]!) / width);
  }
  return { k, d: sma(k, signal, out?.d) };
}

/** Columns of {@link aroon}, each 0 to 100. */
interface Aroon {
  readonly up: Float64Array;
  readonly down: Float64Array;
}

/**
 * Aroon (Chande): how recent the highest high (`up`) and the lowest low (`down`) of the last `period + 1` candles are, 100 for the
 * present candle. Of equal prices the latest counts. First value on row `period`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function aroon(candles: Pick<Candles, 'high' | 'low'>, period: number, out?: Aroon): Aroon {
  checkPeriod('aroon', period);
  return {
    up: recency(candles.high, period, 1, outputColumn(candles.high.length, out?.up)),
    down: recency(candles.low, period, -1, outputColumn(candles.low.length, out?.down)),
  };
}

/**
 * Aroon oscillator: `up - down` of {@link aroon}, -100 to 100.
 * @throws RangeError for a period that is not an integer from 1
 */
export function aroonOscillator(
  candles: Pick<Candles, 'high' | 'low'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  const { up, down } = aroon(candles, period, {
    up: outputColumn(candles.high.length, out),
    down: outputColumn(candles.low.length),
  });
  for (let row = 0, { length } = up; row < length; row++) up[row] = up[row]! - down[row]!;
  return up;
}

/** Rows that may become the extreme are kept in a ring, the best first: each enters and leaves it once. */
function recency(values: Float64Array, period: number, sign: 1 | -1, out: Float64Array): Float64Array {
  const size = period + 1;
  const rows = new Uint32Array(size);
  let head = 0;
  let count = 0;
  warmUp(out, period);
  for (let row = 0, { length } = values; row < length; row++) {
    if (count > 0 && rows[head]! < row - period) {
      head = (head + 1) % size;
      count--;
    }
    const value = sign * values[row]!;
    while (count > 0 && sign * values[rows[(head + count - 1) % size]!]! <= value) count--;
    rows[(head + count++) % size] = row;
    if (row >= period) out[row] = 100 * ((period - (row - rows[head]!)) / period);
  }
  return out;
}

/**
 * Chande momentum oscillator, -100 to 100: `100 * (gain - loss) / (gain + loss)` with Wilder's smoothing, as in TA-Lib. First value on
 * row `period`. 0 without any movement.
 * @throws RangeError for a period that is not an integer from 1
 */
export function chandeMomentum(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('chandeMomentum', period);
  const result = rsi(values, period, out);
  for (let row = 0, { length } = result; row < length; row++) result[row] = 2 * result[row]! - 100;
  return result;
}

type MovingAverage = (values: Float64Array, period: number, out?: Float64Array) => Float64Array;

/**
 * Absolute price oscillator: fast minus slow average, by default exponential ones as in TA-Lib from 0.8 on. First value on row
 * `slow - 1`.
 * @throws RangeError for periods that are not integers from 1
 */
export function apo(
  values: Float64Array,
  fast = 12,
  slow = 26,
  average: MovingAverage = ema,
  out?: Float64Array,
): Float64Array {
  const slowAverage = average(values, slow, out);
  const fastAverage = average(values, fast);
  for (let row = 0, { length } = slowAverage; row < length; row++)
    slowAverage[row] = fastAverage[row]! - slowAverage[row]!;
  return slowAverage;
}

/**
 * Percentage price oscillator: {@link apo} in percent of the slow average; 0 where that is 0.
 * @throws RangeError for periods that are not integers from 1
 */
export function ppo(
  values: Float64Array,
  fast = 12,
  slow = 26,
  average: MovingAverage = ema,
  out?: Float64Array,
): Float64Array {
  const slowAverage = average(values, slow, out);
  const fastAverage = average(values, fast);
  for (let row = 0, { length } = slowAverage; row < length; row++) {
    const base = slowAverage[row]!;
    slowAverage[row] = base === 0 ? 0 : 100 * ((fastAverage[row]! - base) / base);
  }
  return slowAverage;
}

/**
 * TRIX (Hutson): rate of change in percent of an exponential average of an exponential average of an exponential average, over one
 * candle. First value on row `3 * (period - 1) + 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function trix(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('trix', period);
  return rateOfChange(ema(ema(ema(values, period), period), period), 1, out);
}

/**
 * Ultimate oscillator (Williams), 0 to 100: buying pressure over true range, of three windows with the weights 4, 2 and 1 from the
 * first to the last. A window without range counts as 0, as in TA-Lib. First value on the row of the longest period.
 * @throws RangeError for periods that are not integers from 1
 */
export function ultimateOscillator(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  periods: readonly [short: number, middle: number, long: number] = [7, 14, 28],
  out?: Float64Array,
): Float64Array {
  for (const period of periods) checkPeriod('ultimateOscillator', period);
  const { low, close } = candles;
  const range = trueRange(candles);
  const pressure = outputColumn(close.length);
  warmUp(pressure, 1);
  for (let row = 1, { length } = close; row < length; row++)
    pressure[row] = close[row]! - Math.min(low[row]!, close[row - 1]!);
  const result = outputColumn(close.length, out);
  result.fill(0);
  const sums = new Float64Array(close.length);
  const ranges = new Float64Array(close.length);
  for (const [index, period] of periods.entries()) {
    const weight = (100 * 2 ** (2 - index)) / 7;
    rollingSum(pressure, period, sums);
    rollingSum(range, period, ranges);
    for (let row = period, { length } = result; row < length; row++)
      if (ranges[row]! > 0) result[row]! += weight * (sums[row]! / ranges[row]!);
  }
  warmUp(result, Math.max(...periods));
  return result;
}
