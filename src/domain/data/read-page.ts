import { CodedError } from '#contract/values/errors.ts';
import { MAX_CANDLES_READ } from '#contract/values/market-data-limits.ts';
import { type Candles, createCandles, joinCandles, sliceCandles } from '#engine/candles.ts';
import { aggregateCandles } from '#engine/indicators/resample.ts';
import { ceilTo, TIMEFRAME_MS, type Timeframe, type TimeGrid } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesKey, SeriesStore } from '../ports.ts';
import { recordCorruption } from '../shared/corrupt-file.ts';
import { exchangeGrid } from './exchange-grid.ts';
import type { TimeInterval } from './missing-ranges.ts';

interface PageRequest extends TimeInterval {
  /** Of the returned candles: at least as long as the series' own. Start and end are on the grid of a longer one. */
  readonly timeframe: Timeframe;
  readonly limit: number;
  /** The newest candles of the interval instead of the first. */
  readonly newest: boolean;
}

/** Some candles from one end of an interval, ascending. */
interface CandlePage {
  readonly candles: Candles;
  /** The part of the interval that is not in the page; empty at the end. */
  readonly rest: TimeInterval;
}

/**
 * Up to `limit` candles of a stored series, or candles computed from it. Candles are read in steps that double, because
 * gaps make an interval hold fewer. A page ends early after {@link MAX_CANDLES_READ} stored candles.
 * Throws DATA005, also for a corrupt file, which is then recorded.
 */
export async function readPage(
  deps: {
    readonly series: Pick<SeriesStore, 'markCorrupt'>;
    readonly candles: Pick<CandleStore, 'read'>;
    readonly clock: Clock;
  },
  key: SeriesKey,
  { start, end, timeframe, limit, newest }: PageRequest,
): Promise<CandlePage> {
  const stepMs = TIMEFRAME_MS[timeframe];
  const storedMs = TIMEFRAME_MS[key.timeframe];
  const grid = exchangeGrid(key.exchange, timeframe);
  const parts: Candles[] = [];
  let rest: TimeInterval = { start, end };
  let count = 0;
  let left = MAX_CANDLES_READ;
  for (let spanMs = limit * stepMs; rest.start < rest.end && count < limit; spanMs *= 2) {
    const mostMs = Math.floor((left * storedMs) / stepMs) * stepMs;
    if (mostMs <= 0) break;
    const [part, further] = cut(rest, Math.min(spanMs, mostMs), {
      newest,
      ...(stepMs > storedMs && { grid }),
    });
    const stored = await recordCorruption(deps, key, () => deps.candles.read(key, part.start, part.end));
    const candles = stepMs === storedMs ? stored : aggregateCandles(stored, grid);
    if (newest) parts.unshift(candles);
    else parts.push(candles);
    rest = further;
    left -= stored.timestamp.length;
    count += candles.timestamp.length;
  }
  const candles = parts.length === 0 ? createCandles(0) : joinCandles(parts);
  if (count <= limit) return { candles, rest };
  // The page ends inside the interval that was read.
  return newest
    ? {
        candles: sliceCandles(candles, count - limit, count),
        rest: { start, end: candles.timestamp[count - limit]! },
      }
    : { candles: sliceCandles(candles, 0, limit), rest: { start: candles.timestamp[limit]!, end } };
}

/**
 * The `spanMs` at one end of an interval, and the rest.
 *
 * @param grid of computed candles: none is cut
 */
function cut(
  { start, end }: TimeInterval,
  spanMs: number,
  { newest, grid }: { readonly newest: boolean; readonly grid?: TimeGrid },
): [TimeInterval, TimeInterval] {
  const far = newest ? Math.max(start, end - spanMs) : Math.min(end, start + spanMs);
  const edge = grid && far > start && far < end ? (newest ? ceilTo(grid, far) : grid.floor(far)) : far;
  const [first, last] = [
    { start, end: edge },
    { start: edge, end },
  ];
  return newest ? [last, first] : [first, last];
}

/** DATA003 for a series that is not stored. */
export function notStored({ exchange, symbol, timeframe }: SeriesKey): CodedError {
  return new CodedError('DATA003', {
    message: `No ${timeframe} candles of ${symbol} on ${exchange} are stored: collect them first`,
    field: 'symbol',
    context: { exchange, symbol, timeframe },
  });
}
