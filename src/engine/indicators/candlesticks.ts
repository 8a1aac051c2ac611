import type { Candles } from '../candles.ts';
import { outputColumn, rollingSum } from './windows.ts';

type Prices = Pick<Candles, 'open' | 'high' | 'low' | 'close'>;

/**
 * Heikin-Ashi candles, as qtpylib computes them: the close is the mean of the four prices, the open the middle of the candle before.
 * The first open is the middle of the first candle's body; its weight halves with each candle. High and low include both.
 */
export function heikinAshi({ open, high, low, close }: Prices, out?: Prices): Prices {
  const { length } = close;
  const result = {
    open: outputColumn(length, out?.open),
    high: outputColumn(length, out?.high),
    low: outputColumn(length, out?.low),
    close: outputColumn(length, out?.close),
  };
  for (let row = 0; row < length; row++) {
    const mean = (open[row]! + high[row]! + low[row]! + close[row]!) / 4;
    const middle =
      row === 0 ? (open[0]! + close[0]!) / 2 : (result.open[row - 1]! + result.close[row - 1]!) / 2;
    result.open[row] = middle;
    result.high[row] = Math.max(high[row]!, middle, mean);
    result.low[row] = Math.min(low[row]!, middle, mean);
    result.close[row] = mean;
  }
  return result;
}

/** Candles whose average is a usual body and a usual range. */
const USUAL = 10;
/** Candles whose average range says how near the low before is. */
const NEAR = 5;

/**
 * 1 where a candle is a hammer, as TA-Lib's `CDLHAMMER` with its default settings: a body shorter than the average of the 10 candles
 * before, a lower shadow longer than the body, an upper shadow shorter than a tenth of the average range of the 10 candles before, and
 * a body that begins at most a fifth of the average range of 5 candles above the low before. First on row 11.
 */
export function hammer({ open, high, low, close }: Prices): Uint8Array {
  const { length } = close;
  const result = new Uint8Array(length);
  const bodies = open.map((price, row) => Math.abs(close[row]! - price));
  const ranges = high.map((price, row) => price - low[row]!);
  const usualBody = rollingSum(bodies, USUAL);
  const usualRange = rollingSum(ranges, USUAL);
  const nearRange = rollingSum(ranges, NEAR);
  for (let row = USUAL + 1; row < length; row++) {
    const bottom = Math.min(open[row]!, close[row]!);
    const top = Math.max(open[row]!, close[row]!);
    if (
      bodies[row]! < usualBody[row - 1]! / USUAL &&
      bottom - low[row]! > bodies[row]! &&
      high[row]! - top < (0.1 * usualRange[row - 1]!) / USUAL &&
      bottom <= low[row - 1]! + (0.2 * nearRange[row - 2]!) / NEAR
    )
      result[row] = 1;
  }
  return result;
}
