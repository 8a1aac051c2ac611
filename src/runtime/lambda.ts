import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import { CodedError } from '#contract/errors.ts';
import { CORRELATION_HEADER, METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import type { ServiceName } from '#contract/operation.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/security-headers.ts';
import { errorResponse } from './error-response.ts';
import type { Handlers } from './handler.ts';
import { createLogger, type Log, type LogLevel } from './log.ts';
import { createService, type RequestOutcome, type ServiceApp, type ServiceDeps } from './service.ts';

export interface ServiceLambdaOptions
  extends Partial<Omit<ServiceDeps, 'authenticate'>>,
    Pick<ServiceDeps, 'authenticate'> {
  /** Dimension of the total metrics. */
  readonly environment: string;
  readonly logLevel: LogLevel;
}

/** The Lambda handler of a service behind a REST API: its HTTP application inside the middy stack. */
export function serviceLambda<S extends ServiceName>(
  service: S,
  handlers: Handlers<S>,
  options: ServiceLambdaOptions & Required<Pick<ServiceDeps, 'audit'>>,
) {
  return gatewayLambda(service, (deps) => createService(service, handlers, deps), handle, options);
}

type Invocation = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** An application of a service inside the middy stack, called with what `adapt` makes of events. */
export function gatewayLambda(
  service: ServiceName,
  create: (deps: ServiceDeps) => ServiceApp,
  adapt: (app: ServiceApp) => unknown,
  { environment, logLevel, ...deps }: ServiceLambdaOptions,
) {
  const logger = createLogger(service, logLevel);
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: service });
  const app = create({
    log: logger,
    observe: (outcome) => countFault(metrics, environment, outcome),
    checkResponses: environment !== 'production',
    ...deps,
  });
  const serve = adapt(app) as Invocation;
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>(
    async (event: APIGatewayProxyEvent, context: Context) =>
      withCorrelationId(
        isRequest(event) ? await serve(withoutStrayBody(event), context) : MALFORMED,
        event,
        logger,
      ),
  )
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
}

/** Two dimension sets: [service, stage] is the total for the alarm, [service, operation] the breakdown. */
function countFault(metrics: Metrics, stage: string, { operation, status }: RequestOutcome): void {
  metrics.addDimension('stage', stage);
  metrics.addDimensions({ operation: operation?.id ?? 'none' });
  metrics.addMetric(METRICS.requestFaults, MetricUnit.Count, status >= 500 ? 1 : 0);
}

/** Without a correlation id: {@link withCorrelationId} words it. */
const MALFORMED: APIGatewayProxyResult = { statusCode: 400, body: '' };

/** Whether the application can be given it. What it cannot, the adapter would print, and not as a line of the log. */
function isRequest({ path, httpMethod }: APIGatewayProxyEvent): boolean {
  try {
    return new Request(`https://gateway${path}`, { method: httpMethod }).url !== '';
  } catch {
    return false;
  }
}

/** The Request of the web platform refuses a body with GET and HEAD; API Gateway passes one on. */
function withoutStrayBody(event: APIGatewayProxyEvent): APIGatewayProxyEvent {
  return event.httpMethod === 'GET' || event.httpMethod === 'HEAD' ? { ...event, body: null } : event;
}

/** An event that cannot even become a request never reaches the application, which sets the header otherwise. */
function withCorrelationId(
  result: APIGatewayProxyResult,
  event: APIGatewayProxyEvent,
  log: Log,
): APIGatewayProxyResult {
  const headers = { ...result.headers, ...result.multiValueHeaders };
  if (Object.keys(headers).some((name) => name.toLowerCase() === CORRELATION_HEADER.toLowerCase()))
    return result;
  const { status, body, headers: own } = errorResponse(new CodedError('HTTP400'), log);
  return {
    statusCode: status,
    headers: {
      ...own,
      ...SECURITY_HEADERS,
      ...TLS_HEADERS,
      'Content-Type': 'application/json',
      [CORRELATION_HEADER]: event.requestContext.requestId,
    },
    body: JSON.stringify(body),
  };
}
