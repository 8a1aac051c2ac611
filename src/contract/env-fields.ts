/** Types of environment variables, which are strings. */
import * as z from 'zod';

export const text = z.string().min(1);
export const list = text.transform((items) => items.split(','));

export function digits(bounds: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(bounds.min).max(bounds.max));
}

export function integer(fallback: number, bounds: { min: number; max: number }) {
  return digits(bounds).default(fallback);
}

/** `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A decimal number, optionally signed. */
export function decimal(schema: z.ZodNumber) {
  return z
    .string()
    .regex(/^-?\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number')
    .transform(Number)
    .pipe(schema)
    .optional();
}
