import { existsSync, readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';

/** The command cannot be run as it was typed: the text says what to type instead. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An amount of money. The parsers throw InvalidArgumentError, to which commander adds option and value. */
export function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('It takes a number above 0, such as 100.');
}

/** A number of either sign. */
export function figure(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It takes a number, such as 1.5.');
}

/** A share of a price, from 0 to 0.1. */
export function ratio(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 0.1) return value;
  throw new InvalidArgumentError('It takes a ratio from 0 to 0.1, such as 0.0005.');
}

/** An amount, or what stands for a share of the balance. */
export function stake(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  try {
    return amount(text);
  } catch {
    throw new InvalidArgumentError('It takes a number above 0, such as 100, or unlimited.');
  }
}

/** A parser of whole numbers within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`);
  };
}

/** One `name=value` more, the value as JSON where it is JSON, else as text. */
export function parameter(
  text: string,
  previous: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('It takes name=value, such as fast=10.');
  const value = text.slice(at + 1);
  try {
    return { ...previous, [text.slice(0, at)]: JSON.parse(value) };
  } catch {
    return { ...previous, [text.slice(0, at)]: value };
  }
}

/** The fields of a JSON file. Throws {@link UsageError}. */
export function readConfig(file: string): Record<string, unknown> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  try {
    const config = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config;
  } catch (cause) {
    throw new UsageError(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
  throw new UsageError(`${file} holds no JSON object, such as {"timeframe": "1h", "fee": 0.001}`);
}

/** One pair more. */
export function pairs(text: string, previous: readonly string[]): string[] {
  return [...previous, text.trim()];
}
