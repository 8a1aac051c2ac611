import type { ConditionQuery, DayCondition, SeriesCondition } from '#contract/market-data/series.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesMonth, SeriesStates, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { gapRulesOf } from './gaps/explain-gaps.ts';
import { explainMonths, missingOfPart } from './gaps/missing-in-range.ts';
import { findSeries } from './list-series.ts';
import { parseRange } from './time-range.ts';

export interface ConditionDeps {
  readonly series: SeriesStore & SeriesStates;
  readonly candles: Pick<CandleStore, 'read'>;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

/**
 * Condition of each day of a series, counted from its candles. Days before the first and after the last candle are not listed. Throws
 * VAL001, VAL002, VAL003, DATA003, DATA005.
 */
export async function getSeriesCondition(
  deps: ConditionDeps,
  query: ConditionQuery,
): Promise<SeriesCondition> {
  const range = parseRange({ start: query.from, end: query.to }, ['from', 'to']);
  const info = await findSeries(deps, query);
  const { exchange, symbol, timeframe } = info;
  const step = TIMEFRAME_MS[timeframe];
  const begins = Math.max(range.start ?? 0, Date.parse(info.first));
  const ends = Math.min(range.end ?? Number.POSITIVE_INFINITY, Date.parse(info.last) + 1);
  const from = floorToGrid(begins, DAY_MS);
  const until = ceilToGrid(ends, DAY_MS);
  const to = Math.min(until, from + query.limit * DAY_MS);
  const { months } = await deps.series.state(info);
  // A corrupt month has no candles: its days are gaps.
  const { timestamp } = await deps.candles.read(info, from, to, () => {}, months);
  const counts = new Map<number, number>();
  for (const time of timestamp) {
    const day = floorToGrid(time, DAY_MS);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const rules = gapRulesOf(info);
  const explained = explainMonths(months, rules);
  const changes = changesOf(months);
  const closedBy = floorToGrid(deps.clock.now(), step);
  const items: DayCondition[] = [];
  for (let day = from; day < to; day += DAY_MS) {
    const candles = counts.get(day) ?? 0;
    const slots = slotsBetween(day, Math.min(day + DAY_MS, closedBy), step);
    if (Math.max(candles, slots) === 0) continue;
    const part = { start: ceilToGrid(day, step), end: ceilToGrid(day + DAY_MS, step) };
    const { closed, no_trades } = missingOfPart(explained, part, candles, rules);
    const expected = Math.max(candles, slots - closed - no_trades);
    const date = isoTime(day).slice(0, 10);
    const { revised = false, at } = changes.get(date) ?? {};
    const complete = revised ? 'revised' : 'complete';
    items.push({
      date,
      condition: expected === 0 ? 'closed' : candles < expected ? 'gap' : complete,
      candles,
      expected,
      revised,
      changed_at: at === undefined ? null : isoTime(at),
    });
  }
  return { exchange, symbol, timeframe, items, next_from: to < until ? isoTime(to).slice(0, 10) : null };
}

function slotsBetween(start: number, end: number, step: number): number {
  return Math.max(0, (ceilToGrid(end, step) - ceilToGrid(start, step)) / step);
}

/** By day, `YYYY-MM-DD`. */
function changesOf(
  months: readonly SeriesMonth[],
): ReadonlyMap<string, { readonly at: number; readonly revised: boolean }> {
  const days = new Map<string, { readonly at: number; readonly revised: boolean }>();
  for (const { month, changes = [] } of months) {
    for (const [from, to, at, revised] of changes) {
      for (let day = from; day <= to; day++)
        days.set(`${month}-${String(day).padStart(2, '0')}`, { at, revised: revised === 1 });
    }
  }
  return days;
}
