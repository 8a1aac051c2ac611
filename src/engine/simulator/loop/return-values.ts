import type { CallbackContext, StrategyCallbacks, TaggedStake } from '../../strategy.ts';

type Name = keyof StrategyCallbacks;
/** `loopStart` has no pair. */
type At = Pick<CallbackContext, 'time'> & Partial<Pick<CallbackContext, 'pair'>>;

/** The limit of the configuration's `leverage` too. */
const MAX_LEVERAGE = 125;
/** Characters of a reason, and of a tag: each trade has both. Of the name of a column too. */
export const MAX_REASON_LENGTH = 255;

// Checks of callback return values: a strategy file runs without a type check, and a meaningless value must not pass as
// "no change". Each throws a TypeError that names the callback, pair, candle and value. They are called in every candle, so each
// is one or two comparisons.

/** A ratio of any sign; null for null and undefined. */
export function ratioOf(value: number | null, callback: Name, at: CallbackContext): number | null {
  if (value === null || value === undefined) return null;
  return Number.isFinite(value) ? value : reject(callback, value, at, 'a finite number, or null');
}

/** A distance; null for 0, null and undefined. */
export function distanceOf(value: number | null, callback: Name, at: CallbackContext): number | null {
  return value === 0 ? null : ratioOf(value, callback, at);
}

/** A reason, cut at its maximum length; null for null, undefined and an empty string. */
export function reasonOf(value: string | null, callback: Name, at: CallbackContext): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') return reject(callback, value, at, 'a string, or null');
  return value.slice(0, MAX_REASON_LENGTH);
}

/** A price; `proposed` for null and undefined. */
export function priceOf(
  value: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (value === null || value === undefined) return proposed;
  return Number.isFinite(value) && value > 0 ? value : reject(callback, value, at, 'a finite number above 0');
}

/** A stake of at least 0, which means no entry; `proposed` for null and undefined. */
export function stakeOf(
  value: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (value === null || value === undefined) return proposed;
  return Number.isFinite(value) && value >= 0 ? value : reject(callback, value, at, 'a finite number from 0');
}

/** A leverage; 1 for less than that, `proposed` for null and undefined. */
export function leverageOf(
  value: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (value === null || value === undefined) return proposed;
  return Number.isFinite(value) && value > 0 && value <= MAX_LEVERAGE
    ? Math.max(1, value)
    : reject(callback, value, at, `a number above 0, at most ${MAX_LEVERAGE}`);
}

/** An adjustment; null for 0, null and undefined. A tag is cut at its maximum length. */
export function adjustmentOf(
  value: number | TaggedStake | null | undefined,
  callback: Name,
  at: CallbackContext,
): number | TaggedStake | null {
  if (value === null || value === undefined || value === 0) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  // Read once: a getter may answer another value each time.
  const { stake, tag }: Partial<TaggedStake> = typeof value === 'object' ? value : {};
  if (!Number.isFinite(stake) || typeof tag !== 'string')
    return reject(callback, value, at, 'a finite number, { stake, tag }, or null');
  return stake === 0 ? null : { stake: stake!, tag: tag.slice(0, MAX_REASON_LENGTH) };
}

/** true or false, without a default: a forgotten `return` would count as a confirmation. */
export function confirmationOf(value: boolean, callback: Name, at: CallbackContext): boolean {
  return typeof value === 'boolean' ? value : reject(callback, value, at, 'true or false');
}

/** Any value but a promise, whose work would be done after the run: a function without a result may return something. */
export function checkDone(value: unknown, callback: Name, at: At): void {
  if (value instanceof Promise) reject(callback, value, at, 'at once, without a promise');
}

function reject(callback: Name, value: unknown, { pair, time }: At, allowed: string): never {
  throw new TypeError(
    `${callback} returned ${describeValue(value)}${pair === undefined ? '' : ` for ${pair}`} in the candle of ${new Date(time).toISOString()}; ` +
      `it must return ${allowed}.`,
  );
}

const MAX_SHOWN = 60;

function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
