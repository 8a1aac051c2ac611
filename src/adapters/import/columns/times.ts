import { MINUTE_MS } from '#contract/values/durations.ts';

/** Order of the numbers of a date such as `03/01/2025`. */
export type DateOrder = 'dmy' | 'mdy';

/** A time as it is written: milliseconds of its date and clock as if they were UTC, and what the text says about its zone. */
export interface WrittenTime {
  readonly local: number;
  /** Milliseconds ahead of UTC; undefined where the text has no zone. */
  readonly offset: number | undefined;
}

const YEAR_FIRST = /^(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?!\d)/;
const YEAR_LAST = /^(\d{1,2})[-./ ](\d{1,2}|[a-z]{3,9})\.?[-./ ,]{1,2}(\d{4}|\d\d)(?!\d)/i;
const MONTH_FIRST = /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})(?!\d)/i;
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d))?)?(?!\d)/;
const CHINESE = /^(\d{4})\D(\d{1,2})\D(\d{1,2})\D/;
/** `09:30`, `17:00:00.123`, `05-PM`, `4:30 PM`, `120000`, with `Z`, `+02:00` or `GMT+0200`. */
const CLOCK =
  /^[T ,]{0,2}(?:(\d{1,2})(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?[ -]?([AP]M)?)?\s?(Z|UTC|GMT)?(?:([+-])(\d\d):?(\d\d)?)?$/i;
/** `Mon, `, `Monday ` before a date. */
const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?=[\da-z])/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads a date, or a date and time, in the forms that programs and vendors write. Undefined for any other text. */
export function writtenTime(text: string, order: DateOrder): WrittenTime | undefined {
  const found = dateIn(text, order);
  if (!found) {
    const dated = text.replace(WEEKDAY, '');
    return dated === text ? undefined : writtenTime(dated, order);
  }
  const clock = CLOCK.exec(text.slice(found.length));
  if (!clock) return undefined;
  const [
    ,
    hours = '0',
    minutes = '0',
    seconds = '0',
    fraction = '',
    half,
    utc,
    sign,
    zoneHours,
    zoneMinutes,
  ] = clock;
  const hour = hourOf(Number(hours), half);
  if (hour > 24 || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  const day = Date.UTC(found.year, found.month - 1, found.day);
  const date = new Date(day);
  if (date.getUTCDate() !== found.day || date.getUTCMonth() !== found.month - 1) return undefined;
  const ofDay =
    hour * 3_600_000 +
    Number(minutes) * MINUTE_MS +
    Number(seconds) * 1_000 +
    Number(`0.${fraction || 0}`) * 1_000;
  const zone = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * MINUTE_MS;
  return {
    local: day + ofDay,
    offset: sign ? (sign === '-' ? -zone : zone) : utc ? 0 : undefined,
  };
}

interface FoundDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Characters of the date. */
  readonly length: number;
}

function dateIn(text: string, order: DateOrder): FoundDate | undefined {
  const first = YEAR_FIRST.exec(text) ?? CHINESE.exec(text);
  if (first) return dateOf(first[1]!, first[2]!, first[3]!, first[0].length);
  const last = YEAR_LAST.exec(text);
  if (last) {
    const isMonthFirst = order === 'mdy' && /^\d/.test(last[2]!);
    const [day, month] = isMonthFirst ? [last[2]!, last[1]!] : [last[1]!, last[2]!];
    return dateOf(last[3]!, month, day, last[0].length);
  }
  const named = MONTH_FIRST.exec(text);
  if (named) return dateOf(named[3]!, named[1]!, named[2]!, named[0].length);
  const compact = COMPACT.exec(text);
  return compact ? dateOf(compact[1]!, compact[2]!, compact[3]!, 8) : undefined;
}

function dateOf(year: string, month: string, day: string, length: number): FoundDate | undefined {
  const byName = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const number = byName || Number(month);
  if (!(number >= 1 && number <= 12)) return undefined;
  const full = year.length === 2 ? Number(year) + (Number(year) < 70 ? 2_000 : 1_900) : Number(year);
  return { year: full, month: number, day: Number(day), length };
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  return (hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
}

/** True for digits that are a date, such as `20250301` or `202503011200`: no time since 1973 has that many digits. */
export function isCompactDate(text: string): boolean {
  return /^(19|20)\d{6}(\d{4}|\d{6})?$/.test(text) && writtenTime(text, 'dmy') !== undefined;
}

/**
 * Order of day and month in dates that begin with one of them: the one that all samples fit; of two, the one whose dates are closer
 * together, as candles are; else that of the clock: `PM` is American.
 */
export function dateOrderOf(samples: readonly string[]): DateOrder {
  const spanOf = (order: DateOrder) => {
    const times = samples.map((text) => writtenTime(text, order)?.local ?? Number.NaN);
    return times.some(Number.isNaN) ? Number.POSITIVE_INFINITY : Math.max(...times) - Math.min(...times);
  };
  const [american, other] = [spanOf('mdy'), spanOf('dmy')];
  if (american === other) return samples.some((text) => /[AP]M$/i.test(text)) ? 'mdy' : 'dmy';
  return american < other ? 'mdy' : 'dmy';
}

/** A date that may begin with the day or the month, where the others do not tell either. */
export function ambiguousDate(samples: readonly string[]): string | undefined {
  const localOf = (text: string, order: DateOrder) => writtenTime(text, order)?.local ?? Number.NaN;
  const steps = (order: DateOrder) =>
    samples.map((text) => localOf(text, order) - localOf(samples[0]!, order));
  const [american, other] = [steps('mdy'), steps('dmy')];
  if (american.some((step, index) => step !== other[index])) return undefined;
  // Points are not American, and AM and PM are.
  const isEither = (text: string) => /^\d+[/-]/.test(text) && !/[AP]M$/i.test(text);
  return samples.find((text) => isEither(text) && localOf(text, 'mdy') !== localOf(text, 'dmy'));
}

/** Beginning of the times that are stored: smaller numbers would be taken for seconds. */
const FIRST_TIME = Date.UTC(1973, 2, 4);

/** Unix milliseconds of a text; undefined for a text that is no time, or before 1973-03-04. */
export function timeOf(text: string, order: DateOrder, toUtc: ToUtc): number | undefined {
  const time = writtenTime(text, order);
  if (time === undefined || time.local < FIRST_TIME) return undefined;
  return time.offset === undefined ? toUtc(time.local) : time.local - time.offset;
}

/** Converts times of a place to UTC. */
export type ToUtc = (local: number) => number;

const FIXED_ZONE = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?$/i;

/**
 * Conversion of the times of a zone, in the order of the file: an hour that the clocks repeat follows the row before it.
 * @param name IANA name such as `Europe/Athens`, or `UTC-5`
 * @throws RangeError for an unknown name
 */
export function zoneOf(name: string): ToUtc {
  const [, sign, hours, minutes = '0'] = FIXED_ZONE.exec(name) ?? [];
  if (sign !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS * (sign === '-' ? -1 : 1);
    return (local) => local - offset;
  }
  if (/^(UTC|GMT|Z)$/i.test(name)) return (local) => local;
  return placeOf(name);
}

const HALF_HOUR = 30 * MINUTE_MS;
const DAY = 48 * HALF_HOUR;

function placeOf(name: string): ToUtc {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    timeZoneName: 'longOffset',
    year: 'numeric',
  });
  const known = new Map<number, number>();
  // Clocks change at half hours of UTC at most.
  const offsetAt = (utc: number): number => {
    const slot = Math.floor(utc / HALF_HOUR);
    let offset = known.get(slot);
    if (offset === undefined) {
      const text = format.formatToParts(utc).find(({ type }) => type === 'timeZoneName')!.value;
      const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
      offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS * (sign === '-' ? -1 : 1);
      known.set(slot, offset);
    }
    return offset;
  };
  let [before, last] = [Number.NaN, Number.NaN];
  return (local) => {
    const [early, late] = [local - offsetAt(local - DAY), local - offsetAt(local + DAY)];
    let time = early;
    if (early !== late) {
      const isEarly = early + offsetAt(early) === local;
      const isLate = late + offsetAt(late) === local;
      // An hour that the clocks skip does not exist: its times count as before the change.
      if (isLate && !isEarly) time = late;
      else if (isLate) time = (last < before ? late < last : early <= last) ? late : early;
    }
    [before, last] = [last, time];
    return time;
  };
}
