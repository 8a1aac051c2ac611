import type { Candles } from '../candles.ts';
import { rangeOf } from './volatility.ts';
import { checkPeriod, outputColumn, warmUp } from './windows.ts';

type HighLowClose = Pick<Candles, 'high' | 'low' | 'close'>;

/** Columns of {@link adx}, each 0 to 100. */
interface DirectionalMovement {
  /** Strength of the trend, regardless of its direction. */
  readonly adx: Float64Array;
  readonly plusDi: Float64Array;
  readonly minusDi: Float64Array;
}

/**
 * Average directional index and directional indicators (Wilder 1978), as TA-Lib computes them. The sums start with
 * `period - 1` candles and are decayed once before the first use. The directional indicators start on row `period`,
 * ADX on row `2 * period - 1`. All are 0 without movement.
 * @throws RangeError for a period that is not an integer from 2
 */
export function adx(candles: HighLowClose, period: number, out?: DirectionalMovement): DirectionalMovement {
  checkPeriod('adx', period, 2);
  const length = candles.close.length;
  const plusDi = outputColumn(length, out?.plusDi);
  const minusDi = outputColumn(length, out?.minusDi);
  const strength = outputColumn(length, out?.adx);
  directionalIndicators(candles, period, plusDi, minusDi);
  const seedRow = 2 * period - 1;
  warmUp(strength, seedRow);
  let average = 0;
  for (let row = period; row < length; row++) {
    const total = plusDi[row]! + minusDi[row]!;
    const index = total > 0 ? 100 * (Math.abs(plusDi[row]! - minusDi[row]!) / total) : 0;
    if (row <= seedRow) average += index / period;
    else average += (index - average) / period;
    if (row >= seedRow) strength[row] = average;
  }
  return { adx: strength, plusDi, minusDi };
}

function directionalIndicators(
  { high, low, close }: HighLowClose,
  period: number,
  plusDi: Float64Array,
  minusDi: Float64Array,
): void {
  warmUp(plusDi, period);
  warmUp(minusDi, period);
  const keep = (period - 1) / period;
  let plus = 0;
  let minus = 0;
  let range = 0;
  for (let row = 1, { length } = close; row < length; row++) {
    const decay = row < period ? 1 : keep;
    const up = high[row]! - high[row - 1]!;
    const down = low[row - 1]! - low[row]!;
    plus = plus * decay + (up > 0 && up > down ? up : 0);
    minus = minus * decay + (down > 0 && down > up ? down : 0);
    range = range * decay + rangeOf(high[row]!, low[row]!, close[row - 1]!);
    if (row < period) continue;
    plusDi[row] = range > 0 ? 100 * (plus / range) : 0;
    minusDi[row] = range > 0 ? 100 * (minus / range) : 0;
  }
}

/** Columns of {@link directionalMovement}, in units of the price. */
interface Movement {
  readonly plusDm: Float64Array;
  readonly minusDm: Float64Array;
}

/**
 * Directional movement (Wilder 1978): smoothed sums of rises of the high and falls of the low, the larger of both in each candle, as
 * TA-Lib computes them. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 2
 */
export function directionalMovement(
  { high, low }: Pick<Candles, 'high' | 'low'>,
  period: number,
  out?: Movement,
): Movement {
  checkPeriod('directionalMovement', period, 2);
  const plusDm = outputColumn(high.length, out?.plusDm);
  const minusDm = outputColumn(high.length, out?.minusDm);
  warmUp(plusDm, period - 1);
  warmUp(minusDm, period - 1);
  let plus = 0;
  let minus = 0;
  for (let row = 1, { length } = high; row < length; row++) {
    const up = high[row]! - high[row - 1]!;
    const down = low[row - 1]! - low[row]!;
    if (row >= period) {
      plus -= plus / period;
      minus -= minus / period;
    }
    plus += up > 0 && up > down ? up : 0;
    minus += down > 0 && down > up ? down : 0;
    if (row < period - 1) continue;
    plusDm[row] = plus;
    minusDm[row] = minus;
  }
  return { plusDm, minusDm };
}

/**
 * Directional movement index (Wilder), 0 to 100: what {@link adx} averages. First value on row `period`. 0 without movement (TA-Lib
 * repeats the value before).
 * @throws RangeError for a period that is not an integer from 2
 */
export function dx(candles: HighLowClose, period: number, out?: Float64Array): Float64Array {
  checkPeriod('dx', period, 2);
  const { plusDi, minusDi } = adx(candles, period);
  const result = outputColumn(plusDi.length, out);
  for (let row = 0, { length } = result; row < length; row++) {
    const total = plusDi[row]! + minusDi[row]!;
    result[row] = total === 0 ? 0 : 100 * (Math.abs(plusDi[row]! - minusDi[row]!) / total);
  }
  return result;
}

/**
 * Average directional index rating (Wilder): mean of the {@link adx} and that of `period - 1` candles ago. First value on row
 * `3 * period - 2`.
 * @throws RangeError for a period that is not an integer from 2
 */
export function adxr(candles: HighLowClose, period: number, out?: Float64Array): Float64Array {
  checkPeriod('adxr', period, 2);
  const { adx: strength } = adx(candles, period);
  const result = outputColumn(strength.length, out);
  warmUp(result, 3 * period - 2);
  for (let row = 3 * period - 2, { length } = result; row < length; row++)
    result[row] = (strength[row]! + strength[row - period + 1]!) / 2;
  return result;
}
