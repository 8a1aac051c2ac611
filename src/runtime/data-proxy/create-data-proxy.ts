import middy from '@middy/core';
import { CodedError, ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import { CORRELATION_HEADER, SERVICES } from '#contract/values/names.ts';
import {
  asCodedError,
  type JsonObject,
  type ProxyEnvelope,
  type ProxyHttpResponse,
  type ProxyResult,
  rejected,
  successEnvelope,
} from './envelope.ts';
import {
  addCorrelationIds,
  type Invocation,
  type ProxyMiddleware,
  unwrapGatewayEvents,
} from './middleware.ts';
import { PROXY_OPERATIONS, type ProxyOperation, readParams } from './operations.ts';
import { getWithRetries, type UpstreamOptions } from './upstream.ts';

export interface DataProxyOptions extends UpstreamOptions {
  /** URL of the data collection service; null if it could not be resolved. */
  readonly baseUrl: string | null;
  /** Bearer token to send; absent: no token. */
  readonly serviceToken?: string | undefined;
  readonly newCorrelationId: () => string;
}

interface ProxyContext {
  readonly getRemainingTimeInMillis?: () => number;
}

export type DataProxy = (
  event: unknown,
  context?: ProxyContext,
) => Promise<ProxyEnvelope | ProxyHttpResponse>;

/** Time limit of the function, for hosts without `getRemainingTimeInMillis`. */
const FUNCTION_LIMIT_MS = 60_000;
/** Reserve for building and sending the response. */
const MARGIN_MS = 1000;
/** API Gateway's time-out is 29 s, including its own work. */
const HTTP_LIMIT_MS = 27_000;
/** A function returns up to 6 MB; a string body takes more than its text, because its quotes are escaped again. */
const MAX_RESULT_LENGTH = 4_000_000;
/** Maximum length of an unknown operation's name in the response. */
const MAX_NAME_LENGTH = 100;

/**
 * The data-collection proxy: forwards five named operations and always returns an envelope, for any event and any response of
 * data collection. It never throws and never runs past min(time left - 1 s, 27 s for API Gateway, `deadline_ms` of the caller).
 * A failure of data collection is a safe result, unless the caller sends `safe: false`: then it is an error with the code and
 * status of its kind.
 *
 * @param observers middlewares that read the outcome, for metrics and the log
 */
export function createDataProxy(
  options: DataProxyOptions,
  observers: readonly ProxyMiddleware[] = [],
): DataProxy {
  // Middy's types require the complete Lambda context, of which this handler reads a part, and state no result:
  // `unwrapGatewayEvents` replaces the ProxyResult by its envelope or by a response for API Gateway.
  return middy<unknown, unknown>({ timeoutEarlyInMillis: 0 })
    .use(unwrapGatewayEvents())
    .use(addCorrelationIds(options.newCorrelationId))
    .use([...observers])
    .handler((invocation: Invocation, context: ProxyContext) =>
      forwardOperation(options, invocation, context),
    ) as unknown as DataProxy;
}

async function forwardOperation(
  options: DataProxyOptions,
  invocation: Invocation,
  context: ProxyContext,
): Promise<ProxyResult> {
  const started = options.clock.now();
  const deadline = () => started + budget(invocation, context);
  const { envelope, failure, code, cause } = await perform(options, invocation, deadline);
  const outcome = {
    operation: operationOf(invocation) === undefined ? 'unknown' : envelope.body.data.operation,
    latencyMs: options.clock.now() - started,
    correlationId: invocation.correlationId,
    ...(failure !== undefined && { failure }),
    ...(code !== undefined && { upstream: ERRORS[code].status >= 500 }),
    ...(cause !== undefined && { cause }),
  };
  return { envelope, outcome };
}

interface Performed {
  readonly envelope: ProxyEnvelope;
  readonly failure?: string;
  /** Code of the failure. */
  readonly code?: ErrorCode;
  readonly cause?: unknown;
}

async function perform(
  options: DataProxyOptions,
  invocation: Invocation,
  deadline: () => number,
): Promise<Performed> {
  const requested = invocation.input?.operation;
  const name = typeof requested === 'string' ? requested.slice(0, MAX_NAME_LENGTH) : '';
  const operation = operationOf(invocation);
  const safe = invocation.input?.safe !== false;
  try {
    if (!operation) throw unknownOperation(invocation);
    const params = readParams(invocation.input?.params);
    const paths = operation.paths(params);
    const { baseUrl } = options;
    if (baseUrl === null) {
      throw new CodedError('SVC004', { message: 'The address of data collection is not configured' });
    }
    const headers = {
      [CORRELATION_HEADER]: invocation.correlationId,
      ...(options.serviceToken ? { Authorization: `Bearer ${options.serviceToken}` } : {}),
    };
    return await forward(options, {
      name,
      operation,
      params,
      paths,
      baseUrl,
      headers,
      safe,
      deadline: deadline(),
    });
  } catch (error) {
    return errorResult(name, safe ? operation : undefined, error);
  }
}

interface Forwarding {
  readonly name: string;
  readonly operation: ProxyOperation;
  readonly params: JsonObject;
  readonly paths: readonly string[];
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadline: number;
  /** True: a failure becomes a safe result. */
  readonly safe: boolean;
}

async function forward(options: DataProxyOptions, request: Forwarding): Promise<Performed> {
  const { name, operation, headers, deadline } = request;
  const base = request.baseUrl.replace(/\/+$/, '');
  const replies: JsonObject[] = [];
  for (const path of request.paths) {
    const outcome = await getWithRetries(options, {
      url: `${base}${path}`,
      headers,
      deadline,
      accepts: operation.accepts,
    });
    if (!outcome.ok) return failed(request, outcome);
    replies.push(outcome.reply);
  }
  const result = replies.length > 1 && operation.merge ? operation.merge(replies) : replies[0]!;
  // Lambda fails responses over 6 MB, regardless of `safe`.
  if (JSON.stringify(result).length > MAX_RESULT_LENGTH) {
    const message = `The response of data collection is longer than ${MAX_RESULT_LENGTH} characters`;
    return failed(request, { code: 'SVC002', message, field: '' });
  }
  return { envelope: successEnvelope(name, result) };
}

function failed(
  { name, operation, params, safe }: Forwarding,
  { code, message, field }: { readonly code: ErrorCode; readonly message: string; readonly field: string },
): Performed {
  if (!safe) throw new CodedError(code, { message, field });
  const result = { ...operation.empty(params), error: message };
  return { envelope: successEnvelope(name, result), failure: message, code };
}

/** Envelope of a request that was not sent, failed unexpectedly, or failed with `safe: false` (then without `operation`). */
function errorResult(name: string, operation: ProxyOperation | undefined, thrown: unknown): Performed {
  const error = asCodedError(thrown);
  const failure = `${error.code} ${error.message}`;
  const cause = error.code === 'SVC001' ? thrown : undefined;
  const shaped = operation?.alwaysShaped ? { ...operation.empty({}), error: error.message } : null;
  // Like a 4xx of the service: the workflow reads a boolean and continues.
  const { code } = error;
  if (shaped && error.status < 500) return { envelope: successEnvelope(name, shaped), failure, code };
  return {
    envelope: rejected(name, error, shaped),
    failure,
    code,
    ...(cause === undefined ? {} : { cause }),
  };
}

function operationOf({ input }: Invocation): ProxyOperation | undefined {
  const name = input?.operation;
  return typeof name === 'string' && Object.hasOwn(PROXY_OPERATIONS, name)
    ? PROXY_OPERATIONS[name]
    : undefined;
}

function unknownOperation({ input }: Invocation): CodedError {
  if (!input) {
    return new CodedError('VAL004', {
      message: 'The request must be a JSON object with operation and params',
      field: 'operation',
    });
  }
  const missing = input.operation === undefined || input.operation === null;
  const allowed = Object.keys(PROXY_OPERATIONS).join(', ');
  return new CodedError(missing ? 'VAL004' : 'VAL005', {
    message: missing ? `operation is required: one of ${allowed}` : `operation must be one of ${allowed}`,
    field: 'operation',
  });
}

/** Time limit of this call, integer ms as timers require. A `deadline_ms` that is not a positive number is ignored. */
function budget({ overHttp, input }: Invocation, context: ProxyContext): number {
  const left = context.getRemainingTimeInMillis?.() ?? FUNCTION_LIMIT_MS;
  const requested = input?.deadline_ms;
  return Math.floor(
    Math.min(
      left - MARGIN_MS,
      overHttp ? HTTP_LIMIT_MS : Infinity,
      typeof requested === 'number' && requested > 0 ? requested : Infinity,
    ),
  );
}

/**
 * Address of the data collection service: the configured URL as is, else service discovery within the namespace.
 * Null when neither is given or the result is not an HTTP URL.
 */
export function resolveBaseUrl(settings: {
  readonly url?: string | undefined;
  readonly namespace?: string | undefined;
}): string | null {
  const url =
    settings.url ||
    (settings.namespace
      ? `http://data-collection.${settings.namespace}:${SERVICES.data_collection.port}`
      : '');
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;
}
