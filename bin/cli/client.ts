import { SESSION_HEADER } from '#contract/values/names.ts';
import { SYMBOLS } from '#contract/values/trading-modes.ts';
import { escapeControlChars } from './output.ts';

const REQUEST_TIMEOUT_MS = 30_000;

type Context = Readonly<Record<string, unknown>>;

interface Rejection {
  /** Problem and solution in one line. */
  readonly message: string;
  /** Values that the service sent with the message. */
  readonly context: Context;
  /** Messages by field: dotted path, empty when the message is not about a field. */
  readonly issues: readonly { readonly field: string; readonly message: string }[];
}

/** A request that the service rejected, or failed to serve. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly context: Context;
  readonly issues: Rejection['issues'];
  readonly correlationId: string | null;
  /** Printed below the message, such as a table of failed checks. */
  readonly details: string | undefined;

  constructor({ message, context, issues }: Rejection, correlationId: string | null, details?: string) {
    super(message);
    this.context = context;
    this.issues = issues;
    this.correlationId = correlationId;
    this.details = details;
  }

  withDetails(details: string): ApiError {
    return new ApiError(this, this.correlationId, details);
  }
}

/**
 * An error as the terminal shows it: message, details, context as `name: value` lines, correlation ID last. Values that the message or
 * the details state are printed with `verbose` only.
 */
export function errorText(error: unknown, { verbose = false, json = false } = {}): string {
  if (!(error instanceof ApiError)) {
    const message = error instanceof Error ? error.message : String(error);
    const lines = message.split('\n').map(escapeControlChars);
    return json ? JSON.stringify({ error: { message: lines.join('\n') } }) : lines.join('\n');
  }
  const { message, context, details, correlationId } = error;
  if (json) return JSON.stringify({ error: { message, context, correlation_id: correlationId } });
  return [
    message,
    ...(details ? [details] : []),
    ...contextEntries(context)
      .filter(([, value]) => verbose || !(details || value === 'null' || states(message, value)))
      .map(([name, value]) => `${name}: ${value}`),
    ...(correlationId ? [`Correlation ID: ${correlationId}`] : []),
  ].join('\n');
}

/** Names and values; the fields of an object are named by their path. */
function contextEntries(value: unknown, name = ''): (readonly [name: string, value: string])[] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
    return [[name, value.join(', ')]];
  }
  return Object.entries(value).flatMap(([key, each]) => contextEntries(each, name ? `${name}.${key}` : key));
}

/** True if the value is in the message as a whole word, not as a part of another number or symbol. */
function states(message: string, value: string): boolean {
  if (value === '') return true;
  for (let at = message.indexOf(value); at >= 0; at = message.indexOf(value, at + 1)) {
    const [before, after] = [message.slice(0, at), message.slice(at + value.length)];
    if (!/[\w.]$/.test(before) && !/^(?:\w|\.\d|:\w)/.test(after)) return true;
  }
  return false;
}

/** Calls one service's HTTP API. */
export class ApiClient {
  readonly baseUrl: string;
  /** Session of the user that submitted jobs count for; undefined without one. */
  trialSession: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param token sent with every request, if there is one */
  constructor(baseUrl: string, token?: string) {
    // No request carries them, and messages name the address.
    if (baseUrl.includes('@')) {
      throw new Error(
        'The address of the service has a user or a password. Leave it out, and set TOUCHSTONE_TOKEN to a token.',
      );
    }
    this.#headers = token ? { authorization: `Bearer ${token}` } : {};
    this.baseUrl = baseUrl.replace(/\/+$/, '');
  }

  get<T>(path: string): Promise<T> {
    return this.send<T>('GET', path);
  }

  /** @param key Idempotency-Key: calls with the same one create one resource */
  post<T>(path: string, body?: unknown, key?: string): Promise<T> {
    return this.send<T>('POST', path, body, undefined, key);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>('PATCH', path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>('PUT', path, body);
  }

  /** A response whose body is read as it arrives, until the signal aborts it. @throws ApiError when it is not a 2xx. */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const response = await this.#fetch('GET', path, { headers, signal });
    if (!response.ok) throw await rejectionOf(response);
    return response;
  }

  /** @param signal ends the request before its time limit */
  async send<T>(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    key?: string,
  ): Promise<T> {
    const limit = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await this.#fetch(method, path, {
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(method === 'POST' && this.trialSession !== undefined && { [SESSION_HEADER]: this.trialSession }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await rejectionOf(response);
    // 204 has no body.
    return readJson<T>((await response.text()) || 'null');
  }

  #fetch(
    method: string,
    path: string,
    { headers, ...init }: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    return fetch(`${this.baseUrl}${path}`, {
      ...init,
      method,
      // A redirect would send the token to another address.
      redirect: 'manual',
      headers: { ...this.#headers, ...headers },
    }).catch((cause: unknown) => {
      throw new Error(
        `No response from ${this.baseUrl}. Check the address, or start the platform with npm start.`,
        { cause },
      );
    });
  }
}

/** A response body as JSON, with control characters of every string written out. */
export function readJson<T>(text: string): T {
  return JSON.parse(text, escaped) as T;
}

/** Strings and field names alike may be printed. */
function escaped(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return escapeControlChars(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [escapeControlChars(name), each]));
}

async function rejectionOf(response: Response): Promise<ApiError> {
  const id = response.headers.get('x-correlation-id');
  return new ApiError(explain(response.status, await response.text()), id && escapeControlChars(id));
}

interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** One message from either shape of an error body. */
function explain(status: number, text: string): Rejection {
  try {
    const { detail } = readJson<{
      detail: FieldIssue[] | { code: string; message: string; field?: string; context?: Context };
    }>(text);
    if (Array.isArray(detail)) {
      const issues = detail.map(({ loc, msg }) => ({ field: loc.join('.'), message: msg }));
      const message = issues.map((issue) => `${issue.field}: ${issue.message}`).join('; ');
      return { message, context: {}, issues };
    }
    const hint =
      status === 401
        ? '. Set TOUCHSTONE_TOKEN to a token; in local mode print one with: touchstone token --role researcher'
        : detail.code === 'VAL002'
          ? symbolHint(detail.context?.value, detail.context?.format)
          : '';
    const message = `${detail.code}: ${detail.message}${hint}`;
    return {
      message,
      context: detail.context ?? {},
      issues: [{ field: detail.field ?? '', message }],
    };
  } catch {
    return { message: `HTTP status ${status} without an explanation`, context: {}, issues: [] };
  }
}

/** What to do about a symbol of the other trading mode: the message of VAL002 names the format of futures in both. */
function symbolHint(value: unknown, expected: unknown): string {
  const symbol = String(value);
  if (expected === SYMBOLS.futures.format && SYMBOLS.spot.pattern.test(symbol)) {
    return '. A spot pair needs --trading-mode spot';
  }
  if (expected === SYMBOLS.spot.format && SYMBOLS.futures.pattern.test(symbol)) {
    return `. With --trading-mode spot the format is ${SYMBOLS.spot.format}`;
  }
  return '';
}
