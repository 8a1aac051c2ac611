import type { Candles } from '../candles.ts';
import { eachWindow } from './statistics.ts';
import { atr } from './volatility.ts';
import { checkPeriod, firstDefined, highest, lowest, outputColumn, warmUp } from './windows.ts';

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

/** Columns of {@link supertrend}. */
interface Supertrend {
  /** The trailing line: below the price in an uptrend, above it in a downtrend. */
  readonly line: Float64Array;
  /** 1 in an uptrend, -1 in a downtrend. */
  readonly direction: Float64Array;
}

/**
 * Supertrend (Seban): bands at `multiplier` average true ranges around the candle's middle. A band moves only towards
 * the price. The trend turns when the close crosses the active band. It starts as a downtrend on row `period`, unless
 * the close is above the upper band.
 * @throws RangeError for a period that is not an integer from 1
 */
export function supertrend(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  period: number,
  multiplier: number,
  out?: Supertrend,
): Supertrend {
  const { high, low, close } = candles;
  // The line overwrites the average true ranges row by row: each row reads its range first.
  const line = atr(candles, period, out?.line);
  const direction = outputColumn(close.length, out?.direction);
  warmUp(direction, period);
  let upper = Number.POSITIVE_INFINITY;
  let lower = Number.NEGATIVE_INFINITY;
  let isUp = false;
  for (let row = period, { length } = close; row < length; row++) {
    const middle = (high[row]! + low[row]!) / 2;
    const width = multiplier * line[row]!;
    const previousClose = close[row - 1]!;
    if (middle + width < upper || previousClose > upper) upper = middle + width;
    if (middle - width > lower || previousClose < lower) lower = middle - width;
    isUp = isUp ? close[row]! >= lower : close[row]! > upper;
    line[row] = isUp ? lower : upper;
    direction[row] = isUp ? 1 : -1;
  }
  return { line, direction };
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
