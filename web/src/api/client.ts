import OPERATIONS_BY_ID from 'virtual:operations';
import type { EventsOf, OperationId, RequestOf, ResponseOf } from '#contract/operations/calls.ts';

export type { EventsOf, OperationId, RequestOf, ResponseOf };

/** The paths of the services collide: each has a prefix on the one origin. */
const PREFIXES = {
  backend: '/services/backend',
  strategy: '/services/strategy',
  data_collection: '/services/data-collection',
} as const;

/** An error of the other shape names one field per entry. */
interface FieldError {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** An error response, or no response at all (status 0, code OFFLINE). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Message per invalid field, by dotted path; empty if no field is named. */
  readonly fields: Readonly<Record<string, string>>;
  readonly correlationId: string | null;
  /** Values that explain the error, such as the checks that failed. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Seconds after which to try again, if the response says so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    more: Partial<Pick<ApiError, 'fields' | 'correlationId' | 'context' | 'retryAfter'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = more.fields ?? {};
    this.correlationId = more.correlationId ?? null;
    this.context = more.context ?? {};
    this.retryAfter = more.retryAfter;
  }
}

export interface TokenSource {
  /** Token for the Authorization header; null to send none. */
  token(): Promise<string | null>;
  /** After 401: true if a new token was obtained and the request is worth repeating. */
  renew(): Promise<boolean>;
}

/** Data of a report that is one file: they answer calls in place of the services. */
export type Source = (id: OperationId, request: { readonly query?: object }) => unknown;

let source: Source | undefined;

/** From now on `given` answers every call, and nothing is sent. */
export function answerFrom(given: Source): void {
  source = given;
}

/** True in a report that is one file: there is no service, and nothing can be changed. */
export function isFile(): boolean {
  return source !== undefined;
}

let tokens: TokenSource | undefined;

/** Sends the tokens of `source` with every call. */
export function authorizeWith(source: TokenSource | undefined): void {
  tokens = source;
}

/** After 401: true if a new token was obtained and the request is worth repeating. */
export async function renewToken(): Promise<boolean> {
  return (await tokens?.renew()) ?? false;
}

/** Path and query of an operation on the dashboard's origin. */
export function urlOf(
  id: OperationId,
  request: { readonly params?: object | undefined; readonly query?: object | undefined } = {},
): string {
  const [service, , path] = OPERATIONS_BY_ID[id];
  const params = (request.params ?? {}) as Readonly<Record<string, unknown>>;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value === undefined || value === '') continue;
    if (typeof value !== 'object' || value === null) query.set(name, String(value));
    else for (const [key, each] of Object.entries(value)) query.set(`${name}.${key}`, String(each));
  }
  return `${PREFIXES[service]}${filled}${query.size > 0 ? `?${query}` : ''}`;
}

/** Headers that every request of the dashboard carries. */
export async function authorization(): Promise<Record<string, string>> {
  const token = await tokens?.token();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an operation. Repeats it once after 401 when a new token can be obtained.
 *
 * @throws ApiError for every response that is not a success, and when there is none
 */
export async function call<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  options: CallOptions = {},
): Promise<ResponseOf<I>> {
  if (source) return source(id, request) as ResponseOf<I>;
  const response = await respond(id, request, options);
  return (response.status === 204 ? undefined : await jsonOf(response)) as ResponseOf<I>;
}

/**
 * Response of an operation whose body may be something else than JSON, such as a file. Otherwise as {@link call}.
 *
 * @throws ApiError for every response that is not a success, and when there is none
 */
export async function respond<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  options: CallOptions = {},
): Promise<Response> {
  const send = () => sendRequest(id, request, options);
  let response = await send();
  if (response.status === 401 && (await renewToken())) response = await send();
  if (response.ok) return response;
  throw await errorOf(response);
}

async function sendRequest(
  id: OperationId,
  { params, query, body }: { readonly params?: object; readonly query?: object; readonly body?: unknown },
  { signal, headers }: CallOptions,
): Promise<Response> {
  const isJson = body !== undefined && { 'Content-Type': 'application/json' };
  try {
    return await fetch(urlOf(id, { params, query }), {
      method: OPERATIONS_BY_ID[id][1],
      headers: { ...(await authorization()), ...isJson, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(
      0,
      'OFFLINE',
      'Touchstone does not answer. Check that it runs and that you are online.',
    );
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new ApiError(
      response.status,
      'HTTP502',
      'The response is not JSON: something between here and Touchstone answered.',
    );
  }
}

/** The error of a response in either documented shape, or in none. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  const more = {
    correlationId: headers.get('X-Correlation-ID'),
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  };
  const { detail } = ((await response.json().catch(() => null)) ?? {}) as { detail?: unknown };
  if (Array.isArray(detail)) {
    const list = detail as FieldError[];
    const fields = Object.fromEntries(list.map(({ loc, msg }) => [loc.slice(1).join('.'), msg]));
    return new ApiError(status, 'VAL000', list[0]?.msg ?? 'The request is not valid', { ...more, fields });
  }
  const {
    code = `HTTP${status}`,
    message = 'The request failed',
    field = '',
    context = {},
  } = (detail ?? {}) as {
    readonly code?: string;
    readonly message?: string;
    readonly field?: string;
    readonly context?: Readonly<Record<string, unknown>>;
  };
  const fields = field ? { [field]: message } : {};
  return new ApiError(status, code, message, { ...more, fields, context });
}
