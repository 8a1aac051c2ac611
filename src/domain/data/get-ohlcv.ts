import { CodedError } from '#contract/errors.ts';
import type { Ohlcv, OhlcvQuery } from '#contract/market-data.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesKey, SeriesStore } from '../ports.ts';
import { checkSymbol, checkTimeframe, isoTime } from '../validate.ts';
import { recordCorruption } from './corrupt-file.ts';
import { parseRange } from './time-range.ts';

/**
 * Stored candles that open in [start, end), ascending: the first `limit` of them, or the newest without a `start`.
 * Throws VAL001, VAL002, VAL003, DATA003 (no such series is stored), DATA005.
 */
export async function getOhlcv(
  deps: {
    readonly series: SeriesStore;
    readonly candles: CandleStore;
    readonly clock: Clock;
    readonly defaultExchange: string;
  },
  input: OhlcvQuery,
): Promise<Ohlcv> {
  const { exchange = deps.defaultExchange, limit } = input;
  const symbol = checkSymbol(input.symbol, 'symbol');
  const timeframe = checkTimeframe(input.timeframe, 'timeframe');
  const range = parseRange(input);
  const stored = await deps.series.getMany(exchange, [{ symbol, timeframe }]);
  const info = stored.get(`${symbol}#${timeframe}`);
  if (!info) {
    throw new CodedError('DATA003', {
      message: `No ${timeframe} candles of ${symbol} on ${exchange} are stored: collect them first`,
      field: 'symbol',
      context: { exchange, symbol, timeframe },
    });
  }
  const first = Date.parse(info.first);
  const end = Date.parse(info.last) + TIMEFRAME_MS[timeframe];
  const bounds = { from: Math.max(first, range.start ?? first), to: Math.min(end, range.end ?? end) };
  const key = { exchange, symbol, timeframe };
  const candles = await recordCorruption(deps, key, () =>
    readSome(deps.candles, key, bounds, limit, range.start === undefined),
  );
  const data = toRecords(candles);
  return { exchange, symbol, timeframe, data, count: data.length };
}

/** `limit` candles from one side of the range. The interval read doubles until gaps no longer matter. */
async function readSome(
  store: CandleStore,
  key: SeriesKey,
  { from, to }: { readonly from: number; readonly to: number },
  limit: number,
  newest: boolean,
): Promise<Candles> {
  for (let span = limit * TIMEFRAME_MS[key.timeframe]; ; span *= 2) {
    const start = newest ? Math.max(from, to - span) : from;
    const end = newest ? to : Math.min(to, from + span);
    const candles = await store.read(key, start, end);
    const count = candles.timestamp.length;
    const isComplete = newest ? start <= from : end >= to;
    if (count < limit && !isComplete) continue;
    return newest
      ? sliceCandles(candles, Math.max(0, count - limit), count)
      : sliceCandles(candles, 0, Math.min(limit, count));
  }
}

function toRecords(candles: Candles): Ohlcv['data'] {
  return Array.from(candles.timestamp, (time, i) => ({
    timestamp: isoTime(time),
    open: candles.open[i]!,
    high: candles.high[i]!,
    low: candles.low[i]!,
    close: candles.close[i]!,
    volume: candles.volume[i]!,
  }));
}
