import { type Candles, createCandles } from '../candles.ts';

/**
 * Candles of a longer timeframe, aggregated from `candles`: first open, highest high, lowest low, last close, summed
 * volume. Buckets start at UTC multiples of `toMs` (a day starts at midnight UTC).
 *
 * Only complete buckets are returned. The first one must begin with its own first candle. The last one must close no
 * later than the last candle. A gap inside a bucket means that nothing was traded then. Such a bucket is
 * aggregated from the candles that exist, as exchanges do.
 *
 * @param fromMs length of the given candles, ms
 * @param toMs length of the resulting candles, ms: a multiple of `fromMs`
 * @throws RangeError when `toMs` is not a positive multiple of `fromMs`
 */
export function resampleCandles(candles: Candles, fromMs: number, toMs: number): Candles {
  if (!(fromMs > 0) || !(toMs >= fromMs) || toMs % fromMs !== 0) {
    throw new RangeError(
      `Candles of ${fromMs} ms cannot be resampled to ${toMs} ms. Pass a positive multiple of ${fromMs} ms.`,
    );
  }
  if (toMs === fromMs) return candles;
  const { from, to } = completeRows(candles.timestamp, fromMs, toMs);
  const result = createCandles(countBuckets(candles.timestamp, from, to, toMs));
  let bucket = -1;
  let bucketEnd = Number.NEGATIVE_INFINITY;
  for (let row = from; row < to; row++) {
    const time = candles.timestamp[row]!;
    if (time >= bucketEnd) {
      bucket++;
      const start = Math.floor(time / toMs) * toMs;
      bucketEnd = start + toMs;
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

/** Rows `[from, to)` without the bucket that began before the series and the one that is still open at its end. */
function completeRows(timestamps: Float64Array, fromMs: number, toMs: number): { from: number; to: number } {
  const length = timestamps.length;
  if (length === 0) return { from: 0, to: 0 };
  const bucketOf = (row: number) => Math.floor(timestamps[row]! / toMs);
  let from = 0;
  if (timestamps[0]! !== bucketOf(0) * toMs) {
    const first = bucketOf(0);
    while (from < length && bucketOf(from) === first) from++;
  }
  let to = length;
  const last = bucketOf(length - 1);
  if (timestamps[length - 1]! + fromMs < (last + 1) * toMs) {
    while (to > from && bucketOf(to - 1) === last) to--;
  }
  return { from, to };
}

function countBuckets(timestamps: Float64Array, from: number, to: number, toMs: number): number {
  let count = 0;
  let bucketEnd = Number.NEGATIVE_INFINITY;
  for (let row = from; row < to; row++) {
    if (timestamps[row]! < bucketEnd) continue;
    count++;
    bucketEnd = (Math.floor(timestamps[row]! / toMs) + 1) * toMs;
  }
  return count;
}
