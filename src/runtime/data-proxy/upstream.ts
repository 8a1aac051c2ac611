import type { Clock } from '#domain/ports.ts';
import { isJsonObject, type JsonObject } from './envelope.ts';

export interface UpstreamOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** A signal that aborts after so many milliseconds. */
  readonly timeoutSignal: (ms: number) => AbortSignal;
  /** Longest wait for one whole reply. */
  readonly requestTimeoutMs: number;
  /** Retries after the first attempt. */
  readonly maxRetries: number;
}

export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** No attempt and no pause runs past this time, Unix milliseconds. */
  readonly deadline: number;
  readonly accepts: (reply: JsonObject) => boolean;
}

export type UpstreamReply =
  | { readonly ok: true; readonly reply: JsonObject }
  /** `message` is fit to be shown to the caller. */
  | { readonly ok: false; readonly message: string };

type Attempt = UpstreamReply | { readonly ok: false; readonly message: string; readonly retry: true };

const FIRST_PAUSE_MS = 1000;

/**
 * GETs a JSON object. A 5xx, a refused connection, a time-out and a reply that is not the expected JSON are tried
 * again after 1 s, 2 s, 4 s ..., at most `maxRetries` times; a 4xx never. Does not throw.
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
    if (left <= 0) return { ok: false, message: 'No time is left to ask data collection' };
    const outcome = await attempt(options, request, Math.min(options.requestTimeoutMs, left));
    attempts++;
    if (!('retry' in outcome)) return outcome;
    const pause = FIRST_PAUSE_MS * 2 ** (attempts - 1);
    const inTime = options.clock.now() + pause < request.deadline;
    if (attempts > options.maxRetries || !inTime) {
      return {
        ok: false,
        message: `${outcome.message} (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`,
      };
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
    const response = await options.fetch(request.url, { headers: { ...request.headers }, signal });
    status = response.status;
    return judge(status, await response.text(), request.accepts);
  } catch {
    // Once a 4xx was seen it stands, even when its body never came.
    if (status !== undefined && isRefusal(status)) return judge(status, '', request.accepts);
    const message = signal.aborted
      ? `Data collection did not answer within ${timeoutMs / 1000} s`
      : 'Data collection could not be reached';
    return { ok: false, message, retry: true };
  }
}

function judge(status: number, text: string, accepts: (reply: JsonObject) => boolean): Attempt {
  const body = parse(text);
  if (isRefusal(status)) return { ok: false, message: `Data collection refused: ${describe(status, body)}` };
  if (status < 200 || status > 299) {
    return { ok: false, message: `Data collection failed: ${describe(status, body)}`, retry: true };
  }
  if (isJsonObject(body) && accepts(body)) return { ok: true, reply: body };
  return { ok: false, message: 'Data collection gave an answer that cannot be read', retry: true };
}

function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499;
}

const MAX_DETAIL = 300;

/** The status and, when the body is a coded error, its code and message: texts that are documented to be shown. */
function describe(status: number, body: unknown): string {
  const detail = isJsonObject(body) ? body.detail : undefined;
  if (!isJsonObject(detail) || typeof detail.code !== 'string' || typeof detail.message !== 'string') {
    return `status ${status}`;
  }
  return `status ${status}, ${detail.code} ${detail.message}`.slice(0, MAX_DETAIL);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
