import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { DataProxyEnv } from '#contract/env.ts';
import { resolveBaseUrl } from '#runtime/data-proxy/base-url.ts';
import { createDataProxy } from '#runtime/data-proxy/create-data-proxy.ts';
import { createProxyMetrics } from '#runtime/data-proxy/metrics.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(DataProxyEnv);
const logger = createLogger('data-proxy', env.LOG_LEVEL);
const publish = createProxyMetrics(env.ENVIRONMENT);

const proxy = createDataProxy({
  baseUrl: resolveBaseUrl({ url: env.DATA_COLLECTION_URL, namespace: env.SERVICE_DISCOVERY_NAMESPACE }),
  serviceToken: env.SERVICE_TOKEN,
  requestTimeoutMs: env.REQUEST_TIMEOUT * 1000,
  maxRetries: env.MAX_RETRIES,
  fetch,
  clock: Date,
  sleep: (ms) => sleep(ms),
  timeoutSignal: (ms) => AbortSignal.timeout(ms),
  newCorrelationId: randomUUID,
  onOutcome: (outcome) => {
    publish(outcome);
    const { operation, latencyMs, correlationId, failure, cause } = outcome;
    const entry = { operation, duration_ms: latencyMs, correlation_id: correlationId };
    if (failure === undefined) logger.info('proxied', entry);
    else
      logger.warn('proxy failed', { ...entry, failure, ...(cause instanceof Error ? { error: cause } : {}) });
  },
});

export const handler = middy(proxy).use(injectLambdaContext(logger, { resetKeys: true }));
