import * as z from 'zod';

/**
 * Schemas of path and query parameters, which arrive as text. Unlike bodies they carry their bounds:
 * whatever they refuse is answered as VAL004 (missing) or VAL005 with the bounds in `context`.
 */

/** A whole number written in decimal digits, within `[min, max]`. */
export function integerParameter(bounds: { min: number; max: number; description: string }) {
  const { min, max, description } = bounds;
  return z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ description });
}

/** A finite number as JSON or a person writes it. */
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

/** A truth value as people write it, in either case. */
export function booleanParameter(description: string) {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum([...TRUE, ...FALSE]))
    .transform((text) => TRUE.includes(text))
    .pipe(z.boolean())
    .meta({ description });
}

/** A text of 1 to `max` characters. */
export function textParameter(max: number, description: string) {
  return z.string().min(1).max(max).meta({ description });
}

/**
 * One or more texts: the parameter repeated, or one parameter with commas. Without `maxLength` the length of a text is
 * a rule of its own, with a code of its own.
 */
export function listParameter(bounds: { maxItems: number; maxLength?: number; description: string }) {
  const text = z.string().min(1);
  return z
    .array(bounds.maxLength === undefined ? text : text.max(bounds.maxLength))
    .min(1)
    .max(bounds.maxItems)
    .meta({ description: bounds.description });
}
