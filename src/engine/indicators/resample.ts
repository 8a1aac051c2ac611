import { MINUTE_MS } from '#contract/values/durations.ts';
import { type Candles, createCandles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import type { Columns } from '../strategy.ts';
import { ceilTo, commonGrid, TIMEFRAME_MS, type TimeGrid } from '../timeframe.ts';

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

const INTERVAL = /^([1-9]\d{0,4})([mhdw])$/;
const UNIT_MS = {
  m: MINUTE_MS,
  h: TIMEFRAME_MS['1h'],
  d: TIMEFRAME_MS['1d'],
  w: TIMEFRAME_MS['1w'],
} as const;

/**
 * Length of an interval such as `3h` or `90m`, ms.
 * @throws RangeError for another text, and for more than a week
 */
function intervalMs(interval: string): number {
  const [, count, unit] = INTERVAL.exec(interval) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms <= UNIT_MS.w) return ms;
  const shown = typeof interval === 'string' ? JSON.stringify(interval.slice(0, 20)) : typeof interval;
  throw new RangeError(
    `The interval ${shown} is not a whole number of minutes up to a week, such as 90m, 3h, 2d or 1w`,
  );
}

/**
 * Candles of any whole multiple of the given ones, up to a week: first open, highest high, lowest low, last close, summed volume. They
 * open at multiples of the interval since 1970-01-01T00:00Z, weeks on Monday. An incomplete one at either end is left out.
 *
 * @param interval such as `3h`, `90m`, `2d`
 * @throws RangeError for an interval that is no multiple of the candles, or longer than a week
 */
export function resample(candles: Candles, interval: string): Candles {
  const toMs = intervalMs(interval);
  const { timestamp } = candles;
  return timestamp.length < 2 ? candles : resampleCandles(candles, timestamp[1]! - timestamp[0]!, toMs);
}

/**
 * Columns that are computed on {@link resample}d candles, in the rows of the given ones and without look-ahead: a value appears on the
 * candle that closes with the longer one, and stays until the next. NaN before the first.
 * `onTimeframe(candles, '3h', ({ close }) => ({ slow: ema(close, 20) }))`
 *
 * @param compute gets the longer candles and returns columns by name, a value per longer candle
 * @throws RangeError as {@link resample}, and for a column of another length
 */
export function onTimeframe<C extends Columns>(
  candles: Candles,
  interval: string,
  compute: (longer: Candles) => C,
): C {
  const longer = resample(candles, interval);
  const columns = compute(longer);
  const toMs = intervalMs(interval);
  const { timestamp } = candles;
  const step = timestamp.length < 2 ? toMs : timestamp[1]! - timestamp[0]!;
  const aligned = Object.entries(columns).map(([name, column]) => [
    name,
    alignInformative(timestamp, step, longer.timestamp, toMs, column),
  ]);
  return Object.fromEntries(aligned) as C;
}

/**
 * Aligns a column of a higher timeframe with base candles, without look-ahead bias. Base row `i` has the value of the newest
 * informative candle that is closed when base candle `i` closes.
 * Example: the value of the 1h candle of 14:00 first appears on the 5m candle of 14:55.
 * `NaN` before the first informative candle has closed. Equal timeframes are not shifted.
 *
 * @param baseTimestamps open times of the base candles, ms, ascending
 * @param baseMs length of a base candle, ms
 * @param informativeTimestamps open times of the informative candles, ms, ascending
 * @param informativeMs length of an informative candle, ms: at least `baseMs`
 * @param column one value per informative candle
 * @throws RangeError when the informative timeframe is shorter than the base, or `column` has another length
 */
export function alignInformative(
  baseTimestamps: Float64Array,
  baseMs: number,
  informativeTimestamps: Float64Array,
  informativeMs: number,
  column: Float64Array,
): Float64Array {
  if (informativeMs < baseMs) {
    throw new RangeError(
      `An informative timeframe of ${informativeMs} ms is shorter than the base of ${baseMs} ms.`,
    );
  }
  const count = informativeTimestamps.length;
  if (column.length !== count) {
    throw new RangeError(`The informative column has ${column.length} values for ${count} candles.`);
  }
  const shift = informativeMs - baseMs;
  const out = new Float64Array(baseTimestamps.length);
  let next = 0;
  let value = Number.NaN;
  for (let row = 0, { length } = out; row < length; row++) {
    while (next < count && informativeTimestamps[next]! + shift <= baseTimestamps[row]!) {
      value = column[next]!;
      next++;
    }
    out[row] = value;
  }
  return out;
}
