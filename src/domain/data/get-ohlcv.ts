import type { Ohlcv, OhlcvQuery } from '#contract/market-data/market-data.ts';
import type { Candles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { notStored, readPage } from './read-page.ts';
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
  const symbol = checkSymbol(input.symbol, 'symbol', input.trading_mode);
  const timeframe = checkTimeframe(input.timeframe, 'timeframe');
  const range = parseRange(input);
  const stored = await deps.series.getMany(exchange, [{ symbol, timeframe }]);
  const info = stored.get(`${symbol}#${timeframe}`);
  if (!info) throw notStored({ exchange, symbol, timeframe });
  const first = Date.parse(info.first);
  const end = Date.parse(info.last) + TIMEFRAME_MS[timeframe];
  const bounds = { start: Math.max(first, range.start ?? first), end: Math.min(end, range.end ?? end) };
  const { candles } = await readPage(
    deps,
    { exchange, symbol, timeframe },
    { ...bounds, timeframe, limit, newest: range.start === undefined },
  );
  const data = toRecords(candles);
  return { exchange, symbol, timeframe, data, count: data.length };
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
