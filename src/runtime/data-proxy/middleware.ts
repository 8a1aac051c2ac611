import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import { CORRELATION_HEADER, CORRELATION_ID, METRICS } from '#contract/values/names.ts';
import type { Log } from '../log.ts';
import { serviceMetrics } from '../metrics.ts';
import {
  isJsonObject,
  type JsonObject,
  type ProxyEnvelope,
  type ProxyHttpResponse,
  type ProxyResult,
} from './envelope.ts';

/** A call, independent of the kind of event. Its input is not validated. */
export interface Invocation {
  /** True for calls through API Gateway, which needs a string body in the response. */
  readonly overHttp: boolean;
  /** `{operation, params, deadline_ms}`, or undefined when the HTTP body is not a JSON object. */
  readonly input: JsonObject | undefined;
  readonly correlationId: string;
}

// Events are unknown until unwrapped; results are ProxyResults until wrapped.
// biome-ignore lint/suspicious/noExplicitAny: middy types one event and one result for all of a chain
export type ProxyMiddleware = MiddlewareObj<any, any>;

/**
 * Reads both kinds of event: the object that an orchestrator passes, which gets the envelope, and API Gateway's proxy event (it has
 * `requestContext`), which gets an HTTP response.
 */
export function unwrapGatewayEvents(): ProxyMiddleware {
  return {
    before: (request) => {
      request.event = readInvocation(request.event);
    },
    after: (request) => {
      const { envelope, outcome }: ProxyResult = request.response;
      request.response = request.event.overHttp ? httpResponse(envelope, outcome.correlationId) : envelope;
    },
  };
}

function readInvocation(event: unknown): Omit<Invocation, 'correlationId'> & { correlationId: unknown } {
  if (!isJsonObject(event)) return { overHttp: false, input: undefined, correlationId: undefined };
  if (!isJsonObject(event.requestContext)) {
    return { overHttp: false, input: event, correlationId: event.correlation_id };
  }
  return {
    overHttp: true,
    input: readBody(event),
    correlationId: header(event.headers, CORRELATION_HEADER.toLowerCase()) ?? event.requestContext.requestId,
  };
}

function readBody({ body, isBase64Encoded }: JsonObject): JsonObject | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const parsed = JSON.parse(isBase64Encoded === true ? Buffer.from(body, 'base64').toString('utf8') : body);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function header(headers: unknown, name: string): unknown {
  if (!isJsonObject(headers)) return undefined;
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function httpResponse({ statusCode, body }: ProxyEnvelope, correlationId: string): ProxyHttpResponse {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      [CORRELATION_HEADER]: correlationId,
      ...(statusCode === 503 && { 'Retry-After': '1' }),
    },
    body: JSON.stringify(body),
  };
}

/** Keeps a valid correlation id of the caller or the gateway, and replaces any other. */
export function addCorrelationIds(newId: () => string): ProxyMiddleware {
  return {
    before: ({ event }) => {
      const { correlationId: given } = event;
      event.correlationId = typeof given === 'string' && CORRELATION_ID.test(given) ? given : newId();
    },
  };
}

/** Logs the outcome of each call. */
export function logOutcome(log: Log): ProxyMiddleware {
  return {
    after: ({ response }) => {
      const { outcome } = response as ProxyResult;
      const { operation, latencyMs, correlationId, failure, upstream, cause } = outcome;
      const entry = { operation, duration_ms: latencyMs, correlation_id: correlationId };
      if (failure === undefined) log.info('proxied', entry);
      else
        log.warn('proxy failed', {
          ...entry,
          failure,
          upstream,
          ...(cause instanceof Error && { error: cause }),
        });
    },
  };
}

/**
 * Publishes the metrics of each call in CloudWatch's embedded metric format, under two dimension sets: [service, stage] is
 * the total and [service, operation] the breakdown. Plain `addDimensions` would publish only their union.
 * ProxyErrors is 0 on success, so that the series exists and its alarm has data.
 */
export function publishMetrics(stage: string): ProxyMiddleware {
  const metrics = serviceMetrics('data-proxy');
  return {
    after: ({ response }) => {
      const { operation, latencyMs, failure, upstream } = (response as ProxyResult).outcome;
      metrics.addDimension('stage', stage);
      metrics.addDimensions({ operation });
      metrics.addMetric(METRICS.proxyRequests, MetricUnit.Count, 1);
      metrics.addMetric(METRICS.proxyLatency, MetricUnit.Milliseconds, latencyMs);
      metrics.addMetric(METRICS.proxyErrors, MetricUnit.Count, failure === undefined ? 0 : 1);
      metrics.addMetric(METRICS.proxyUpstreamErrors, MetricUnit.Count, upstream ? 1 : 0);
      metrics.publishStoredMetrics();
    },
  };
}
