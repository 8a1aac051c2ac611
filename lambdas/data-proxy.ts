import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { DataProxyEnv } from '#contract/env/env.ts';
import { createDataProxy, resolveBaseUrl } from '#runtime/data-proxy/create-data-proxy.ts';
import { logOutcome, publishMetrics } from '#runtime/data-proxy/middleware.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(DataProxyEnv);
const logger = createLogger('data-proxy', env.LOG_LEVEL);

export const handler = createDataProxy(
  {
    baseUrl: resolveBaseUrl({ url: env.DATA_COLLECTION_URL, namespace: env.SERVICE_DISCOVERY_NAMESPACE }),
    serviceToken: env.SERVICE_TOKEN,
    requestTimeoutMs: env.REQUEST_TIMEOUT * 1000,
    maxRetries: env.MAX_RETRIES,
    fetch,
    clock: Date,
    sleep: (ms) => sleep(ms),
    timeoutSignal: (ms) => AbortSignal.timeout(ms),
    newCorrelationId: randomUUID,
  },
  [injectLambdaContext(logger, { resetKeys: true }), logOutcome(logger), publishMetrics(env.ENVIRONMENT)],
);
