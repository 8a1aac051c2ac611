const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
/** `20250131` and `20250131T0630`, UTC: the dates of freqtrade's command line. */
const COMPACT_TIME = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2}))?$/;
const EARLIEST = Date.UTC(2000, 0, 1);
/** Exclusive. */
const LATEST = Date.UTC(2100, 0, 1);

/** Description of the times that {@link parseTime} accepts. */
export const ACCEPTED_TIMES = 'ISO 8601, 20250131 or 20250131T0630, from 2000-01-01 to 2099-12-31';

/**
 * Unix milliseconds of an ISO 8601 date or time, or of a compact one; without an offset it is UTC.
 * Undefined when the string is neither, is not a real day, or is outside the years 2000 to 2099.
 */
export function parseTime(text: string): number | undefined {
  const match = ISO_TIME.exec(text) ?? COMPACT_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', offset] = match;
  if (new Date(Date.UTC(+year!, +month! - 1, +day!)).getUTCDate() !== +day!) return undefined;
  if (+month! > 12 || +hour > 23 || +minute > 59 || +second > 59) return undefined;
  const fraction = /\.\d+/.exec(text)?.[0].slice(0, 4) ?? '';
  const zone = offset && offset !== 'Z' ? offset.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2') : 'Z';
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`);
  return Number.isNaN(time) || time < EARLIEST || time >= LATEST ? undefined : time;
}

/** ISO 8601 in UTC with milliseconds. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
