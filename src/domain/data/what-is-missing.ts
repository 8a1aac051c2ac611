import { indexAtOrAfter } from '#engine/candles.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import type { SeriesMonth } from '../ports.ts';
import { monthsBetween } from './months.ts';

/** Times in ms, `[start, end)`, on the timeframe's grid. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** So many holes are asked for whenever they are met; more of them again and again, at longer and longer intervals. */
export const FEW_HOLES = 5;

/**
 * What an exchange is to be asked for of a stretch, as the series' months have it: all that is missing; what is missing
 * before the first and after the last candle, since it was asked for the holes lately; or nothing.
 */
export function wantedOf(
  months: readonly SeriesMonth[],
  stretch: Stretch,
  { step, now }: { readonly step: number; readonly now: number },
): 'all' | 'ends' | 'nothing' {
  const names = monthsBetween(stretch.start, stretch.end);
  const known = months.filter(({ month }) => names.includes(month));
  if (known.length === 0 || known.some(({ count }) => count === 0)) return 'all';
  // Of holes between months nobody notes when they were asked for.
  if (known.some((month, i) => i > 0 && month.first > known[i - 1]!.last + step)) return 'all';
  const ends = known[0]!.first > stretch.start || known.at(-1)!.last + step < stretch.end;
  const holed = known.filter(({ gapCount }) => gapCount > 0);
  const askedLately = isManyHoles(holed) && holed.every((month) => !isDue(month, now));
  if (holed.length > 0 && !askedLately) return 'all';
  if (!ends) return 'nothing';
  return holed.length > 0 ? 'ends' : 'all';
}

export function isManyHoles(months: readonly SeriesMonth[]): boolean {
  return months.reduce((holes, { gapCount }) => holes + gapCount, 0) > FEW_HOLES;
}

/** Holes are asked for again when the month is twice as long ago as it was the last time, after a day at the earliest. */
function isDue({ askedAt, last }: SeriesMonth, now: number): boolean {
  return askedAt === undefined || now - askedAt >= Math.max(DAY_MS, askedAt - last);
}

/** From the first missing time of a stretch to the end of the last one; none when none is missing. */
export function missingBetween(known: Float64Array, stretch: Stretch, step: number): Stretch[] {
  let { start, end } = stretch;
  for (let i = indexAtOrAfter(known, start); known[i] === start; i++) start += step;
  for (let i = known.length - 1; end > start && known[i] === end - step; i--) end -= step;
  return start < end ? [{ start, end }] : [];
}

/** The parts of a stretch before the first known time and after the last. */
export function missingAtEnds(known: Float64Array, { start, end }: Stretch, step: number): Stretch[] {
  if (known.length === 0) return [{ start, end }];
  const ends = [
    { start, end: known[0]! },
    { start: known.at(-1)! + step, end },
  ];
  return ends.filter((each) => each.start < each.end);
}
