import { type Candles, createCandles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import { ceilTo, commonGrid, type TimeGrid } from '../timeframe.ts';

/**
 * Candles of a longer timeframe, aggregated from `candles`: first open, highest high, lowest low, last close, summed
 * volume. Buckets start at UTC multiples of `toMs` (a day starts at midnight UTC), weeks on Monday.
 *
 * Only complete buckets are returned, see {@link completeBuckets}. A gap inside a bucket means that nothing was traded
 * then. Such a bucket is aggregated from the candles that exist, as exchanges do.
 *
 * @param fromMs length of the given candles, ms
 * @param toMs length of the resulting candles, ms: a multiple of `fromMs`
 * @param grid where the resulting candles open, on an exchange with a grid of its own
 * @throws RangeError when `toMs` is not a positive multiple of `fromMs`
 */
export function resampleCandles(
  candles: Candles,
  fromMs: number,
  toMs: number,
  grid = commonGrid(toMs),
): Candles {
  if (!(fromMs > 0) || !(toMs >= fromMs) || toMs % fromMs !== 0) {
    throw new RangeError(
      `Candles of ${fromMs} ms cannot be resampled to ${toMs} ms. Pass a positive multiple of ${fromMs} ms.`,
    );
  }
  const { timestamp } = candles;
  if (toMs === fromMs || timestamp.length === 0) return candles;
  const { start, end } = completeBuckets(timestamp[0]!, timestamp.at(-1)!, fromMs, grid);
  const rows = sliceCandles(candles, indexAtOrAfter(timestamp, start), indexAtOrAfter(timestamp, end));
  return aggregateCandles(rows, grid);
}

/**
 * Interval of the complete buckets of a series, ms; empty when `end` is not after `start`. The first bucket must begin
 * with its own first candle. The last one must close no later than the last candle.
 *
 * @param first open time of the series' first candle, ms
 * @param last open time of its last candle, ms
 * @param fromMs length of a candle, ms
 * @param grid where the buckets begin
 */
export function completeBuckets(
  first: number,
  last: number,
  fromMs: number,
  grid: TimeGrid,
): { readonly start: number; readonly end: number } {
  return { start: ceilTo(grid, first), end: grid.floor(last + fromMs) };
}

/** Every bucket of a grid that contains a candle, aggregated as {@link resampleCandles} does. */
export function aggregateCandles(candles: Candles, grid: TimeGrid): Candles {
  const { length } = candles.timestamp;
  const result = createCandles(countBuckets(candles.timestamp, grid));
  let bucket = -1;
  let bucketEnd = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row++) {
    const time = candles.timestamp[row]!;
    if (time >= bucketEnd) {
      bucket++;
      const start = grid.floor(time);
      bucketEnd = grid.next(start);
      result.timestamp[bucket] = start;
      result.open[bucket] = candles.open[row]!;
      result.high[bucket] = candles.high[row]!;
      result.low[bucket] = candles.low[row]!;
    }
    if (candles.high[row]! > result.high[bucket]!) result.high[bucket] = candles.high[row]!;
    if (candles.low[row]! < result.low[bucket]!) result.low[bucket] = candles.low[row]!;
    result.close[bucket] = candles.close[row]!;
    result.volume[bucket]! += candles.volume[row]!;
  }
  return result;
}

function countBuckets(timestamps: Float64Array, grid: TimeGrid): number {
  let count = 0;
  let bucketEnd = Number.NEGATIVE_INFINITY;
  for (let row = 0, { length } = timestamps; row < length; row++) {
    if (timestamps[row]! < bucketEnd) continue;
    count++;
    bucketEnd = grid.next(grid.floor(timestamps[row]!));
  }
  return count;
}
