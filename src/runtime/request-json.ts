/** Reading of requests up to JSON. Without zod, which functions load at their first request: see request-schemas.ts. */
import type { RequestValidationError } from '#contract/common/error-bodies.ts';
import { CodedError } from '#contract/values/errors.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Valid bodies have up to 6 levels. Serializing thousands of levels overflows the stack. */
const MAX_DEPTH = 64;
/** Valid bodies have up to some hundred values. Reporting the issues of a megabyte of invalid values would take seconds. */
const MAX_VALUES = 10_000;

/** Throws HTTP413 for a body whose Content-Length is too large, for every operation. */
export function checkAnnouncedSize(headers: Headers): void {
  if (Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/** The parsed JSON body; undefined without a body. Throws HTTP413, HTTP415, or BodyError of type `json_invalid`. */
export async function readJsonBody(request: Request): Promise<unknown> {
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

/** Maximum length of an invalid value in the response, characters of JSON. */
const MAX_INPUT = 1000;

/** An issue at `path` of the body. A missing or large value is shown as null. */
export function bodyIssue(
  type: string,
  path: readonly PropertyKey[],
  input: unknown,
  msg?: string,
): BodyIssue {
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
