import { ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import type { Clock } from '#domain/ports.ts';
import { isJsonObject, type JsonObject } from './envelope.ts';

export interface UpstreamOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** Creates a signal that aborts after a number of milliseconds. */
  readonly timeoutSignal: (ms: number) => AbortSignal;
  /** Maximum wait for one complete response, ms. */
  readonly requestTimeoutMs: number;
  /** Maximum number of retries after the first attempt. */
  readonly maxRetries: number;
}

export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** End of all attempts and backoffs, Unix milliseconds. */
  readonly deadline: number;
  readonly accepts: (reply: JsonObject) => boolean;
}

interface Failure {
  readonly ok: false;
  /** Safe to show to the caller. */
  readonly message: string;
  /** SVC004: unavailable; SVC002: invalid response; VAL or DATA: the service's own code. */
  readonly code: ErrorCode;
  /** Name of the invalid parameter; empty if no parameter is invalid. */
  readonly field: string;
}

export type UpstreamReply = { readonly ok: true; readonly reply: JsonObject } | Failure;

type Attempt = UpstreamReply | (Failure & { readonly retry: true });

const FIRST_PAUSE_MS = 1000;
/** Bytes of a response, decoded; a function returns up to 6 MB, in which a string takes more than its text. */
const MAX_RESPONSE = 4_000_000;

/**
 * GETs a JSON object. A 5xx, a refused connection, a time-out and an unexpected body are retried after 1 s, 2 s, 4 s ..., at
 * most `maxRetries` times. A 4xx is not retried. Does not throw.
 *
 * Worst case with the defaults (30 s, 2 retries) and no deadline: 30 + 1 + 30 + 2 + 30 = 93 s; the deadline of a
 * 60 s function cuts it to 59 s.
 */
export async function getWithRetries(
  options: UpstreamOptions,
  request: UpstreamRequest,
): Promise<UpstreamReply> {
  for (let attempts = 0; ; ) {
    const left = request.deadline - options.clock.now();
    if (left <= 0) return down('No time is left to ask data collection');
    const outcome = await attempt(options, request, Math.min(options.requestTimeoutMs, left));
    attempts++;
    if (!('retry' in outcome)) return outcome;
    const pause = FIRST_PAUSE_MS * 2 ** (attempts - 1);
    const inTime = options.clock.now() + pause < request.deadline;
    if (attempts > options.maxRetries || !inTime) {
      const { code, field } = outcome;
      const message = `${outcome.message} (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`;
      return { ok: false, message, code, field };
    }
    await options.sleep(pause);
  }
}

async function attempt(
  options: UpstreamOptions,
  request: UpstreamRequest,
  timeoutMs: number,
): Promise<Attempt> {
  const signal = options.timeoutSignal(timeoutMs);
  let status: number | undefined;
  try {
    // Redirects are errors: following one could reach addresses that only this host can reach (SSRF).
    const redirect = 'manual';
    const response = await options.fetch(request.url, { headers: { ...request.headers }, signal, redirect });
    status = response.status;
    return classifyResponse(status, await readText(response), request.accepts);
  } catch (error) {
    if (error instanceof TooLongError)
      return { ok: false, message: error.message, code: 'SVC002', field: '' };
    // A 4xx is final, even if its body did not arrive.
    if (status !== undefined && isClientError(status)) return classifyResponse(status, '', request.accepts);
    const message = signal.aborted
      ? `Data collection did not respond within ${timeoutMs / 1000} s`
      : 'Data collection could not be reached';
    return { ...down(message), retry: true };
  }
}

class TooLongError extends Error {}

/** The text of a response. It ends at the limit: 400 KB of gzip can hold 400 MB. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > MAX_RESPONSE)
      throw new TooLongError(`The response of data collection is longer than ${MAX_RESPONSE} bytes`);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function classifyResponse(status: number, text: string, accepts: (reply: JsonObject) => boolean): Attempt {
  const body = parse(text);
  if (isClientError(status)) {
    const message = `Data collection rejected the request: ${describe(status, body)}`;
    return { ok: false, message, ...classify(status, body) };
  }
  if (status < 200 || status > 299) {
    const message = `Data collection failed: ${describe(status, body)}`;
    return { ok: false, message, ...classify(status, body), retry: true };
  }
  if (isJsonObject(body) && accepts(body)) return { ok: true, reply: body };
  const message = 'Data collection returned an invalid response';
  return { ok: false, message, code: 'SVC002', field: '', retry: true };
}

function down(message: string): Failure {
  return { ok: false, message, code: 'SVC004', field: '' };
}

/** Statuses that the caller cannot fix: the service rejects the proxy or all clients. */
const CLOSED = new Set([401, 403, 408, 429]);

/** The service's code if it concerns the request or the data. Otherwise SVC002 for a 4xx, and SVC004 if the service is unavailable. */
function classify(status: number, body: unknown): Pick<Failure, 'code' | 'field'> {
  const { code, field } = codedDetail(body) ?? {};
  if (code !== undefined && /^(VAL|DATA)/.test(code) && Object.hasOwn(ERRORS, code)) {
    return { code: code as ErrorCode, field: typeof field === 'string' ? field : '' };
  }
  return { code: isClientError(status) && !CLOSED.has(status) ? 'SVC002' : 'SVC004', field: '' };
}

function isClientError(status: number): boolean {
  return status >= 400 && status <= 499;
}

const MAX_DETAIL = 300;

/** Status and, if the body is a coded error, its code and message, which are documented for callers. */
function describe(status: number, body: unknown): string {
  const detail = codedDetail(body);
  return (detail ? `status ${status}, ${detail.code} ${detail.message}` : `status ${status}`).slice(
    0,
    MAX_DETAIL,
  );
}

function codedDetail(body: unknown): { code: string; message: string; field?: unknown } | undefined {
  const detail = isJsonObject(body) ? body.detail : undefined;
  if (!isJsonObject(detail)) return undefined;
  const { code, message, field } = detail;
  return typeof code === 'string' && typeof message === 'string' ? { code, message, field } : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
