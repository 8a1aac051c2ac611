import * as z from 'zod';
import { PAGE_LIMITS } from '../values/request-limits.ts';

/**
 * Schemas of path and query parameters, which arrive as strings. Unlike bodies they enforce their bounds: a rejected value is
 * VAL004 (missing) or VAL005 with the bounds in `context`.
 */

/** An integer in decimal digits, within `[min, max]`. */
export function integerParameter(bounds: { min: number; max: number; description: string }) {
  const { min, max, description } = bounds;
  return z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ description });
}

/** Maximum number of items of a page. */
export const pageLimit = integerParameter({
  ...PAGE_LIMITS,
  description: 'Maximum number of items on a page',
}).default(PAGE_LIMITS.default);

/** Page of a list. */
export const PAGE_FIELDS = {
  limit: pageLimit,
  cursor: stringParameter(4096, '`next_cursor` of the previous page, with the same filters').optional(),
};

/** A finite number, in JSON notation or with a sign or without leading zero. */
export function numberParameter(description: string) {
  return z
    .string()
    .regex(/^[-+]?(\d{1,25}(\.\d{0,25})?|\.\d{1,25})(e[-+]?\d{1,3})?$/i)
    .transform(Number)
    .pipe(z.number())
    .meta({ description });
}

const TRUE = ['true', '1', 'yes', 'on'];
const FALSE = ['false', '0', 'no', 'off'];

/** A boolean such as true, 1, yes or on, in any case. */
export function booleanParameter(description: string) {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum([...TRUE, ...FALSE]))
    .transform((text) => TRUE.includes(text))
    .pipe(z.boolean())
    .meta({ description });
}

/** A string of 1 to `max` characters. */
export function stringParameter(max: number, description: string) {
  return z.string().min(1).max(max).meta({ description });
}

/**
 * Values by name: `params.fast=10`, or `params[fast]=10` as generators of OpenAPI write it. A value arrives as a string.
 */
export function namedParameters(description: string) {
  return z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])).meta({ description });
}

/**
 * One or more strings: the parameter repeated, or one parameter with commas. Without `maxLength` the domain checks the
 * length, with another code.
 */
export function listParameter(bounds: { maxItems: number; maxLength?: number; description: string }) {
  const text = z.string().min(1);
  return z
    .array(bounds.maxLength === undefined ? text : text.max(bounds.maxLength))
    .min(1)
    .max(bounds.maxItems)
    .meta({ description: bounds.description });
}
