import * as z from 'zod';
import { CodedError } from '#contract/errors.ts';

/**
 * Path parameters as the schema reads them. Throws VAL005, naming the parameter, its value and what is allowed.
 */
export function readParams(schema: z.ZodObject | undefined, params: Readonly<Record<string, string>>) {
  return readAll(schema, (name) => params[name]);
}

/**
 * Query parameters as the schema reads them; unknown ones are ignored. A list comes as the parameter repeated or
 * with commas. Throws VAL004 for a missing one, VAL005 for a wrong or repeated one.
 */
export function readQuery(schema: z.ZodObject | undefined, query: URLSearchParams) {
  return readAll(schema, (name, parameter) => {
    const values = query.getAll(name);
    if (values.length === 0) return undefined;
    if (isList(parameter)) return values.flatMap((value) => value.split(',')).filter((value) => value !== '');
    if (values.length > 1) {
      throw new CodedError('VAL005', {
        message: `${name} must be given once`,
        field: name,
        context: { value: values.slice(0, 10).map(shorten), count: values.length },
      });
    }
    return values[0];
  });
}

type Raw = string | readonly string[] | undefined;

function readAll(
  schema: z.ZodObject | undefined,
  rawValue: (name: string, parameter: z.core.$ZodType) => Raw,
): Readonly<Record<string, unknown>> {
  if (!schema) return {};
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, parameter]) => [
      name,
      readOne(name, parameter, rawValue(name, parameter)),
    ]),
  );
}

function readOne(name: string, parameter: z.core.$ZodType, raw: Raw): unknown {
  const parsed = z.safeParse(parameter, raw);
  if (parsed.success) return parsed.data;
  if (raw === undefined || (Array.isArray(raw) && raw.length === 0)) {
    throw new CodedError('VAL004', { message: `${name} is required`, field: name });
  }
  const allowed = describe(parameter);
  const value = typeof raw === 'string' ? shorten(raw) : raw.slice(0, 10).map(shorten);
  throw new CodedError('VAL005', {
    message: `${name} ${sentence(allowed)}`,
    field: name,
    context: { value, ...allowed },
  });
}

function isList(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod as { def: { type: string; innerType?: z.core.$ZodType } };
  return def.type === 'array' || (def.innerType !== undefined && isList(def.innerType));
}

interface Allowed {
  readonly type?: string;
  readonly min?: number;
  readonly max?: number;
  readonly allowed?: readonly unknown[];
  readonly pattern?: string;
  readonly min_length?: number;
  readonly max_length?: number;
  readonly max_items?: number;
}

/** What a parameter may be, from its own schema. */
function describe(parameter: z.core.$ZodType): Allowed {
  const schema = z.toJSONSchema(parameter, { io: 'output' }) as z.core.JSONSchema.BaseSchema;
  const all = {
    // Only the type of a number is worth stating: every parameter arrives as text.
    type: schema.type === 'number' || schema.type === 'integer' ? schema.type : undefined,
    min: schema.minimum,
    max: schema.maximum,
    allowed: schema.type === 'boolean' ? [true, false] : schema.enum,
    pattern: schema.pattern,
    min_length: schema.minLength,
    max_length: schema.maxLength,
    max_items: schema.maxItems,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function sentence(allowed: Allowed): string {
  if (allowed.allowed) return `must be one of ${allowed.allowed.join(', ')}`;
  if (allowed.min !== undefined) return `must be a whole number from ${allowed.min} to ${allowed.max}`;
  if (allowed.type === 'number') return 'must be a number';
  if (allowed.pattern) return `must match ${allowed.pattern}`;
  if (allowed.max_items) return `must hold 1 to ${allowed.max_items} values`;
  return `must be ${allowed.min_length} to ${allowed.max_length} characters`;
}

const shorten = (text: string) => text.slice(0, 100);
