import { CodedError } from '#contract/values/errors.ts';
import {
  EXCHANGE_KEY,
  MAX_SYMBOL_LENGTH,
  type NumberBounds,
  TIMEFRAMES,
  type Timeframe,
} from '#contract/values/limits.ts';
import { SYMBOLS, type TradingMode } from '#contract/values/trading-modes.ts';

/** Domain rules on single values. Each throws a CodedError that names the field and what is allowed. */

/**
 * Throws VAL002 unless `symbol` reads `BASE/QUOTE:SETTLE`, or `BASE/QUOTE` in spot, upper case, at most 50 characters. Its
 * message is the same in both modes; the context names the format.
 */
export function checkSymbol(symbol: string, field: string, mode: TradingMode = 'futures'): string {
  const { pattern, format, example } = SYMBOLS[mode];
  if (symbol.length > MAX_SYMBOL_LENGTH || !pattern.test(symbol)) {
    throw new CodedError('VAL002', { field, context: { value: symbol.slice(0, 100), format, example } });
  }
  return symbol;
}

/** Trading mode of a valid symbol. */
export function tradingModeOf(symbol: string): TradingMode {
  return SYMBOLS.spot.pattern.test(symbol) ? 'spot' : 'futures';
}

/** True for the form of an exchange key: `sim`, or a key of ccxt. */
export function isExchangeKey(value: string): boolean {
  return EXCHANGE_KEY.test(value);
}

/**
 * Throws VAL003 unless `value` is allowed.
 *
 * @param allowed ALL_TIMEFRAMES for stored candles; for a run also the timeframe of its strategy
 */
export function checkTimeframe(value: string, field: string): (typeof TIMEFRAMES)[number];
export function checkTimeframe(value: string, field: string, allowed: readonly Timeframe[]): Timeframe;
export function checkTimeframe(
  value: string,
  field: string,
  allowed: readonly Timeframe[] = TIMEFRAMES,
): Timeframe {
  const found = allowed.find((each) => each === value);
  if (found) return found;
  throw new CodedError('VAL003', { field, context: { value: value.slice(0, 100), allowed } });
}

/** Smallest magnitude of a number other than 0. DynamoDB cannot store the smallest doubles. */
const MIN_MAGNITUDE = 1e-12;

/** Throws VAL005 unless `value` is finite, within the bounds, and 0 or at least 1e-12 in size. */
export function checkNumber(value: number, field: string, bounds?: NumberBounds): number {
  const isTooSmall = value !== 0 && Math.abs(value) < MIN_MAGNITUDE;
  if (Number.isFinite(value) && !isTooSmall && (!bounds || isWithin(value, bounds))) return value;
  const allowed = isTooSmall ? `0 or at least ${MIN_MAGNITUDE} in size` : describeBounds(bounds);
  throw new CodedError('VAL005', {
    message: `${field} must be ${allowed}`,
    field,
    context: { value, ...(bounds && { min: bounds.min, max: bounds.max }) },
  });
}

function isWithin(value: number, { min, max, aboveMin, belowMax, integer }: NumberBounds): boolean {
  if (integer && !Number.isSafeInteger(value)) return false;
  return (aboveMin ? value > min : value >= min) && (belowMax ? value < max : value <= max);
}

function describeBounds(bounds: NumberBounds | undefined): string {
  if (!bounds) return 'a finite number';
  const { min, max, aboveMin, belowMax, integer } = bounds;
  const kind = integer ? 'an integer' : 'a number';
  if (!aboveMin && !belowMax) return `${kind} from ${min} to ${max}`;
  return `${kind} ${aboveMin ? 'above' : 'from'} ${min} and ${belowMax ? 'below' : 'at most'} ${max}`;
}

/** Throws VAL005 unless a list or object has an allowed number of elements. */
export function checkCount(
  count: number,
  field: string,
  { min, max }: Pick<NumberBounds, 'min' | 'max'>,
  elements: string,
): void {
  if (count >= min && count <= max) return;
  throw new CodedError('VAL005', {
    message: `${field} must hold ${min > 0 ? `${min} to` : 'at most'} ${max} ${elements}`,
    field,
    context: { count, min, max },
  });
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

/** The string, null when undefined. Throws VAL005 beyond `max` characters. */
export function checkMaxLength(value: string | undefined, field: string, max: number): string | null {
  if (value === undefined) return null;
  if (value.length <= max) return value;
  throw new CodedError('VAL005', {
    message: `${field} must be at most ${max} characters`,
    field,
    context: { length: value.length, max },
  });
}

/** The tags, each once. Throws VAL005 beyond `tags` of them or `tag` characters of one. */
export function checkTags(
  tags: readonly string[],
  limits: { readonly tags: number; readonly tag: number },
): string[] {
  if (tags.length > limits.tags) {
    throw new CodedError('VAL005', {
      message: `tags must be at most ${limits.tags}`,
      field: 'tags',
      context: { count: tags.length, max: limits.tags },
    });
  }
  for (const [index, tag] of tags.entries()) checkMaxLength(tag, `tags.${index}`, limits.tag);
  return [...new Set(tags)];
}

const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const EARLIEST = Date.UTC(2000, 0, 1);
/** Exclusive. */
const LATEST = Date.UTC(2100, 0, 1);

/** Description of the times that {@link parseTime} accepts. */
export const ACCEPTED_TIMES = 'ISO 8601, from 2000-01-01 to 2099-12-31';

/**
 * Unix milliseconds of an ISO 8601 date or time; without an offset it is UTC.
 * Undefined when the string is not ISO 8601, is not a real day, or is outside the years 2000 to 2099.
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
