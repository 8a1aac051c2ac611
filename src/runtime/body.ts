import { CodedError } from '#contract/errors.ts';
import { withoutNullFields } from '#contract/null-fields.ts';
import { isBodyOptional, type Operation } from '#contract/operation.ts';
import { BodyError, bodyIssue, parseBody } from './body-issues.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** No body of ours is deeper than 6; beyond some thousand levels even writing one down again overflows the stack. */
const MAX_DEPTH = 64;
/** The largest body that makes sense has some hundred; a megabyte of wrong ones would be told apart for seconds. */
const MAX_VALUES = 10_000;

/** Throws HTTP413 for a body that announces itself as too large, whatever the operation does with it. */
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

/**
 * The parsed JSON body, undefined when there is none.
 * Throws HTTP413, HTTP415, or BodyError of type `json_invalid`.
 */
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
 * What makes a JSON value unusable: half a surrogate pair, which an escape can write, is no text that could be stored or
 * sent on; the key `__proto__` is dropped by whatever copies an object, and nothing may be dropped silently.
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

/** The body as it came. Throws HTTP413, or BodyError for one that breaks off. */
export async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Counted as it arrives: a chunked body announces no length.
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CodedError) throw error;
    // The client went away: no fault of ours, and nobody reads the answer.
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

/** Brackets and commas outside strings are counted; whether the text is JSON is for the parser to say. */
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
