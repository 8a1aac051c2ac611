import * as z from 'zod';
import type { RequestValidationError } from '#contract/common.ts';
import { CodedError } from '#contract/errors.ts';
import { withoutNullFields } from '#contract/null-fields.ts';
import { isBodyOptional, type Operation } from '#contract/operation.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Valid bodies have up to 6 levels. Serializing thousands of levels overflows the stack. */
const MAX_DEPTH = 64;
/** Valid bodies have up to some hundred values. Reporting the issues of a megabyte of invalid values would take seconds. */
const MAX_VALUES = 10_000;

/** Throws HTTP413 for a body whose Content-Length is too large, for every operation. */
export function checkAnnouncedSize(headers: Headers): void {
  if (Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

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

/** The parsed JSON body; undefined without a body. Throws HTTP413, HTTP415, or BodyError of type `json_invalid`. */
async function readJsonBody(request: Request): Promise<unknown> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return undefined;
  checkMediaType(request.headers);
  const text = decode(bytes);
  checkShape(text);
  const parsed = parse(text);
  const flaw = flawIn(parsed);
  if (flaw) throw invalidJson(flaw);
  return parsed;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson((error as Error).message);
  }
}

/**
 * Reason to reject a JSON value: a lone surrogate (possible as an escape) cannot be stored or sent, and the key `__proto__`
 * would be dropped silently when the object is copied.
 */
function flawIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : 'a text is not Unicode';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const flaw = key === '__proto__' ? 'the key __proto__ is not accepted' : (flawIn(key) ?? flawIn(each));
    if (flaw) return flaw;
  }
  return undefined;
}

/** The unparsed body. Throws HTTP413, or BodyError for a truncated body. */
export async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Counted on arrival: a chunked body has no Content-Length.
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CodedError) throw error;
    // The client disconnected: not a server error, and the response is never read.
    throw invalidJson('the body broke off');
  }
  return Buffer.concat(chunks);
}

function tooLarge(): CodedError {
  return new CodedError('HTTP413', { field: 'body', context: { max_bytes: MAX_BODY_BYTES } });
}

function checkMediaType(headers: Headers): void {
  const given = headers.get('content-type') ?? '';
  const [type = '', ...parameters] = given.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const utf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type === 'application/json' && utf8 && encoding === 'identity') return;
  throw new CodedError('HTTP415', {
    field: 'Content-Type',
    context: {
      value: given.slice(0, 100),
      allowed: ['application/json'],
      ...(encoding === 'identity' ? {} : { content_encoding: encoding.slice(0, 100) }),
    },
  });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson('the body is not UTF-8');
  }
}

/** Counts brackets and commas outside strings; the parser validates the JSON. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one scan of every body before it is parsed
function checkShape(text: string): void {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ',') values++;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
    if (depth > MAX_DEPTH) throw invalidJson(`nested deeper than ${MAX_DEPTH} levels`);
    if (values > MAX_VALUES) throw invalidJson(`more than ${MAX_VALUES} values`);
  }
}

function invalidJson(reason: string): BodyError {
  return new BodyError([
    bodyIssue('json_invalid', [], undefined, `JSON decode error: ${reason.slice(0, 200)}`),
  ]);
}

export type BodyIssue = RequestValidationError['detail'][number];

/** The body does not match its schema: 400 with an array of issues. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly issues: readonly BodyIssue[];

  constructor(issues: readonly BodyIssue[]) {
    super('The request body does not fit its schema');
    this.issues = issues;
  }
}

/** Maximum number of reported issues; an invalid body can have thousands. */
const MAX_ISSUES = 50;
/** Maximum length of an invalid value in the response, characters of JSON. */
const MAX_INPUT = 1000;

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

/** An issue at `path` of the body. A missing or large value is shown as null. */
function bodyIssue(type: string, path: readonly PropertyKey[], input: unknown, msg?: string): BodyIssue {
  return {
    type,
    loc: ['body', ...path.map((key) => (typeof key === 'number' ? key : String(key)))],
    msg: msg ?? MESSAGES[type] ?? 'Value error',
    input: input === undefined || JSON.stringify(input).length > MAX_INPUT ? null : input,
  };
}

const MESSAGES: Readonly<Record<string, string>> = {
  missing: 'Field required',
  string_type: 'Input should be a valid string',
  int_type: 'Input should be a valid integer',
  int_from_float: 'Input should be a valid integer, got a number with a fractional part',
  int_parsing_size: 'Input should be a valid integer, exceeded maximum size',
  float_type: 'Input should be a valid number',
  finite_number: 'Input should be a finite number',
  bool_type: 'Input should be a valid boolean',
  list_type: 'Input should be a valid list',
  dict_type: 'Input should be a valid dictionary',
  none_required: 'Input should be null',
  literal_error: 'Input should be one of the allowed values',
};

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
 * Query parameters parsed by the schema; unknown ones are ignored. A list is the parameter repeated or comma-separated. Throws
 * VAL004 for a missing parameter, VAL005 for an invalid or repeated one.
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

/**
 * Maximum characters of path and query. 500 symbols need 10,500. API Gateway accepts 10,240 bytes including all headers, and
 * re-encoding the query increases its length by half.
 */
export const MAX_URL_LENGTH = 16_384;
/** Maximum number of query parameters; the longest valid list has 1,000 entries. */
const MAX_QUERY_PARAMETERS = 1_100;
/** Maximum characters of all headers; browsers send 1,000, and a token has 2,000. */
export const MAX_HEADERS_LENGTH = 16_384;
const MAX_HEADERS = 100;

/** Throws HTTP414 or HTTP431 for an oversized URL, query or headers, before they are parsed. */
export function checkHead({ url, headers }: Request): void {
  // Relative to the path, so that it is valid for any host name.
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  if (target.length > MAX_URL_LENGTH) {
    throw new CodedError('HTTP414', { context: { length: target.length, max: MAX_URL_LENGTH } });
  }
  const parameters = target.split('&').length;
  if (parameters > MAX_QUERY_PARAMETERS) {
    throw new CodedError('HTTP414', {
      message: 'Too many query parameters',
      context: { parameters, max: MAX_QUERY_PARAMETERS },
    });
  }
  const names = [...headers.keys()];
  const length = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (names.length > MAX_HEADERS || length > MAX_HEADERS_LENGTH) {
    throw new CodedError('HTTP431', {
      context: { headers: names.length, length, max_headers: MAX_HEADERS, max_length: MAX_HEADERS_LENGTH },
    });
  }
}
