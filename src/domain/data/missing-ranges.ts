import { DAY_MS } from '#contract/values/durations.ts';
import { indexAtOrAfter } from '#engine/candles.ts';
import type { SeriesMonth } from '../ports.ts';
import { monthsBetween } from './calendar-months.ts';

/** Times in ms, `[start, end)`, on the timeframe's grid. */
export interface TimeInterval {
  readonly start: number;
  readonly end: number;
}

/** Up to this many gaps are refetched by every collection; more of them at growing intervals. */
export const MAX_GAPS_ALWAYS_REFETCHED = 5;

/**
 * Part of an interval to fetch, by the series' months: all missing candles; only those before the first and after the last
 * candle, since the gaps were refetched recently; or nothing.
 */
export function fetchScope(
  months: readonly SeriesMonth[],
  interval: TimeInterval,
  { step, now }: { readonly step: number; readonly now: number },
): 'all' | 'edges' | 'nothing' {
  const names = monthsBetween(interval.start, interval.end);
  const known = months.filter(({ month }) => names.includes(month));
  if (known.length === 0 || known.some(({ count }) => count === 0)) return 'all';
  // Gaps between months have no refetch time, so refetch them on every run.
  if (known.some((month, i) => i > 0 && month.first > known[i - 1]!.last + step)) return 'all';
  const edges = known[0]!.first > interval.start || known.at(-1)!.last + step < interval.end;
  const withGaps = known.filter(({ gap_count }) => gap_count > 0);
  const refetchedLately = hasManyGaps(withGaps) && withGaps.every((month) => !isDue(month, now));
  if (withGaps.length > 0 && !refetchedLately) return 'all';
  if (!edges) return 'nothing';
  return withGaps.length > 0 ? 'edges' : 'all';
}

export function hasManyGaps(months: readonly SeriesMonth[]): boolean {
  return months.reduce((gaps, { gap_count }) => gaps + gap_count, 0) > MAX_GAPS_ALWAYS_REFETCHED;
}

/** Gaps are refetched when the month is twice as old as at the last refetch, after a day at the earliest. */
function isDue({ gaps_refetched_at, last }: SeriesMonth, now: number): boolean {
  return (
    gaps_refetched_at === undefined || now - gaps_refetched_at >= Math.max(DAY_MS, gaps_refetched_at - last)
  );
}

/** From the first missing time of an interval to the end of the last one; empty when all are known. */
export function missingBetween(known: Float64Array, interval: TimeInterval, step: number): TimeInterval[] {
  let { start, end } = interval;
  for (let i = indexAtOrAfter(known, start); known[i] === start; i++) start += step;
  for (let i = known.length - 1; end > start && known[i] === end - step; i--) end -= step;
  return start < end ? [{ start, end }] : [];
}

/** The parts of an interval before the first known time and after the last. */
export function missingAtEdges(
  known: Float64Array,
  { start, end }: TimeInterval,
  step: number,
): TimeInterval[] {
  if (known.length === 0) return [{ start, end }];
  const ends = [
    { start, end: known[0]! },
    { start: known.at(-1)! + step, end },
  ];
  return ends.filter((each) => each.start < each.end);
}
