import { DAY_MS, HOUR_MS } from '#contract/values/durations.ts';

/** Clocks by which markets open: UTC, or UTC with an hour added in the summer of the United States or of Europe. */
export const MARKET_CLOCKS = ['utc', 'us', 'eu'] as const;
export type MarketClock = (typeof MARKET_CLOCKS)[number];

/** Summer time of the United States has its present dates since this year. */
const US_RULE_OF = 2007;

const MEAN_YEAR_MS = 365.2425 * DAY_MS;

/** `time` by a market's clock: a session has the same times of the week in summer and in winter. */
export function clockTime(time: number, clock: MarketClock): number {
  if (clock === 'utc') return time;
  // Around the new year it is winter in either year.
  const [start, end] = summerOf(1970 + Math.floor(time / MEAN_YEAR_MS), clock);
  return time >= start && time < end ? time + HOUR_MS : time;
}

const known = new Map<string, readonly [start: number, end: number]>();

/** Start and end of summer time, ms. */
function summerOf(year: number, clock: 'us' | 'eu'): readonly [start: number, end: number] {
  const key = `${clock}${year}`;
  let summer = known.get(key);
  if (!summer) {
    summer = clock === 'us' ? usSummer(year) : euSummer(year);
    known.set(key, summer);
  }
  return summer;
}

/** By the clock of New York, 02:00. */
function usSummer(year: number): readonly [start: number, end: number] {
  const [start, end] =
    year >= US_RULE_OF
      ? [sundayFrom(year, 2, 8), sundayFrom(year, 10, 1)]
      : [sundayFrom(year, 3, 1), sundayFrom(year, 9, 25)];
  return [start + 7 * HOUR_MS, end + 6 * HOUR_MS];
}

/** At 01:00 UTC of the last Sundays of March and October. */
function euSummer(year: number): readonly [start: number, end: number] {
  return [sundayFrom(year, 2, 25) + HOUR_MS, sundayFrom(year, 9, 25) + HOUR_MS];
}

/** The first Sunday at or after a day. @param month from 0 */
function sundayFrom(year: number, month: number, day: number): number {
  const time = Date.UTC(year, month, day);
  return time + ((7 - new Date(time).getUTCDay()) % 7) * DAY_MS;
}
