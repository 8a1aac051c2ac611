import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { metricNote, undefinedReason, withNote } from '#contract/values/undefined-metrics.ts';

/** U+2212: as wide as a plus sign, so that columns of numbers align. */
const MINUS = '−';
/** Shown where a value is not defined. */
export const NO_VALUE = '–';

const formats = new Map<number, Intl.NumberFormat>();

function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known) return known;
  const made = new Intl.NumberFormat('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    // A loss that rounds to zero has no sign.
    signDisplay: 'negative',
  });
  formats.set(digits, made);
  return made;
}

/** A number with a fixed count of decimals, groups of thousands and a true minus. */
export function decimal(value: number, digits: number): string {
  return formatOf(digits).format(value).replace('-', MINUS);
}

const DIGITS: Readonly<Record<MetricUnit, number>> = {
  percent: 2,
  quote: 2,
  base: 4,
  ratio: 2,
  count: 0,
  minutes: 0,
  days: 0,
  probability: 4,
};

/** A value of a metric without its unit, for a column whose head names it. */
export function value(number: number | null | undefined, unit: MetricUnit): string {
  if (number === null || number === undefined || !Number.isFinite(number)) return NO_VALUE;
  if (unit === 'days' && !Number.isInteger(number)) return decimal(number, 2);
  return decimal(number, isAmount(unit) ? amountDigits(number, DIGITS[unit]) : DIGITS[unit]);
}

/** Least amount that is shown: a satoshi. */
const LEAST_AMOUNT = 1e-8;

const isAmount = (unit: MetricUnit) => unit === 'quote' || unit === 'base';

/** At least `digits` decimals, and those of three significant figures: a wallet and an order may be in bitcoin. */
function amountDigits(amount: number, digits: number): number {
  const size = Math.abs(amount);
  if (size >= 0.1 || size < LEAST_AMOUNT) return digits;
  return Math.min(8, Math.max(digits, 2 - Math.floor(Math.log10(size))));
}

/** A value with its unit. `currency` is that of a value in quote or base currency. */
export function withUnit(number: number | null | undefined, unit: MetricUnit, currency = ''): string {
  const shown = value(number, unit);
  if (shown === NO_VALUE) return shown;
  if (unit === 'percent') return `${shown} %`;
  if (unit === 'minutes') return duration(number! * 60);
  if (unit === 'days') return `${shown} d`;
  return isAmount(unit) && currency ? `${shown} ${currency}` : shown;
}

/** With a plus sign for gains: the sign says what the colour says. */
export function signed(number: number | null | undefined, unit: MetricUnit): string {
  const shown = value(number, unit);
  return shown !== NO_VALUE && number! > 0 ? `+${shown}` : shown;
}

/** A metric of a result of a job or a version: its value, or a dash with the reason for which it has none. */
export function resultText(
  result: Parameters<typeof undefinedReason>[0],
  name: string,
  unit: MetricUnit,
  format: (number: number, unit: MetricUnit) => string = value,
): string {
  const number = result[name];
  const isKnown = typeof number === 'number' && undefinedReason(result, name) === null;
  return withNote(name, isKnown ? format(number, unit) : null, metricNote(result, name), NO_VALUE);
}

/** A price with as many decimals as its size needs: 5 significant figures, at least 2 decimals. */
export function price(number: number | null | undefined): string {
  if (number === null || number === undefined || !Number.isFinite(number)) return NO_VALUE;
  const size = number === 0 ? 0 : Math.floor(Math.log10(Math.abs(number)));
  return decimal(number, Math.min(10, Math.max(2, 4 - size)));
}

/** A balance of an account: a change of a few percent shows, also of a wallet of a tenth of a bitcoin. */
export function balance(number: number | null | undefined, currency = ''): string {
  const shown = price(number);
  return shown !== NO_VALUE && currency ? `${shown} ${currency}` : shown;
}

/** `3 d 4 h`, `4 h 5 min`, `5 min 6 s` or `6 s`, from seconds. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NO_VALUE;
  const whole = Math.max(0, Math.round(seconds));
  const parts = (big: number, bigName: string, small: number, smallName: string) => {
    const rest = Math.floor((whole % big) / small);
    return `${Math.floor(whole / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
  };
  if (whole >= 86_400) return parts(86_400, 'd', 3_600, 'h');
  if (whole >= 3_600) return parts(3_600, 'h', 60, 'min');
  if (whole >= 60) return parts(60, 'min', 1, 's');
  return `${whole} s`;
}

/** `2026-11-23 07:05` in UTC. */
export function utcTime(time: string | number | Date): string {
  return isoOf(time).slice(0, 16).replace('T', ' ');
}

/** `2026-11-23 07:05:09` in UTC. */
export function utcSeconds(time: string | number | Date): string {
  return isoOf(time).slice(0, 19).replace('T', ' ');
}

/** In UTC, to the minute, or to the second where the time is not a whole minute. */
export function utcFull(time: string | number | Date): string {
  return isoOf(time).slice(17, 19) === '00' ? utcTime(time) : utcSeconds(time);
}

/** `2026-11-23` in UTC. */
export function utcDate(time: string | number | Date): string {
  return isoOf(time).slice(0, 10);
}

function isoOf(time: string | number | Date): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? NO_VALUE : date.toISOString();
}

let localFormat: Intl.DateTimeFormat | undefined;

/** The reader's own time with its zone, for a hover. */
export function localTime(time: string | number | Date): string {
  const date = new Date(time);
  // Made once: a long list has one for each row.
  localFormat ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  return Number.isNaN(date.getTime()) ? NO_VALUE : localFormat.format(date);
}

/** `5 s ago`, `3 min ago`, `2 h ago`, `4 d ago`. `now` in milliseconds. */
export function age(time: string | number | Date, now: number): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1_000);
  const [size, name] =
    seconds < 60 ? [1, 's'] : seconds < 3_600 ? [60, 'min'] : seconds < 86_400 ? [3_600, 'h'] : [86_400, 'd'];
  return `${Math.floor(seconds / (size as number))} ${name} ago`;
}

/** Class of a gain or a loss; the text must show the sign as well. */
export function tone(number: number | null | undefined): 'up' | 'down' | '' {
  if (!number) return '';
  return number > 0 ? 'up' : 'down';
}

/** A stored name as text: `rolled_back` -> `rolled back`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Short name of a series' symbol: `BTC/USDT` for the perpetual `BTC/USDT:USDT`, `BTC/USDT spot` for the spot pair. */
export function shortSymbol(symbol: string): string {
  const [pair, settle] = symbol.split(':');
  return settle === undefined ? `${pair} spot` : pair!;
}

/** `BTC/USDT` of `BTC/USDT:USDT`. */
export function shortPair(pair: string): string {
  return pair.split(':', 1)[0]!;
}

/** The first `shown` names, and how many more there are. */
export function listed(names: readonly string[], shown: number): string {
  const first = names.slice(0, shown).join(', ');
  const more = names.length - shown;
  return more > 0 ? `${first} and ${decimal(more, 0)} more` : first;
}

/** Size of a file, such as `12 KiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 2 ** 10) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  if (bytes < 2 ** 20) return `${decimal(bytes / 2 ** 10, 0)} KiB`;
  return bytes < 2 ** 30 ? `${decimal(bytes / 2 ** 20, 1)} MiB` : `${decimal(bytes / 2 ** 30, 1)} GiB`;
}
