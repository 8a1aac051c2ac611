import { existsSync, readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { BACKTEST_LIMITS, UNLIMITED_STAKE } from '#contract/values/backtest-limits.ts';
import type { NumberBounds } from '#contract/values/bounds.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';

/** Parsers of option values. They throw InvalidArgumentError, to which commander adds the option and its value. */

/** The command cannot run as typed; the message says what to type instead. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Pass a number above 0, such as 100.');
}

export function finiteNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Pass a number, such as 1.5.');
}

/** Fee or slippage as a ratio of the price. */
export function costRatio(text: string): number {
  const value = Number(text);
  const { min, max } = BACKTEST_LIMITS.fee;
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Pass a ratio from ${min} to ${max}, such as 0.0005.`);
}

export function stake(text: string): number | typeof UNLIMITED_STAKE {
  if (text === UNLIMITED_STAKE) return text;
  try {
    return positiveNumber(text);
  } catch {
    throw new InvalidArgumentError('Pass a number above 0, such as 100, or unlimited.');
  }
}

type Bounds = Pick<NumberBounds, 'min' | 'max'>;

/** Parser of integers within bounds. */
export function integer({ min, max }: Bounds): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Pass an integer from ${min} to ${max}.`);
  };
}

/** Parser of integers within bounds and of `none`, which stands for null: commander makes an empty text of null. */
export function integerOrNone(bounds: Bounds): (text: string) => number | 'none' {
  const parse = integer(bounds);
  return (text) => {
    if (text === 'none') return text;
    if (/^\d+$/.test(text)) return parse(text);
    throw new InvalidArgumentError(`Pass an integer from ${bounds.min} to ${bounds.max}, or none.`);
  };
}

/** Bounds for the help of an option, such as `1 to 100`. */
export const boundsText = ({ min, max }: Bounds) =>
  `${min.toLocaleString('en-US')} to ${max.toLocaleString('en-US')}`;

/** Option for the number of items of a page. */
export const LIMIT = [
  '--limit <n>',
  boundsText(PAGE_LIMITS),
  integer(PAGE_LIMITS),
  PAGE_LIMITS.default,
] as const;

/** Option of a command that prints one response. */
export const JSON_OPTION = ['--json', 'print JSON'] as const;

/** Adds one `name=value`, the value as JSON if it is JSON, else as a string. */
export function parameter(
  text: string,
  previous: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Pass name=value, such as fast=10.');
  return { ...previous, [text.slice(0, at)]: jsonOrText(text.slice(at + 1)) };
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Adds one value of a repeatable option. */
export function repeated(text: string, previous: readonly string[]): string[] {
  return [...previous, text.trim()];
}

/** Values of a comma-separated list. */
export const listOf = (text: string) => text.split(',').map((each) => each.trim());

/** The fields of a request that are given: neither undefined nor an empty object or list. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isGiven = (value: unknown) =>
    value !== undefined && (typeof value !== 'object' || value === null || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
}

/** The query string of the fields that are given. */
export const queryOf = (fields: Readonly<Record<string, unknown>>) =>
  new URLSearchParams(given(fields) as Record<string, string>).toString();

/** The fields of a JSON file. Throws {@link UsageError}. */
export function readConfig(file: string): Record<string, unknown> {
  if (!existsSync(file)) throw new UsageError(`File ${file} does not exist. Check the path of --config.`);
  try {
    const config = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config;
  } catch (cause) {
    throw new UsageError(`${file} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  throw new UsageError(`${file} does not contain a JSON object, such as {"timeframe": "1h", "fee": 0.001}`);
}
