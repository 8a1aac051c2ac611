import { CodedError } from '#contract/errors.ts';
import { isTimeframe, TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';

/** Domain rules on single values. Each throws a CodedError that names the field and what is allowed. */

const SYMBOL = /^[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}:[A-Z0-9]{1,20}$/;
const MAX_SYMBOL_LENGTH = 50;

/** Throws VAL002 unless `symbol` reads `BASE/QUOTE:SETTLE`, upper case, at most 50 characters. */
export function checkSymbol(symbol: string, field: string): string {
  if (symbol.length > MAX_SYMBOL_LENGTH || !SYMBOL.test(symbol)) {
    throw new CodedError('VAL002', {
      field,
      context: { value: symbol.slice(0, 100), format: 'BASE/QUOTE:SETTLE', example: 'BTC/USDT:USDT' },
    });
  }
  return symbol;
}

/** Whether it is written as the key of an exchange: `sim`, or what ccxt calls one. */
export function isExchangeKey(text: string): boolean {
  return /^[a-z0-9]{1,40}$/.test(text);
}

/** Throws VAL003 unless `text` is one of the six timeframes. */
export function checkTimeframe(text: string, field: string): Timeframe {
  if (!isTimeframe(text)) {
    throw new CodedError('VAL003', { field, context: { value: text.slice(0, 100), allowed: TIMEFRAMES } });
  }
  return text;
}

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
  /** The bound itself is not allowed. */
  readonly aboveMin?: boolean;
  readonly belowMax?: boolean;
  readonly integer?: boolean;
}

/** A number this small but not 0 is a slip, and the smallest of them are too small to be stored. */
const SMALLEST = 1e-12;

/** Throws VAL005 unless `value` is finite, within the bounds, and 0 or at least 1e-12 in size. */
export function checkNumber(value: number, field: string, bounds: NumberBounds): number {
  const { min = -Infinity, max = Infinity } = bounds;
  const tooLow = bounds.aboveMin ? value <= min : value < min;
  const tooHigh = bounds.belowMax ? value >= max : value > max;
  const tooSmall = value !== 0 && Math.abs(value) < SMALLEST;
  if (
    !Number.isFinite(value) ||
    tooSmall ||
    tooLow ||
    tooHigh ||
    (bounds.integer && !Number.isSafeInteger(value))
  ) {
    throw new CodedError('VAL005', {
      message: `${field} must be ${tooSmall ? `0 or at least ${SMALLEST} in size` : describeBounds(bounds)}`,
      field,
      context: {
        value,
        ...(bounds.min === undefined ? {} : { min: bounds.min }),
        ...(bounds.max === undefined ? {} : { max: bounds.max }),
      },
    });
  }
  return value;
}

function describeBounds({ min, max, aboveMin, belowMax, integer }: NumberBounds): string {
  const parts: string[] = [];
  if (min !== undefined) parts.push(`${aboveMin ? 'above' : 'at least'} ${min}`);
  if (max !== undefined) parts.push(`${belowMax ? 'below' : 'at most'} ${max}`);
  return `${integer ? 'a whole number ' : ''}${parts.join(' and ')}`.trim() || 'a finite number';
}

/** Throws VAL005 unless `value` is one of `allowed`. */
export function checkOneOf<T extends string>(value: string, field: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(value)) {
    throw new CodedError('VAL005', {
      message: `${field} must be one of ${allowed.join(', ')}`,
      field,
      context: { value: value.slice(0, 100), allowed },
    });
  }
  return value as T;
}

/** The text, null for none. Throws VAL005 beyond `max` characters. */
export function checkText(text: string | undefined, field: string, max: number): string | null {
  if (text === undefined) return null;
  if (text.length <= max) return text;
  throw new CodedError('VAL005', {
    message: `${field} must be at most ${max} characters`,
    field,
    context: { length: text.length, max },
  });
}

const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

/** What {@link parseTime} accepts, in words. */
export const ACCEPTED_TIMES = 'ISO 8601, from 2000-01-01 to 2099-12-31';

/**
 * Unix milliseconds of an ISO 8601 date or time; without an offset it is UTC.
 * Undefined when the text is not ISO 8601, names no real day, or lies outside the years 2000 to 2099.
 */
export function parseTime(text: string): number | undefined {
  const match = ISO_TIME.exec(text);
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
