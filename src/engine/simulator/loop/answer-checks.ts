import type { CallbackContext, StrategyCallbacks } from '../../strategy.ts';

type Name = keyof StrategyCallbacks;

/** The most that a run may be given too. */
const MAX_LEVERAGE = 125;
/** Characters of a reason, and of a tag: each trade carries both. */
export const MAX_REASON_LENGTH = 255;

/**
 * Checks of what callbacks answer: a strategy file runs without a type check, and an answer that means nothing must not pass
 * as "leave it". All take what was answered and throw a TypeError that names the callback, pair, candle and answer.
 * Each is a comparison or two: they are asked in every candle.
 */

/** A ratio of any sign; null and undefined are no wish. */
export function ratioOf(answer: number | null, callback: Name, at: CallbackContext): number | null {
  if (answer === null || answer === undefined) return null;
  return Number.isFinite(answer) ? answer : refuse(callback, answer, at, 'a finite number, or null');
}

/** A distance; 0, null and undefined are no wish. */
export function distanceOf(answer: number | null, callback: Name, at: CallbackContext): number | null {
  return answer === 0 ? null : ratioOf(answer, callback, at);
}

/** A reason, cut at its greatest length; null, undefined and an empty text are none. */
export function reasonOf(answer: string | null, callback: Name, at: CallbackContext): string | null {
  if (answer === null || answer === undefined || answer === '') return null;
  if (typeof answer !== 'string') return refuse(callback, answer, at, 'a text, or null');
  return answer.slice(0, MAX_REASON_LENGTH);
}

/** A price; `proposed` for null and undefined. */
export function priceOf(
  answer: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (answer === null || answer === undefined) return proposed;
  return Number.isFinite(answer) && answer > 0
    ? answer
    : refuse(callback, answer, at, 'a finite number above 0');
}

/** A stake from 0, which is no entry; `proposed` for null and undefined. */
export function stakeOf(
  answer: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (answer === null || answer === undefined) return proposed;
  return Number.isFinite(answer) && answer >= 0
    ? answer
    : refuse(callback, answer, at, 'a finite number from 0');
}

/** A leverage; 1 for less than that, `proposed` for null and undefined. */
export function leverageOf(
  answer: number | null | undefined,
  proposed: number,
  callback: Name,
  at: CallbackContext,
): number {
  if (answer === null || answer === undefined) return proposed;
  return Number.isFinite(answer) && answer > 0 && answer <= MAX_LEVERAGE
    ? Math.max(1, answer)
    : refuse(callback, answer, at, `a number above 0, at most ${MAX_LEVERAGE}`);
}

/** A consent. It has no default: an answer that was forgotten would be taken for one. */
export function consentOf(answer: boolean, callback: Name, at: CallbackContext): boolean {
  return typeof answer === 'boolean' ? answer : refuse(callback, answer, at, 'true or false');
}

function refuse(callback: Name, answer: unknown, { pair, time }: CallbackContext, allowed: string): never {
  throw new TypeError(
    `${callback} answered ${inWords(answer)} for ${pair} in the candle of ${new Date(time).toISOString()}; ` +
      `it must answer ${allowed}.`,
  );
}

const MAX_SHOWN = 60;

function inWords(answer: unknown): string {
  if (typeof answer === 'string') return JSON.stringify(answer.slice(0, MAX_SHOWN));
  if (typeof answer === 'function') return 'a function';
  if (Array.isArray(answer)) return 'a list';
  return typeof answer === 'object' && answer !== null ? 'an object' : String(answer);
}
