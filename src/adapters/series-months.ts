import type { SeriesInfo, SeriesKey, SeriesMonth } from '#domain/ports.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

const GAPS_PER_MONTH = 20;
const GAPS_PER_SERIES = 100;

/**
 * What a month's file holds, from the open times in it.
 * @param times ascending and distinct, at least one
 * @param step length of a candle, ms
 */
export function describeMonth(month: string, times: Float64Array, step: number): SeriesMonth {
  const gaps: [number, number][] = [];
  let gapCount = 0;
  for (let row = 1; row < times.length; row++) {
    const missing = (times[row]! - times[row - 1]!) / step - 1;
    if (missing === 0) continue;
    gapCount++;
    if (gaps.length < GAPS_PER_MONTH) gaps.push([times[row - 1]! + step, missing]);
  }
  return { month, first: times[0]!, last: times.at(-1)!, count: times.length, gapCount, gaps };
}

/** The series that months make up: holes between them count as holes within them do. At least one month. */
export function summariseMonths(series: SeriesKey, months: readonly SeriesMonth[], at: string): SeriesInfo {
  const step = TIMEFRAME_MS[series.timeframe];
  const ordered = [...months].sort((a, b) => a.first - b.first);
  const gaps: (readonly [number, number])[] = [];
  let gapCount = 0;
  let count = 0;
  const damaged = ordered.filter((month) => month.count === 0).map(({ month }) => month);
  for (const [index, month] of ordered.entries()) {
    const expected = index === 0 ? month.first : ordered[index - 1]!.last + step;
    if (month.first > expected) {
      gapCount++;
      gaps.push([expected, (month.first - expected) / step]);
    }
    gapCount += month.gapCount;
    gaps.push(...month.gaps);
    count += month.count;
  }
  return {
    ...series,
    first: new Date(ordered[0]!.first).toISOString(),
    last: new Date(ordered.at(-1)!.last).toISOString(),
    count,
    gap_count: gapCount,
    gaps: gaps
      .slice(0, GAPS_PER_SERIES)
      .map(([start, missing]) => ({ start: new Date(start).toISOString(), missing })),
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
    return { ...each, count: 0, gapCount: 1, gaps: [[each.first, missing]] };
  });
}

/**
 * What is known of a series after a report on some of its months. A month's candles only ever grow in number, so the
 * report with more of them is the newer one.
 */
export function mergeMonths(
  known: readonly SeriesMonth[],
  reported: readonly SeriesMonth[],
): readonly SeriesMonth[] {
  const byMonth = new Map(known.map((month) => [month.month, month]));
  for (const month of reported) {
    const before = byMonth.get(month.month);
    if (!before || month.count > before.count) byMonth.set(month.month, month);
  }
  return [...byMonth.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
}
