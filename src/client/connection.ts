import type { ServiceName } from '#contract/values/operation.ts';
import { errorOf, readError, TouchstoneError } from './errors.ts';

/** Address of a platform that serves all services at one place, or the address of each service. */
export type Address = string | Readonly<Partial<Record<ServiceName, string>>>;

export interface ConnectOptions {
  /**
   * Access token, or a function that returns one for each call. After AUTH001 it is called once more with `renew`, and the call
   * is repeated.
   */
  readonly token?: string | ((reason: { readonly renew: boolean }) => string | Promise<string>);
  /** Times that a call is sent at most, the first included. Default 3. */
  readonly attempts?: number;
  /** Longest wait for a response and its JSON, ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** Longest pause before a call is repeated, ms: a longer `Retry-After` is an error at once. Default 60,000. */
  readonly longestPauseMs?: number;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Waits before a call is repeated. For tests; default: a timer. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface CallOptions {
  /** Aborts the call and the pauses between its repetitions. */
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Key of a POST: calls with the same key and body create one resource. Default: a new one for each call. */
  readonly idempotencyKey?: string;
  /** Longest wait for a response and its JSON, ms. Default: that of the connection. */
  readonly timeoutMs?: number;
}

/** Service, method and path of an operation, below {@link ROOT}; true if the service takes an idempotency key for it. */
export type Route = readonly [service: ServiceName, method: string, path: string, keyed?: boolean];

const ROOT = '/api/v1';

/** Path variables and query of a call by name, and its body. */
export type Input = Readonly<Record<string, unknown>>;

/** Makes a response the result of a call, before its time is over. */
type Read<T> = (response: Response, signal: AbortSignal) => T | Promise<T>;

/** A platform and how it is called. Make one with {@link connect}. */
export interface Connection extends Required<Omit<ConnectOptions, 'token'>>, Pick<ConnectOptions, 'token'> {
  readonly addressOf: (service: ServiceName) => string;
}

/**
 * Sends nothing yet.
 *
 * @param address of a platform, such as `http://127.0.0.1:8000`, or of each service that is called
 */
export function connect(address: Address, options: ConnectOptions = {}): Connection {
  return {
    attempts: 3,
    timeoutMs: 30_000,
    longestPauseMs: 60_000,
    // A browser's fetch must be called on its window.
    fetch: (...request) => fetch(...request),
    pause,
    ...options,
    addressOf: (service) => {
      if (typeof address !== 'string') {
        const own = address[service];
        if (own === undefined) throw new TypeError(`Pass the address of ${service} to connect()`);
        return own.replace(/\/+$/, '');
      }
      // One address serves all services, whose paths collide, below a prefix of each.
      return `${address.replace(/\/+$/, '')}/services/${service.replace('_', '-')}`;
    },
  };
}

/**
 * Sends a call until it succeeds, and returns what `read` makes of the response.
 *
 * Repeats it after 429, and after 5xx or a broken connection unless that could change something twice: first after `Retry-After`,
 * else after a pause that doubles. A POST has the same `Idempotency-Key` each time.
 *
 * @throws TouchstoneError when a repetition is useless or all attempts failed, the reason of `signal` when it is aborted
 */
export async function send<T>(
  connection: Connection,
  [service, method, path, keyed]: Route,
  input: Input = {},
  { signal, headers, idempotencyKey, timeoutMs = connection.timeoutMs }: CallOptions = {},
  read: Read<T>,
): Promise<T> {
  const { body, ...values } = input;
  const url = connection.addressOf(service) + ROOT + fill(path, values);
  const init = {
    method,
    redirect: 'error' as const,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  // Browsers have randomUUID on https only.
  const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');
  const sent = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(keyed && { 'Idempotency-Key': idempotencyKey ?? newKey() }),
    ...headers,
  };
  const request = { ...init, url, headers: sent };
  const repeatable = keyed || /GET|PUT|PATCH/.test(method);
  let renewed = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(connection, request, { signal, timeoutMs, renew: renewed }, read);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TouchstoneError)) throw error;
      if (error.code === 'AUTH001' && typeof connection.token === 'function' && !renewed) {
        renewed = true;
        attempt--;
        continue;
      }
      const ms = pauseBefore(attempt, error, connection);
      if (ms === undefined || !(repeatable || error.status === 429)) throw error;
      await connection.pause(ms, signal);
    }
  }
}

async function sendOnce<T>(
  { token, fetch }: Connection,
  { url, headers, ...init }: Omit<RequestInit, 'headers'> & { url: string; headers: Record<string, string> },
  { signal, timeoutMs, renew }: { signal: AbortSignal | undefined; timeoutMs: number; renew: boolean },
  read: Read<T>,
): Promise<T> {
  const bearer = typeof token === 'function' ? await token({ renew }) : token;
  const late = new AbortController();
  const timer = Number.isFinite(timeoutMs) ? setTimeout(() => late.abort(), timeoutMs) : undefined;
  try {
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const response = await fetch(url, {
      ...init,
      headers: { ...headers, ...(bearer && { Authorization: `Bearer ${bearer}` }) },
      signal: either,
    });
    if (!response.ok) throw await readError(response);
    return await read(response, either);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof TouchstoneError) throw cause;
    const why = late.signal.aborted ? ` within ${timeoutMs} ms` : `: ${reasonOf(cause as Error)}`;
    throw noResponse(`No response from ${withoutUser(url)}${why}`, cause);
  } finally {
    clearTimeout(timer);
  }
}

/** The address without a user and password, which messages must not have. */
function withoutUser(url: string): string {
  return url.replace(/^([a-z]+:)?[\\/]*[^\\/?#]*@/i, '$1//');
}

/** Node's fetch says only that it failed: its cause says why, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
function reasonOf({ cause, message }: Error): string {
  return (cause as Error | undefined)?.message || message;
}

export function noResponse(message: string, cause?: unknown): TouchstoneError {
  return errorOf({ status: 0, code: 'NO_RESPONSE', message, cause });
}

/** True if the same call may succeed later. */
export function mayPass({ status }: TouchstoneError): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}

/** Pause before the next attempt, ms; undefined if there is none. */
function pauseBefore(
  attempt: number,
  error: TouchstoneError,
  { attempts, longestPauseMs }: Connection,
): number | undefined {
  if (!mayPass(error) || attempt >= attempts) return undefined;
  const ms = Math.max(backOff(attempt), (error.retryAfterSeconds ?? 0) * 1000);
  return ms > longestPauseMs ? undefined : ms;
}

/** Doubles from half a second up to half a minute, with jitter: clients of a service that restarts do not come back in one wave. */
export function backOff(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
}

/** Path with its variables, and the other values as query. */
function fill(path: string, values: Input): string {
  const query = new URLSearchParams();
  const variables = new Set<string>();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    variables.add(name);
    const value = String(values[name] ?? '');
    // Empty and dotted segments would address another path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`Pass ${name}: "${value}" is none`);
    return encodeURIComponent(value);
  });
  for (const [name, value] of Object.entries(values)) {
    if (variables.has(name) || value === undefined || value === null) continue;
    if (typeof value === 'object' && !Array.isArray(value)) {
      for (const [key, each] of Object.entries(value)) query.append(`${name}.${key}`, String(each));
    } else for (const each of [value].flat()) query.append(name, String(each));
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
  });
}
