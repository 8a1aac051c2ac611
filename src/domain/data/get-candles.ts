import type { CandleColumns, CandlesQuery } from '#contract/market-data/market-data.ts';
import { completeBuckets } from '#engine/indicators/resample.ts';
import {
  ALL_TIMEFRAMES,
  ceilTo,
  divides,
  TIMEFRAME_MS,
  type Timeframe,
  type TimeGrid,
} from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { exchangeGrid } from './exchange-grid.ts';
import { notStored, readPage } from './read-page.ts';
import { parseRange, type TimeRange } from './time-range.ts';

/**
 * Candles that open in [from, to), as columns: the first `limit` of them, or the newest without a `from`. A timeframe that
 * is not stored is computed from a shorter one, by the rules of `resampleCandles`.
 * Throws VAL001, VAL002, VAL003, DATA003 (neither the series nor a shorter one is stored), DATA005.
 */
export async function getCandles(
  deps: {
    readonly series: SeriesStore;
    readonly candles: CandleStore;
    readonly clock: Clock;
    readonly defaultExchange: string;
  },
  input: CandlesQuery,
): Promise<CandleColumns> {
  const { exchange = deps.defaultExchange, limit } = input;
  const symbol = checkSymbol(input.symbol, 'symbol', input.trading_mode);
  const timeframe = checkTimeframe(input.timeframe, 'timeframe', ALL_TIMEFRAMES);
  const range = parseRange({ start: input.from, end: input.to }, ['from', 'to']);
  const sources = ALL_TIMEFRAMES.filter((each) => divides(each, timeframe));
  const stored = await deps.series.getMany(
    exchange,
    sources.map((each) => ({ symbol, timeframe: each })),
  );
  const source = chooseSource([...stored.values()], timeframe);
  if (!source) throw notStored({ exchange, symbol, timeframe });
  const { newest, incomplete, ...bounds } = boundsOf(
    source,
    source.timeframe === timeframe ? undefined : exchangeGrid(exchange, timeframe),
    range,
  );
  const { candles, rest } = await readPage(
    deps,
    { exchange, symbol, timeframe: source.timeframe },
    { ...bounds, timeframe, limit, newest },
  );
  const isEnd = rest.start >= rest.end;
  return {
    exchange,
    symbol,
    timeframe,
    source_timeframe: source.timeframe,
    count: candles.timestamp.length,
    times: Array.from(candles.timestamp, (time) => time / 1000),
    open: [...candles.open],
    high: [...candles.high],
    low: [...candles.low],
    close: [...candles.close],
    volume: [...candles.volume],
    next_from: newest || isEnd ? null : isoTime(rest.start),
    next_to: newest && !isEnd ? isoTime(rest.end) : null,
    incomplete_from: incomplete === undefined ? null : isoTime(incomplete),
  };
}

/** The series of that timeframe, else the one with the longest range, the longest timeframe among equals. */
function chooseSource(stored: readonly SeriesInfo[], timeframe: Timeframe): SeriesInfo | undefined {
  const exact = stored.find((each) => each.timeframe === timeframe);
  const rangeMs = ({ first, last, timeframe: own }: SeriesInfo) =>
    Date.parse(last) + TIMEFRAME_MS[own] - Date.parse(first);
  const [longest] = [...stored].sort(
    (a, b) => rangeMs(b) - rangeMs(a) || TIMEFRAME_MS[b.timeframe] - TIMEFRAME_MS[a.timeframe],
  );
  return exact ?? longest;
}

/**
 * The part of the range that has complete candles, ms, and the open time of an incomplete one that follows it.
 *
 * @param grid of computed candles; stored ones may open anywhere
 */
function boundsOf({ first, last, timeframe: own }: SeriesInfo, grid: TimeGrid | undefined, range: TimeRange) {
  const storedMs = TIMEFRAME_MS[own];
  const [begin, storedEnd] = [Date.parse(first), Date.parse(last) + storedMs];
  const complete = grid
    ? completeBuckets(begin, Date.parse(last), storedMs, grid)
    : { start: begin, end: storedEnd };
  const onGrid = (time: number | undefined, fallback: number) =>
    time === undefined ? fallback : grid ? ceilTo(grid, time) : time;
  const end = onGrid(range.end, Number.POSITIVE_INFINITY);
  const isCut = complete.end < storedEnd && complete.end < end && complete.end >= onGrid(range.start, 0);
  return {
    start: Math.max(complete.start, onGrid(range.start, complete.start)),
    end: Math.min(complete.end, end),
    newest: range.start === undefined,
    incomplete: isCut ? complete.end : undefined,
  };
}
