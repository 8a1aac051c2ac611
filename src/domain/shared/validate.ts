import type { NumberBounds } from '#contract/values/bounds.ts';
import { CodedError } from '#contract/values/errors.ts';
import { EXCHANGE_KEY, MAX_SYMBOL_LENGTH } from '#contract/values/market-data-limits.ts';
import { TIMEFRAMES, type Timeframe } from '#contract/values/timeframes.ts';
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

/** Start of the tags with which the platform describes runs and versions to MLflow's clients. */
export const OWN_TAGS = 'touchstone.';

/**
 * Characters that show nothing: of the general categories for them, letters that fonts leave out (fillers of Hangul), and signs without
 * ink (braille without dots, the musical null notehead, blanks of hieroglyphs).
 */
const INVISIBLE = /[\p{C}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}\u{13441}\u{13442}]/gu;

/** True for a text without a character that shows: no reason for anything. */
export function isBlank(text: string): boolean {
  return text.replaceAll(INVISIBLE, '') === '';
}

/** True for a tag, or its key, that only the platform may set, and for one that reads like it: wide letters, invisible characters. */
export function isOwnTag(tag: string): boolean {
  const read = tag.normalize('NFKC').replaceAll(INVISIBLE, '').replaceAll('\u3002', '.');
  return read.toLowerCase().startsWith(OWN_TAGS);
}

/** The tags, each once. Throws VAL005 beyond `tags` of them, beyond `tag` characters of one, and for one of the platform. */
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
  for (const [index, tag] of tags.entries()) {
    checkMaxLength(tag, `tags.${index}`, limits.tag);
    if (!isOwnTag(tag)) continue;
    throw new CodedError('VAL005', {
      message: `Only the platform sets tags ${OWN_TAGS}…: leave out ${JSON.stringify(tag.slice(0, 100))}`,
      field: `tags.${index}`,
      context: { value: tag.slice(0, 100) },
    });
  }
  return [...new Set(tags)];
}
