import type { Candles } from '../candles.ts';
import { typicalPrice } from './price.ts';
import { checkPeriod, outputColumn, rollingSum, warmUp } from './windows.ts';

/**
 * On-balance volume (Granville): volume is added on a higher close and subtracted on a lower one. As in TA-Lib, the
 * first row is the first candle's volume. The level depends on the start of the series: use differences, not the level.
 */
export function obv(candles: Pick<Candles, 'close' | 'volume'>, out?: Float64Array): Float64Array {
  const { close, volume } = candles;
  const result = outputColumn(close.length, out);
  let total = 0;
  for (let row = 0, { length } = close; row < length; row++) {
    const previous = row === 0 ? Number.NEGATIVE_INFINITY : close[row - 1]!;
    if (close[row]! > previous) total += volume[row]!;
    else if (close[row]! < previous) total -= volume[row]!;
    result[row] = total;
  }
  return result;
}

/**
 * Volume-weighted average of the typical price over the last `period` candles. In a window without volume it is the
 * typical price. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rollingVwap(
  candles: Pick<Candles, 'high' | 'low' | 'close' | 'volume'>,
  period: number,
  out?: Float64Array,
): Float64Array {
  checkPeriod('rollingVwap', period);
  const typical = typicalPrice(candles);
  const turnover = new Float64Array(typical.length);
  for (let row = 0, { length } = turnover; row < length; row++)
    turnover[row] = typical[row]! * candles.volume[row]!;
  const volume = rollingSum(candles.volume, period);
  const result = rollingSum(turnover, period, out);
  for (let row = period - 1, { length } = result; row < length; row++) {
    result[row] = volume[row]! > 0 ? result[row]! / volume[row]! : typical[row]!;
  }
  return result;
}

/**
 * Accumulation/distribution line (Chaikin): running sum of the volume times the close's position in its candle, -1 at the low to 1 at
 * the high; 0 for a candle without range. The level depends on the start of the series: use differences, not the level.
 */
export function accumulationDistribution(
  { high, low, close, volume }: Pick<Candles, 'high' | 'low' | 'close' | 'volume'>,
  out?: Float64Array,
): Float64Array {
  const result = outputColumn(close.length, out);
  let total = 0;
  for (let row = 0, { length } = close; row < length; row++) {
    const range = high[row]! - low[row]!;
    if (range > 0) total += ((close[row]! - low[row]! - (high[row]! - close[row]!)) / range) * volume[row]!;
    result[row] = total;
  }
  return result;
}

/**
 * Chaikin oscillator: fast minus slow exponential average of {@link accumulationDistribution}. As in TA-Lib, both start with its first
 * value. First value on the row of the longer period less 1.
 * @throws RangeError for periods that are not integers from 1
 */
export function chaikinOscillator(
  candles: Pick<Candles, 'high' | 'low' | 'close' | 'volume'>,
  fast = 3,
  slow = 10,
  out?: Float64Array,
): Float64Array {
  checkPeriod('chaikinOscillator', fast);
  checkPeriod('chaikinOscillator', slow);
  const result = accumulationDistribution(candles, out);
  const [fastFactor, slowFactor] = [2 / (fast + 1), 2 / (slow + 1)];
  let fastAverage = result[0] ?? 0;
  let slowAverage = fastAverage;
  for (let row = 0, { length } = result; row < length; row++) {
    fastAverage += (result[row]! - fastAverage) * fastFactor;
    slowAverage += (result[row]! - slowAverage) * slowFactor;
    result[row] = fastAverage - slowAverage;
  }
  warmUp(result, Math.max(fast, slow) - 1);
  return result;
}
