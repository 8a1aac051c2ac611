import type { Candles } from '../candles.ts';
import { checkPeriod, outputColumn, warmUp } from './windows.ts';

type HighLowClose = Pick<Candles, 'high' | 'low' | 'close'>;

/**
 * True range (Wilder): the largest of high - low, |high - previous close| and |low - previous close|. Undefined on row
 * 0, which has no previous close, as in TA-Lib.
 */
export function trueRange({ high, low, close }: HighLowClose, out?: Float64Array): Float64Array {
  const result = outputColumn(close.length, out);
  warmUp(result, 1);
  for (let row = 1, { length } = close; row < length; row++) {
    result[row] = rangeOf(high[row]!, low[row]!, close[row - 1]!);
  }
  return result;
}

function rangeOf(high: number, low: number, previousClose: number): number {
  return Math.max(high, previousClose) - Math.min(low, previousClose);
}

/**
 * Average true range: Wilder's smoothing of {@link trueRange}. First value on row `period`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function atr({ high, low, close }: HighLowClose, period: number, out?: Float64Array): Float64Array {
  checkPeriod('atr', period);
  const length = close.length;
  const result = outputColumn(length, out);
  warmUp(result, period);
  if (period >= length) return result;
  let sum = 0;
  for (let row = 1; row <= period; row++) sum += rangeOf(high[row]!, low[row]!, close[row - 1]!);
  const alpha = 1 / period;
  let average = sum / period;
  result[period] = average;
  for (let row = period + 1; row < length; row++) {
    average += (rangeOf(high[row]!, low[row]!, close[row - 1]!) - average) * alpha;
    result[row] = average;
  }
  return result;
}

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
  candles: HighLowClose,
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
