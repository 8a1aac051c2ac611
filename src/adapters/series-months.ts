import { GAP_LIMITS } from '#contract/values/market-data-limits.ts';
import type { Gap, SeriesInfo, SeriesKey, SeriesMonth } from '#domain/ports.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

/**
 * Summary of a month's file.
 *
 * @param times open times, ascending and distinct, at least one
 * @param step length of a candle, ms
 */
export function describeMonth(month: string, times: Float64Array, step: number): SeriesMonth {
  const allGaps: Gap[] = [];
  for (let row = 1; row < times.length; row++) {
    const missing = (times[row]! - times[row - 1]!) / step - 1;
    if (missing > 0) allGaps.push([times[row - 1]! + step, missing]);
  }
  const { gaps, longest_omitted_gap } = longestOf(allGaps, GAP_LIMITS.month);
  const [first, last] = [times[0]!, times.at(-1)!];
  return { month, first, last, count: times.length, gap_count: allGaps.length, gaps, longest_omitted_gap };
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

/** Summary of a series with at least one month; gaps between months count like gaps within them. */
export function summarizeMonths(series: SeriesKey, months: readonly SeriesMonth[], at: string): SeriesInfo {
  const step = TIMEFRAME_MS[series.timeframe];
  const ordered = [...months].sort((a, b) => a.first - b.first);
  const allGaps: Gap[] = [];
  let gap_count = 0;
  let count = 0;
  const corrupt = ordered.filter((month) => month.count === 0).map(({ month }) => month);
  for (const [index, month] of ordered.entries()) {
    const expected = index === 0 ? month.first : ordered[index - 1]!.last + step;
    if (month.first > expected) {
      gap_count++;
      allGaps.push([expected, (month.first - expected) / step]);
    }
    gap_count += month.gap_count;
    allGaps.push(...month.gaps);
    count += month.count;
  }
  const { gaps, longest_omitted_gap } = longestOf(allGaps, GAP_LIMITS.series);
  return {
    ...series,
    first: new Date(ordered[0]!.first).toISOString(),
    last: new Date(ordered.at(-1)!.last).toISOString(),
    count,
    gap_count,
    gaps,
    longest_omitted_gap: Math.max(longest_omitted_gap, ...ordered.map((month) => month.longest_omitted_gap)),
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
    if (!before || month.count > before.count)
      byMonth.set(month.month, { ...month, gaps_refetched_at: before?.gaps_refetched_at });
  }
  return [...byMonth.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
}
