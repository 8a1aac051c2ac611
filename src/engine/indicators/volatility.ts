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

export function rangeOf(high: number, low: number, previousClose: number): number {
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
