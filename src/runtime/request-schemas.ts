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
  const shape = operation.query?.shape ?? {};
  const known = Object.entries(shape).map(([name, parameter]) =>
    isRecord(parameter) ? `${name}.<name>` : name,
  );
  for (const name of query.keys()) {
    if (name === '' || known.includes(name) || isNamedValue(name, shape)) continue;
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
    if (isRecord(parameter)) return readNamedValues(name, query);
    const values = query.getAll(name);
    const isEmpty = values.every((value) => value === '');
    if (values.length === 0 || (isEmpty && z.safeParse(parameter, undefined).success)) return undefined;
    if (isList(parameter)) return values.flatMap((value) => value.split(',')).filter((value) => value !== '');
    return onlyOne(name, values);
  });
}

/** The value of a parameter that was given once. Throws VAL005 for a repeated one. */
function onlyOne(name: string, values: readonly string[]): string {
  if (values.length === 1) return values[0]!;
  throw new CodedError('VAL005', {
    message: `${shorten(name)} must be given once`,
    field: shorten(name),
    context: { value: values.slice(0, 10).map(shorten), count: values.length },
  });
}

/** Characters of a name in {@link readNamedValues}. */
const MAX_VALUE_NAME = 100;

/** Values of `params.fast=10` and `params[fast]=10` by name; undefined without any. Throws VAL005. */
function readNamedValues(
  parameter: string,
  query: URLSearchParams,
): Readonly<Record<string, string>> | undefined {
  const keys = new Set([...query.keys()].filter((key) => nameOfValue(key, parameter) !== undefined));
  if (keys.size === 0) return undefined;
  const values = new Map<string, string[]>();
  for (const key of keys) {
    const name = nameOfValue(key, parameter)!;
    // Copies of an object drop `__proto__`, so this filter would be ignored in silence.
    if (name === '' || name === '__proto__' || name.length > MAX_VALUE_NAME) {
      const message = `${shorten(key)} must name a value with 1 to ${MAX_VALUE_NAME} characters, such as ${parameter}.fast`;
      throw new CodedError('VAL005', { message, field: shorten(key), context: { value: shorten(name) } });
    }
    values.set(name, [...(values.get(name) ?? []), ...query.getAll(key)]);
  }
  return Object.fromEntries(
    [...values].map(([name, given]) => [name, onlyOne(`${parameter}.${name}`, given)]),
  );
}

/** `fast` of `params.fast` and of `params[fast]`; undefined for the key of another parameter. */
function nameOfValue(key: string, parameter: string): string | undefined {
  if (key.startsWith(`${parameter}.`)) return key.slice(parameter.length + 1);
  if (key.startsWith(`${parameter}[`) && key.endsWith(']')) return key.slice(parameter.length + 1, -1);
  return undefined;
}

function isNamedValue(key: string, shape: Readonly<Record<string, z.core.$ZodType>>): boolean {
  return Object.entries(shape).some(
    ([name, parameter]) => isRecord(parameter) && nameOfValue(key, name) !== undefined,
  );
}

type Raw = string | readonly string[] | Readonly<Record<string, string>> | undefined;

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
  const value =
    typeof raw === 'string' ? shorten(raw) : Array.isArray(raw) ? raw.slice(0, 10).map(shorten) : null;
  throw new CodedError('VAL005', {
    message: `${name} ${sentence(allowed)}`,
    field: name,
    context: { value, ...allowed },
  });
}

const isList = (schema: z.core.$ZodType) => isOfType(schema, 'array');
const isRecord = (schema: z.core.$ZodType) => isOfType(schema, 'record');

function isOfType(schema: z.core.$ZodType, type: 'array' | 'record'): boolean {
  const { def } = schema._zod as { def: { type: string; innerType?: z.core.$ZodType } };
  return def.type === type || (def.innerType !== undefined && isOfType(def.innerType, type));
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
    allowed: schema.type === 'boolean' ? [true, false] : (schema.enum ?? allowedOfUnion(schema)),
    pattern: schema.pattern,
    min_length: schema.minLength,
    max_length: schema.maxLength,
    max_items: schema.maxItems,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Names of a union of an enumeration with a pattern, which is described by its title; undefined for another schema. */
function allowedOfUnion({ anyOf }: z.core.JSONSchema.BaseSchema): unknown[] | undefined {
  return anyOf?.flatMap(({ enum: names, title }) => names ?? title ?? []);
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
