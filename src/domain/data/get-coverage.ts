import type {
  Coverage,
  CoverageMonth,
  CoverageQuery,
  CoverageSeries,
} from '#contract/market-data/coverage.ts';
import { MAX_COVERAGE_MONTHS } from '#contract/values/market-data-limits.ts';
import { ALL_TIMEFRAMES, ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Clock, Page, SeriesInfo, SeriesMonth, SeriesStore } from '../ports.ts';
import { checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { monthBounds, monthsBetween } from './calendar-months.ts';
import { gapRulesOf } from './gaps/explain-gaps.ts';
import { explainMonths, missingOfPart } from './gaps/missing-in-range.ts';
import { seriesFields } from './series-fields.ts';

/**
 * Stored candles of each series by month: of one symbol, or of a page of symbols. Reads the summaries of the series only,
 * no candles. Throws VAL002, VAL003, VAL006 (cursor), DATA005.
 */
export async function getCoverage(
  deps: { readonly series: SeriesStore; readonly clock: Clock; readonly defaultExchange: string },
  input: CoverageQuery,
): Promise<Coverage> {
  const { exchange = deps.defaultExchange } = input;
  const symbol =
    input.symbol === undefined ? undefined : checkSymbol(input.symbol, 'symbol', input.trading_mode);
  const timeframe =
    input.timeframe === undefined ? undefined : checkTimeframe(input.timeframe, 'timeframe', ALL_TIMEFRAMES);
  const page =
    symbol === undefined
      ? await pageOf(deps.series, exchange, input, timeframe)
      : await seriesOf(deps.series, exchange, symbol);
  const wanted = page.items.filter((info) => timeframe === undefined || info.timeframe === timeframe);
  const months = await deps.series.monthsOfMany(exchange, wanted);
  const items = wanted.map((info) =>
    coverageOf(info, months.get(`${info.symbol}#${info.timeframe}`) ?? [], deps.clock.now()),
  );
  return { exchange, items, next_cursor: page.next };
}

/** A page of up to `limit` symbols with up to {@link MAX_COVERAGE_MONTHS} months, at least one symbol. */
async function pageOf(
  series: SeriesStore,
  exchange: string,
  { limit, cursor = null }: { readonly limit: number; readonly cursor?: string | null | undefined },
  timeframe: Timeframe | undefined,
): Promise<Page<SeriesInfo>> {
  const page = await series.listPage(exchange, limit, cursor);
  let symbols = 0;
  let months = 0;
  for (const stored of Map.groupBy(page.items, ({ symbol }) => symbol).values()) {
    const wanted = stored.filter((info) => timeframe === undefined || info.timeframe === timeframe);
    months += wanted.reduce((sum, info) => sum + monthCount(info), 0);
    // Read again, because the cursor names the last symbol of its page.
    if (months > MAX_COVERAGE_MONTHS && symbols > 0) return series.listPage(exchange, symbols, cursor);
    symbols++;
  }
  return page;
}

const monthCount = ({ first, last }: SeriesInfo): number =>
  monthsBetween(Date.parse(first), Date.parse(last) + 1).length;

async function seriesOf(series: SeriesStore, exchange: string, symbol: string): Promise<Page<SeriesInfo>> {
  const keys = ALL_TIMEFRAMES.map((timeframe) => ({ symbol, timeframe }));
  return { items: [...(await series.getMany(exchange, keys)).values()], next: null };
}

function coverageOf(info: SeriesInfo, stored: readonly SeriesMonth[], now: number): CoverageSeries {
  const { timeframe, first, last, complete_from = null } = info;
  const months = monthsBetween(Date.parse(first), Date.parse(last) + 1);
  const rules = gapRulesOf(info);
  const { step } = rules;
  const explained = explainMonths(stored, rules);
  const range = {
    first: floorToGrid(Date.parse(first), step),
    end: floorToGrid(Date.parse(last), step) + step,
  };
  const byMonth = new Map(stored.map((each, index) => [each.month, index]));
  return {
    ...seriesFields(info),
    sessions: info.sessions
      ? {
          clock: info.sessions.clock,
          closed: info.sessions.closed.map(([from, minutes]): [number, number] => [from, minutes]),
        }
      : null,
    complete_from,
    months: months.map((month) => {
      const index = byMonth.get(month);
      const each = index === undefined ? undefined : stored[index]!;
      const bounds = monthBounds(month);
      const part = {
        start: Math.max(ceilToGrid(bounds.start, step), range.first),
        end: Math.min(ceilToGrid(bounds.end, step), range.end),
      };
      const absent = missingOfPart(explained, part, each?.count ?? 0, rules);
      return {
        month,
        candles: each?.count ?? 0,
        expected: expectedIn(month, info, now) - absent.closed,
        missing: absent,
        gap_count: each ? gapsIn(each, stored[index! - 1], stored[index! + 1], timeframe) : 1,
        corrupt: each?.count === 0,
      } satisfies CoverageMonth;
    }),
  };
}

/** Candles that a month has until now, without those that the exchange is known not to have. */
function expectedIn(
  month: string,
  { timeframe, first, last, complete_from }: SeriesInfo,
  now: number,
): number {
  const step = TIMEFRAME_MS[timeframe];
  const { start, end } = monthBounds(month);
  const closed = Math.max(floorToGrid(now, step), Date.parse(last) + step);
  const begins = Date.parse(first);
  const absentFrom = Math.max(start, complete_from === undefined ? begins : Date.parse(complete_from));
  return (
    candlesBetween(start, Math.min(end, closed), step) -
    candlesBetween(absentFrom, Math.min(begins, end), step)
  );
}

/** Number of candles that open in `[start, end)` ms. */
function candlesBetween(start: number, end: number, step: number): number {
  return Math.max(0, (ceilToGrid(end, step) - ceilToGrid(start, step)) / step);
}

/** Gaps within a month, and those at its edges towards its neighbours. */
function gapsIn(
  month: SeriesMonth,
  before: SeriesMonth | undefined,
  after: SeriesMonth | undefined,
  timeframe: Timeframe,
): number {
  const step = TIMEFRAME_MS[timeframe];
  const { start, end } = monthBounds(month.month);
  const leading = before !== undefined && month.first >= start + step ? 1 : 0;
  const trailing = after !== undefined && month.last + step < end ? 1 : 0;
  return leading + month.gap_count + trailing;
}
