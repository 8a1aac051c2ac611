import type { Candles } from '../candles.ts';
import { adx, atr } from './trend.ts';
import { checkPeriod, outputColumn, warmUp } from './windows.ts';

type HighLowClose = Pick<Candles, 'high' | 'low' | 'close'>;

/**
 * Average true range in percent of the close; 0 where that is 0. First value on row `period`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function natr(candles: HighLowClose, period: number, out?: Float64Array): Float64Array {
  checkPeriod('natr', period);
  const result = atr(candles, period, out);
  for (let row = 0, { length } = result; row < length; row++) {
    const close = candles.close[row]!;
    result[row] = close === 0 ? 0 * result[row]! : 100 * (result[row]! / close);
  }
  return result;
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

/**
 * Parabolic stop and reverse (Wilder 1978), as TA-Lib computes it: it begins long, unless the second candle falls more than it rises.
 * First value on row 1.
 * @throws RangeError for an acceleration or a maximum that is not a finite number above 0
 */
export function parabolicSar(
  { high, low }: Pick<Candles, 'high' | 'low'>,
  acceleration = 0.02,
  maximum = 0.2,
  out?: Float64Array,
): Float64Array {
  if (!(acceleration > 0 && maximum > 0 && Number.isFinite(acceleration + maximum)))
    throw new RangeError(
      `parabolicSar: acceleration and maximum must be finite numbers above 0, got ${acceleration} and ${maximum}.`,
    );
  const { length } = high;
  const result = outputColumn(length, out);
  warmUp(result, 1);
  if (length < 2) return result;
  const down = low[0]! - low[1]!;
  // 1 for a long position, -1 for a short one, whose rules are those of a long one on negated prices.
  let side = down > 0 && high[1]! - high[0]! < down ? -1 : 1;
  let extreme = side > 0 ? high[1]! : low[1]!;
  let sar = side > 0 ? low[0]! : high[0]!;
  const first = Math.min(acceleration, maximum);
  let factor = first;
  for (let row = 1; row < length; row++) {
    const before = Math.max(row - 1, 1);
    const worst = side > 0 ? low[row]! : high[row]!;
    if (side * worst <= side * sar) {
      side = -side;
      sar = beyond(side, extreme, high, low, before, row);
      result[row] = sar;
      extreme = worst;
      factor = first;
    } else {
      result[row] = sar;
      const best = side > 0 ? high[row]! : low[row]!;
      if (side * best > side * extreme) {
        extreme = best;
        factor = Math.min(factor + acceleration, maximum);
      }
    }
    sar = beyond(side, sar + factor * (extreme - sar), high, low, before, row);
  }
  return result;
}

/** The stop, moved out of the range of both candles. */
function beyond(
  side: number,
  sar: number,
  high: Float64Array,
  low: Float64Array,
  before: number,
  row: number,
): number {
  return side > 0 ? Math.min(sar, low[before]!, low[row]!) : Math.max(sar, high[before]!, high[row]!);
}
