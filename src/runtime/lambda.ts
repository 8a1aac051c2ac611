import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import { CodedError } from '#contract/values/errors.ts';
import { CORRELATION_HEADER, METRICS } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/values/security-headers.ts';
import type { Handlers, StreamHandlers } from './handler.ts';
import { createLogger, type Log, type LogLevel } from './log.ts';
import { serviceMetrics } from './metrics.ts';
import { errorResponse } from './responses.ts';
import {
  createService,
  createStreams,
  type RequestOutcome,
  type ServiceApp,
  type ServiceDeps,
} from './service.ts';

export interface ServiceLambdaOptions
  extends Partial<Omit<ServiceDeps, 'authenticate'>>,
    Pick<ServiceDeps, 'authenticate'> {
  /** Dimension of the total metrics. */
  readonly environment: string;
  readonly logLevel: LogLevel;
}

type Invocation = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Lambda handler of a service behind a REST API. */
export function serviceLambda<S extends ServiceName>(
  service: S,
  handlers: Handlers<S>,
  options: ServiceLambdaOptions & Required<Pick<ServiceDeps, 'audit'>>,
) {
  const { environment: _, logLevel: __, ...deps } = options;
  const create = (host: ServiceHost) => createService(service, handlers, { ...host, ...deps });
  return gatewayLambda(service, create, options);
}

/** Dependencies that every function behind API Gateway has. */
export type ServiceHost = Required<Pick<ServiceDeps, 'log' | 'observe' | 'checkResponses'>>;

const buffered = (app: ServiceApp) => handle(app) as Invocation;

/** HTTP application of a service behind the middlewares of every API Gateway function. */
export function gatewayLambda(
  service: ServiceName,
  create: (host: ServiceHost) => ServiceApp,
  { environment, logLevel }: Pick<ServiceLambdaOptions, 'environment' | 'logLevel'>,
  adapt = buffered,
) {
  const logger = createLogger(service, logLevel);
  const metrics = serviceMetrics(service);
  const app = create({
    log: logger,
    observe: (outcome) => countFault(metrics, environment, outcome),
    checkResponses: environment !== 'production',
  });
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics))
    .use(addCorrelationId())
    .use(rejectMalformedRequests(logger))
    .use(dropStrayBodies())
    .handler(adapt(app));
}

/** Two dimension sets: [service, stage] is the total for the alarm, [service, operation] the breakdown. */
function countFault(metrics: Metrics, stage: string, { operation, status }: RequestOutcome): void {
  metrics.addDimension('stage', stage);
  metrics.addDimensions({ operation: operation?.id ?? 'none' });
  metrics.addMetric(METRICS.requestFaults, MetricUnit.Count, status >= 500 ? 1 : 0);
}

type GatewayMiddleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;
type GatewayRequest = Parameters<NonNullable<GatewayMiddleware['after']>>[0];

/** Adds the gateway's request id as correlation id to responses that the application did not create. */
function addCorrelationId(): GatewayMiddleware {
  const add = ({ event, response }: GatewayRequest) => {
    if (!response || hasCorrelationId(response)) return;
    response.headers = { ...response.headers, [CORRELATION_HEADER]: event.requestContext.requestId };
  };
  return { after: add, onError: add };
}

/**
 * Responds 400 HTTP400 to an event that cannot become a `Request`, for example of the method TRACE. Hono's adapter would print
 * the event, not as a line of the log, and respond without the error body.
 */
function rejectMalformedRequests(log: Log): GatewayMiddleware {
  const reject = (request: GatewayRequest) => {
    const { status, body, headers } = errorResponse(new CodedError('HTTP400'), log);
    request.response = {
      statusCode: status,
      headers: { ...headers, ...SECURITY_HEADERS, ...TLS_HEADERS, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
  };
  return {
    before: ({ event: { path, httpMethod } }) => {
      try {
        new Request(`https://gateway${path}`, { method: httpMethod });
      } catch (cause) {
        throw new CodedError('HTTP400', { cause });
      }
    },
    after: (request) => {
      if (!hasCorrelationId(request.response!)) reject(request);
    },
    onError: (request) => {
      if (request.error instanceof CodedError) reject(request);
    },
  };
}

/** Drops the body of GET and HEAD: API Gateway forwards it, but `Request` rejects it. */
function dropStrayBodies(): GatewayMiddleware {
  return {
    before: ({ event }) => {
      if (event.httpMethod === 'GET' || event.httpMethod === 'HEAD') event.body = null;
    },
  };
}

function hasCorrelationId({ headers, multiValueHeaders }: APIGatewayProxyResult): boolean {
  const names = Object.keys({ ...headers, ...multiValueHeaders });
  return names.some((name) => name.toLowerCase() === CORRELATION_HEADER.toLowerCase());
}

/** Result of a streaming function; unlike a buffered one, its body may be a stream. */
interface StreamedResult extends Omit<APIGatewayProxyResult, 'body'> {
  readonly body: string | ReadableStream<Uint8Array>;
}

/**
 * Lambda handler of a service's streaming operations, behind a REST API whose integration has the transfer mode STREAM. Error
 * responses have the standard error body. The middlewares are the middy chain of {@link gatewayLambda}. Only the output is written
 * outside of it: middy's execution mode for streams rejects when a client disconnects, and Lambda would count that as an error.
 */
export function streamLambda<S extends ServiceName>(
  service: S,
  handlers: StreamHandlers<S>,
  options: ServiceLambdaOptions,
) {
  const { environment: _, logLevel: __, ...deps } = options;
  const create = (host: ServiceHost) => createStreams(service, handlers, { ...host, ...deps });
  const invoke = gatewayLambda(service, create, options, handleStream);
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, output, context) => {
    const { body, statusCode, headers, multiValueHeaders } = (await invoke(event, context)) as StreamedResult;
    const response = awslambda.HttpResponseStream.from(output, { statusCode, headers, multiValueHeaders });
    if (typeof body !== 'string') {
      // A disconnected client is not an error.
      await pipeline(Readable.fromWeb(body as NodeReadableStream), response).catch(() => undefined);
      return;
    }
    // The first write sends status and headers, even when it is empty.
    response.write(body);
    await new Promise<void>((resolve) => response.end(resolve));
  });
}

/** Calls Hono's adapter, which buffers bodies, with an empty body, and puts the stream into the result. */
function handleStream(app: ServiceApp): Invocation {
  return async (event, context) => {
    let stream: ReadableStream<Uint8Array> | null = null;
    const fetch: ServiceApp['fetch'] = async (...call) => {
      const response = await app.fetch(...call);
      if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
      stream = response.body;
      return new Response(null, response);
    };
    // In the adapter's types, event and context fields of this gateway are optional.
    const adapted = handle({ fetch } as ServiceApp) as (...call: Parameters<Invocation>) => unknown;
    const result = (await adapted(event, context)) as APIGatewayProxyResult;
    return { ...result, body: stream ?? result.body } as APIGatewayProxyResult;
  };
}
