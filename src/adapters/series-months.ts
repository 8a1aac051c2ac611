import type { Gap, SeriesInfo, SeriesKey, SeriesMonth } from '#domain/ports.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

/** A hole takes 20 bytes where it is stored: ten years of months with all of theirs take 65 KB of an item's 400. */
const GAPS_PER_MONTH = 20;
const GAPS_PER_SERIES = 40;

/**
 * What a month's file holds, from the open times in it.
 * @param times ascending and distinct, at least one
 * @param step length of a candle, ms
 */
export function describeMonth(month: string, times: Float64Array, step: number): SeriesMonth {
  const holes: Gap[] = [];
  for (let row = 1; row < times.length; row++) {
    const missing = (times[row]! - times[row - 1]!) / step - 1;
    if (missing > 0) holes.push([times[row - 1]! + step, missing]);
  }
  const { gaps, unlisted } = longestOf(holes, GAPS_PER_MONTH);
  const [first, last] = [times[0]!, times.at(-1)!];
  return { month, first, last, count: times.length, gapCount: holes.length, gaps, unlisted };
}

/** The longest of some holes, in the order in which all were given, and how long the longest of the others is. */
function longestOf(holes: readonly Gap[], limit: number): { gaps: readonly Gap[]; unlisted: number } {
  if (holes.length <= limit) return { gaps: holes, unlisted: 0 };
  const byLength = [...holes].sort((a, b) => b[1] - a[1]);
  const listed = new Set(byLength.slice(0, limit));
  return { gaps: holes.filter((hole) => listed.has(hole)), unlisted: byLength[limit]![1] };
}

/** The series that months make up: holes between them count as holes within them do. At least one month. */
export function summariseMonths(series: SeriesKey, months: readonly SeriesMonth[], at: string): SeriesInfo {
  const step = TIMEFRAME_MS[series.timeframe];
  const ordered = [...months].sort((a, b) => a.first - b.first);
  const holes: Gap[] = [];
  let gapCount = 0;
  let count = 0;
  const damaged = ordered.filter((month) => month.count === 0).map(({ month }) => month);
  for (const [index, month] of ordered.entries()) {
    const expected = index === 0 ? month.first : ordered[index - 1]!.last + step;
    if (month.first > expected) {
      gapCount++;
      holes.push([expected, (month.first - expected) / step]);
    }
    gapCount += month.gapCount;
    holes.push(...month.gaps);
    count += month.count;
  }
  const { gaps, unlisted } = longestOf(holes, GAPS_PER_SERIES);
  return {
    ...series,
    first: new Date(ordered[0]!.first).toISOString(),
    last: new Date(ordered.at(-1)!.last).toISOString(),
    count,
    gap_count: gapCount,
    gaps,
    longest_unlisted: Math.max(unlisted, ...ordered.map((month) => month.unlisted)),
    ...(damaged.length > 0 ? { damaged } : {}),
    updated_at: at,
  };
}

/**
 * The months with one marked as damaged, its candles as one hole: the newest up to `month`, the oldest where none is.
 * The count of 0 lets every later report on the month win.
 */
export function withDamage(
  months: readonly SeriesMonth[],
  month: string,
  step: number,
): readonly SeriesMonth[] {
  const marked = months.findLast((each) => each.month <= month) ?? months[0];
  return months.map((each) => {
    if (each !== marked) return each;
    const missing = (each.last - each.first) / step + 1;
    return { ...each, count: 0, gapCount: 1, gaps: [[each.first, missing]], unlisted: 0, askedAt: undefined };
  });
}

/**
 * What is known of a series after a report on some of its months. A month's candles only ever grow in number, so the
 * report with more of them is the newer one. When its holes were asked for stays known: mostly it grows at its end.
 */
export function mergeMonths(
  known: readonly SeriesMonth[],
  reported: readonly SeriesMonth[],
): readonly SeriesMonth[] {
  const byMonth = new Map(known.map((month) => [month.month, month]));
  for (const month of reported) {
    const before = byMonth.get(month.month);
    if (!before || month.count > before.count)
      byMonth.set(month.month, { ...month, askedAt: before?.askedAt });
  }
  return [...byMonth.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
}
