import type { Candles } from '../candles.ts';
import { outputColumn } from './windows.ts';

/** Typical price: mean of high, low and close. */
export function typicalPrice(
  candles: Pick<Candles, 'high' | 'low' | 'close'>,
  out?: Float64Array,
): Float64Array {
  const { high, low, close } = candles;
  const result = outputColumn(close.length, out);
  for (let row = 0, { length } = close; row < length; row++)
    result[row] = (high[row]! + low[row]! + close[row]!) / 3;
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
