import type { Freshness, FreshnessQuery } from '#contract/market-data/market-data.ts';
import { HOUR_MS } from '#contract/values/durations.ts';
import { ALL_TIMEFRAMES, ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { monthsBetween } from './calendar-months.ts';
import { gapRulesOf, openCandles } from './gaps/explain-gaps.ts';
import { missingInRange } from './gaps/missing-in-range.ts';
import type { MissingCandles } from './gaps/sessions.ts';
import { parseRange, type TimeRange } from './time-range.ts';

interface FreshnessDeps {
  readonly series: SeriesStore;
  readonly candles: Pick<CandleStore, 'read'>;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

/**
 * Freshness of the stored candles. Without a range: the last closed candle ended at most the threshold ago.
 * With `start` or `end`: the series covers [start, min(end, now - threshold)] without damage longer than the threshold: closed times and candles
 * without trades are covered, so that a run over the past needs no new candles. Candles before the first one that the exchange has are not
 * required. A symbol without stored candles is stale, and so is a month whose file was found corrupt. A series must be
 * stored in the requested timeframe; of several (comma separated) each must be fresh. A further timeframe is accepted where it
 * is stored. Without a timeframe the newest series of each symbol is examined.
 * Throws VAL001, VAL002, VAL003, DATA005.
 */
export async function getDataFreshness(deps: FreshnessDeps, query: FreshnessQuery): Promise<Freshness> {
  const { exchange = deps.defaultExchange, stale_threshold_hours } = query;
  const symbols = [
    ...new Set(query.symbols.map((symbol) => checkSymbol(symbol, 'symbols', query.trading_mode))),
  ];
  const timeframes = query.timeframe
    ?.split(',')
    .map((each) => checkTimeframe(each, 'timeframe', ALL_TIMEFRAMES));
  const range = parseRange(query);
  const stored = await readSeries(deps.series, exchange, symbols, timeframes);
  for (const [at, timeframe] of timeframes?.entries() ?? []) {
    // The check before a run names a further timeframe only where it is stored.
    if (!symbols.some((symbol) => stored(symbol)[at])) checkTimeframe(timeframe, 'timeframe');
  }
  const now = deps.clock.now();
  const report = symbols.map((symbol) => {
    const results = stored(symbol).map((info) =>
      freshnessOf(symbol, info, range, now, stale_threshold_hours * HOUR_MS),
    );
    return results.find((each) => !each.fresh) ?? results[0]!;
  });
  const missing = timeframes && (await countMissing(deps, symbols.map(stored), timeframes, range));
  const stale = report.filter((each) => !each.fresh).map((each) => each.symbol);
  return {
    all_fresh: stale.length === 0,
    stale_symbols: stale,
    ...(missing && { missing_candles: missing.no_trades + missing.damage, missing }),
    exchange,
    stale_threshold_hours,
    symbols: report,
  };
}

/**
 * Candles in a range that are not stored, by the reason. Undefined for a range without start or end.
 *
 * @param stored for each symbol its series of each timeframe
 */
async function countMissing(
  deps: FreshnessDeps,
  stored: readonly (readonly (SeriesInfo | undefined)[])[],
  timeframes: readonly Timeframe[],
  range: TimeRange,
): Promise<MissingCandles | undefined> {
  const { start, end } = range;
  if (start === undefined || end === undefined) return undefined;
  const parts = timeframes.flatMap((timeframe, at) => {
    const step = TIMEFRAME_MS[timeframe];
    const opens = (time: number) => ceilToGrid(time, step);
    const interval = { start: opens(start), end: Math.min(opens(end), floorToGrid(deps.clock.now(), step)) };
    const all = Math.max(0, (interval.end - interval.start) / step);
    return stored.map((series) => {
      const info = series[at];
      return info ? missingInRange(deps, info, interval) : { closed: 0, no_trades: 0, damage: all };
    });
  });
  const total = { closed: 0, no_trades: 0, damage: 0 };
  for (const { closed, no_trades, damage } of await Promise.all(parts)) {
    total.closed += closed;
    total.no_trades += no_trades;
    total.damage += damage;
  }
  return total;
}

/**
 * Series to examine for each symbol: one per requested timeframe, undefined when it is not stored. Without a timeframe:
 * the series whose last candle ended last.
 */
async function readSeries(
  store: SeriesStore,
  exchange: string,
  symbols: readonly string[],
  timeframes: readonly Timeframe[] | undefined,
): Promise<(symbol: string) => readonly (SeriesInfo | undefined)[]> {
  const wanted = symbols.flatMap((symbol) =>
    (timeframes ?? ALL_TIMEFRAMES).map((timeframe) => ({ symbol, timeframe })),
  );
  const stored = await store.getMany(exchange, wanted);
  return (symbol) => {
    const series = (timeframes ?? ALL_TIMEFRAMES).map((timeframe) => stored.get(`${symbol}#${timeframe}`));
    return timeframes ? series : [newestOf(series)];
  };
}

function newestOf(series: readonly (SeriesInfo | undefined)[]): SeriesInfo | undefined {
  return series.reduce(
    (best, info) => (info && (!best || endOf(info) > endOf(best)) ? info : best),
    undefined,
  );
}

/** When the last closed candle ended, ms. */
function endOf(info: SeriesInfo): number {
  return Date.parse(info.last) + TIMEFRAME_MS[info.timeframe];
}

/** Age of a series. @param thresholdMs age from which it is stale */
export function freshnessOf(
  symbol: string,
  info: SeriesInfo | undefined,
  range: TimeRange,
  now: number,
  thresholdMs: number,
): Freshness['symbols'][number] {
  if (!info) return { symbol, timeframe: null, first: null, last: null, age_hours: null, fresh: false };
  const age = now - endOf(info);
  const ranged = range.start !== undefined || range.end !== undefined;
  return {
    symbol,
    timeframe: info.timeframe,
    first: info.first,
    last: info.last,
    age_hours: Math.round((age / HOUR_MS) * 100) / 100,
    fresh: ranged
      ? covers(info, range, now - thresholdMs, thresholdMs)
      : age <= thresholdMs && !info.corrupt?.length,
  };
}

/**
 * True when the series holds every candle that opens in the range and had closed by `closedBy`, except for short gaps.
 */
function covers(info: SeriesInfo, range: TimeRange, closedBy: number, longestGap: number): boolean {
  const step = TIMEFRAME_MS[info.timeframe];
  const first = floorToGrid(Date.parse(info.first), step);
  const from = range.start === undefined ? first : ceilToGrid(range.start, step);
  const opensBefore = range.end === undefined ? Infinity : ceilToGrid(range.end, step);
  const to = Math.min(opensBefore, floorToGrid(closedBy, step));
  const begins = Math.min(first, info.complete_from === undefined ? first : Date.parse(info.complete_from));
  const rules = gapRulesOf(info);
  const isOpenIn = (start: number, end: number) =>
    start < end && openCandles([start, (end - start) / step], rules) > 0;
  const end = floorToGrid(Date.parse(info.last), step) + step;
  if ((begins > from && isOpenIn(from, Math.min(first, to))) || isOpenIn(Math.max(end, from), to))
    return false;
  if (info.corrupt && monthsBetween(from, to).some((month) => info.corrupt!.includes(month))) return false;
  // Omitted gaps may be anywhere in the range: the longest of them decides.
  if (info.longest_omitted_gap * step > longestGap) return false;
  return info.gaps.every(
    ([start, missing]) => Math.min(start + missing * step, to) - Math.max(start, from) <= longestGap,
  );
}
