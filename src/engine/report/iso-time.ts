import { DAY_MS } from '#engine/timeframe.ts';

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** The day written last and its text: times that follow each other are mostly of one day. */
let day = Number.NaN;
let dayText = '';

/** A time in ms as `Date.toISOString` writes it. Whole minutes, which trades open and close on, in a fifth of the time. */
export function isoTime(time: number): string {
  const timeDay = Math.floor(time / DAY_MS);
  const minutes = (time - timeDay * DAY_MS) / 60_000;
  if (!Number.isInteger(minutes)) return new Date(time).toISOString();
  if (timeDay !== day) {
    dayText = new Date(time).toISOString().slice(0, -13);
    day = timeDay;
  }
  const hour = Math.floor(minutes / 60);
  return `${dayText}${TWO_DIGITS[hour]}:${TWO_DIGITS[minutes - hour * 60]}:00.000Z`;
}
