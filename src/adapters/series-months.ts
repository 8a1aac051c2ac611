import { DAY_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { GAP_LIMITS } from '#contract/values/market-data-limits.ts';
import { areUnlistedQuiet, explainGaps, gapRulesOf, gapsBetween } from '#domain/data/gaps/explain-gaps.ts';
import { findSessions } from '#domain/data/gaps/find-sessions.ts';
import { MIN_CLOSED_MINUTES, sessionsOf } from '#domain/data/gaps/sessions.ts';
import type { DayChanges, Gap, SeriesInfo, SeriesKey, SeriesMonth, SeriesOrigin } from '#domain/ports.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';

/**
 * Summary of a month's file.
 *
 * @param times open times, ascending and distinct, at least one
 * @param step length of a candle, ms
 */
export function describeMonth(month: string, times: Float64Array, step: number): SeriesMonth {
  const allGaps = gapsBetween(times, step);
  const { gaps, longest_omitted_gap } = longestOf(allGaps, listedOf(allGaps, step));
  const [first, last] = [times[0]!, times.at(-1)!];
  return { month, first, last, count: times.length, gap_count: allGaps.length, gaps, longest_omitted_gap };
}

/** Gaps that a month lists. Those in which a market may be closed are as many as if no minute were without trades. */
function listedOf(allGaps: readonly Gap[], step: number): number {
  const { whole, month } = GAP_LIMITS;
  if (allGaps.length <= whole) return whole;
  const long = allGaps.filter(([, count]) => count * step >= MIN_CLOSED_MINUTES * MINUTE_MS).length;
  return long <= whole ? Math.max(long, month) : month;
}

/** The longest `limit` gaps in the given order, and the length of the longest omitted gap. */
function longestOf(
  allGaps: readonly Gap[],
  limit: number,
): { gaps: readonly Gap[]; longest_omitted_gap: number } {
  if (allGaps.length <= limit) return { gaps: allGaps, longest_omitted_gap: 0 };
  const byLength = [...allGaps].sort((a, b) => b[1] - a[1]);
  const listed = new Set(byLength.slice(0, limit));
  return { gaps: allGaps.filter((gap) => listed.has(gap)), longest_omitted_gap: byLength[limit]![1] };
}

/**
 * Summary of a series with at least one month; gaps between months count like gaps within them. Each gap is explained: those that are
 * damage are listed. Gaps that no month lists are damage in a series with closed times, unless all are minutes without trades.
 *
 * @param origin what imports state of the series
 */
export function summarizeMonths(
  series: SeriesKey,
  months: readonly SeriesMonth[],
  at: string,
  origin: SeriesOrigin = {},
): SeriesInfo {
  const step = TIMEFRAME_MS[series.timeframe];
  const { imported, calendar } = origin;
  const ordered = [...months].sort((a, b) => a.first - b.first);
  const allGaps: Gap[] = [];
  let gap_count = 0;
  let count = 0;
  const corrupt = ordered.filter((month) => month.count === 0).map(({ month }) => month);
  for (const [index, month] of ordered.entries()) {
    const begins = floorToGrid(month.first, step);
    const expected = index === 0 ? begins : floorToGrid(ordered[index - 1]!.last, step) + step;
    if (begins > expected) {
      gap_count++;
      allGaps.push([expected, (begins - expected) / step]);
    }
    gap_count += month.gap_count;
    allGaps.push(...month.gaps);
    count += month.count;
  }
  const [first, last] = [ordered[0]!.first, ordered.at(-1)!.last];
  const sessions = calendar ? sessionsOf(calendar) : findSessions({ first, last, gaps: allGaps }, step);
  const known = {
    ...series,
    ...(imported && { imported }),
    ...(calendar && { calendar }),
    ...(sessions && { sessions }),
  };
  const rules = gapRulesOf(known);
  const { damaged, closed, no_trades, damage } = explainGaps(allGaps, rules);
  const omitted = Math.max(0, ...ordered.map((month) => month.longest_omitted_gap));
  const unlisted =
    (floorToGrid(last, step) - floorToGrid(first, step)) / step + 1 - count - (closed + no_trades + damage);
  const isDamage = !areUnlistedQuiet(rules, omitted);
  const { gaps, longest_omitted_gap } = longestOf(damaged, GAP_LIMITS.series);
  return {
    ...known,
    first: new Date(first).toISOString(),
    last: new Date(last).toISOString(),
    count,
    gap_count,
    gaps,
    longest_omitted_gap: isDamage ? Math.max(longest_omitted_gap, omitted) : longest_omitted_gap,
    missing: {
      closed,
      no_trades: no_trades + (isDamage ? 0 : unlisted),
      damage: damage + (isDamage ? unlisted : 0),
    },
    ...(corrupt.length > 0 ? { corrupt } : {}),
    updated_at: at,
  };
}

/**
 * Marks one month as corrupt: the newest up to `month`, or the oldest if all are later. Its candles become one gap. Its
 * count of 0 lets every later report on the month replace it.
 */
export function withCorruptMonth(
  months: readonly SeriesMonth[],
  month: string,
  step: number,
): readonly SeriesMonth[] {
  const marked = months.findLast((each) => each.month <= month) ?? months[0];
  return months.map((each) => {
    if (each !== marked) return each;
    const missing = (each.last - each.first) / step + 1;
    return {
      ...each,
      count: 0,
      gap_count: 1,
      gaps: [[each.first, missing]],
      longest_omitted_gap: 0,
      gaps_refetched_at: undefined,
    };
  });
}

/**
 * Merges a report on some months of a series into the known months. The number of candles of a month only grows, so the
 * report with more candles is newer. It keeps the refetch time of the gaps, because most new candles are at the end.
 */
export function mergeMonths(
  known: readonly SeriesMonth[],
  reported: readonly SeriesMonth[],
): readonly SeriesMonth[] {
  const byMonth = new Map(known.map((month) => [month.month, month]));
  for (const month of reported) {
    const before = byMonth.get(month.month);
    const newer = !before || month.count > before.count ? month : before;
    byMonth.set(month.month, {
      ...newer,
      gaps_refetched_at: before?.gaps_refetched_at,
      changes: mergeChanges(before?.changes, month.changes),
    });
  }
  return [...byMonth.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
}

/** Both, by day: the later change counts, and a day with replaced candles stays one. */
export function mergeChanges(
  known: readonly DayChanges[] | undefined,
  added: readonly DayChanges[] | undefined,
): readonly DayChanges[] | undefined {
  if (!known || !added) return known ?? added;
  const days: (readonly [number, number])[] = [];
  for (const [from, to, at, revised] of [...known, ...added]) {
    for (let day = from; day <= to; day++) {
      const before = days[day];
      days[day] = before ? [Math.max(before[0], at), Math.max(before[1], revised)] : [at, revised];
    }
  }
  return runsOf(days);
}

/** Changes at one time. @param revisions `[day, true if stored candles were replaced]`; a day may be in several */
export function changesAt(
  at: number,
  revisions: Iterable<readonly [number, boolean]>,
): readonly DayChanges[] {
  const days: (readonly [number, number])[] = [];
  for (const [day, revised] of revisions) days[day] = [at, Math.max(days[day]?.[1] ?? 0, revised ? 1 : 0)];
  return runsOf(days);
}

function runsOf(days: readonly (readonly [number, number] | undefined)[]): readonly DayChanges[] {
  const runs: DayChanges[] = [];
  for (const [day, change] of days.entries()) {
    if (!change) continue;
    const last = runs.at(-1);
    if (last && last[1] === day - 1 && last[2] === change[0] && last[3] === change[1])
      runs[runs.length - 1] = [last[0], day, change[0], change[1]];
    else runs.push([day, day, ...change]);
  }
  return runs;
}

/** Days of the month on which candles open, each once. @param times ascending, of one month */
export function* daysOf(times: Float64Array): Generator<number> {
  let last = Number.NaN;
  for (let row = 0, { length } = times; row < length; row++) {
    const day = Math.floor(times[row]! / DAY_MS);
    if (day === last) continue;
    last = day;
    yield new Date(times[row]!).getUTCDate();
  }
}
