/** Parsing of requests by the schemas of their rows. */
import * as z from 'zod';
import { withoutNullFields } from '#contract/common/null-fields.ts';
import { CodedError } from '#contract/values/errors.ts';
import { nearestName } from '#contract/values/nearest-name.ts';
import { isBodyOptional, type Operation, rejectsUnknownQuery } from '#contract/values/operation.ts';
import { BodyError, type BodyIssue, bodyIssue, readJsonBody } from './request-json.ts';

/**
 * The body as the operation's row reads it, without optional fields that are null; undefined when it takes none.
 * Throws HTTP413, HTTP415, BodyError.
 */
export async function readBody(operation: Operation, request: Request): Promise<unknown> {
  if (!operation.body) return undefined;
  const sent = await readJsonBody(request);
  const body = sent === undefined && isBodyOptional(operation) ? {} : sent;
  return parseBody(operation.body, withoutNullFields(operation.body, body));
}

/** Maximum number of reported issues; an invalid body can have thousands. */
const MAX_ISSUES = 50;
/** `value` parsed by the schema. Throws BodyError with an issue per error, with pydantic's type names. */
function parseBody<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = z.safeParse(schema, value, { reportInput: true, error: (issue) => issueType(issue) });
  if (parsed.success) return parsed.data;
  throw new BodyError(parsed.error.issues.flatMap((issue) => bodyIssues(issue, [])).slice(0, MAX_ISSUES));
}

/** One issue; for a union that matches no branch, the issues of each branch. A missing value is missing in all of them. */
function bodyIssues(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): BodyIssue[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0 && issue.input !== undefined) {
    return issue.errors.flatMap((branch) => branch.flatMap((inner) => bodyIssues(inner, path)));
  }
  return [bodyIssue(issue.message, path, issue.input)];
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string_type',
  int: 'int_from_float',
  boolean: 'bool_type',
  array: 'list_type',
  object: 'dict_type',
  record: 'dict_type',
  null: 'none_required',
};

/** pydantic's type name of a raw zod issue. It is computed during parsing, while the issue has its schema. */
function issueType(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'missing';
  if (issue.code === 'invalid_value') return 'literal_error';
  // The only bound of body schemas: integers that a double cannot hold.
  if (issue.code === 'too_big' || issue.code === 'too_small') return 'int_parsing_size';
  if (issue.code !== 'invalid_type') return 'value_error';
  if (issue.expected !== 'number') return TYPES[issue.expected] ?? 'value_error';
  if (typeof issue.input === 'number') return 'finite_number';
  return issue.inst instanceof z.ZodNumberFormat ? 'int_type' : 'float_type';
}

/**
 * Path parameters parsed by the schema. Throws VAL005 with the parameter, its value and the allowed values.
 */
export function readParams(schema: z.ZodObject | undefined, params: Readonly<Record<string, string>>) {
  return readAll(schema, (name) => params[name]);
}

/**
 * Checks that a read knows every query parameter: a misspelled filter would otherwise return everything. Throws VAL005 with the known
 * names for the first unknown one.
 */
export function checkQueryNames(operation: Operation, query: URLSearchParams): void {
  if (!rejectsUnknownQuery(operation)) return;
  const known = Object.keys(operation.query?.shape ?? {});
  for (const name of query.keys()) {
    if (name === '' || known.includes(name)) continue;
    const field = shorten(name);
    const nearest = nearestName(field, known);
    const list = known.length > 0 ? `. Known: ${known.join(', ')}` : ', which takes none';
    throw new CodedError('VAL005', {
      message: `${field} is not a query parameter of ${operation.id}${nearest ? ` (did you mean ${nearest}?)` : ''}${list}`,
      field,
      context: { known, ...(nearest && { nearest }) },
    });
  }
}

/**
 * Query parameters parsed by the schema; unknown ones are ignored. A list is the parameter repeated or comma-separated. An empty
 * optional parameter counts as absent: generated clients and forms send `?status=` for no status. Throws VAL004 for a missing
 * parameter, VAL005 for an invalid or repeated one.
 */
export function readQuery(schema: z.ZodObject | undefined, query: URLSearchParams) {
  return readAll(schema, (name, parameter) => {
    const values = query.getAll(name);
    const isEmpty = values.every((value) => value === '');
    if (values.length === 0 || (isEmpty && z.safeParse(parameter, undefined).success)) return undefined;
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

/** Allowed values of a parameter, from its schema. */
function describe(parameter: z.core.$ZodType): Allowed {
  const schema = z.toJSONSchema(parameter, { io: 'output' }) as z.core.JSONSchema.BaseSchema;
  const all = {
    // Only number types are stated: every parameter arrives as a string.
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
  if (allowed.min !== undefined) return `must be an integer from ${allowed.min} to ${allowed.max}`;
  if (allowed.type === 'number') return 'must be a number';
  if (allowed.pattern) return `must match ${allowed.pattern}`;
  if (allowed.max_items) return `must hold 1 to ${allowed.max_items} values`;
  return `must be ${allowed.min_length} to ${allowed.max_length} characters`;
}

const shorten = (text: string) => text.slice(0, 100);
