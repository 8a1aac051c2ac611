import { DataApiEnv } from '#contract/env/data-api-env.ts';
import { resolveBaseUrl } from '#runtime/data-proxy/create-data-proxy.ts';
import { readEnv } from '#runtime/env.ts';
import { forwardLambda } from '#runtime/forward.ts';

const env = readEnv(DataApiEnv);

export const handler = forwardLambda(
  'data_collection',
  {
    baseUrl: resolveBaseUrl({ url: env.DATA_COLLECTION_URL, namespace: env.SERVICE_DISCOVERY_NAMESPACE }),
    name: 'Data collection',
    // One second less than the function's limit.
    timeoutMs: 27_000,
    originTokens: [env.ORIGIN_TOKEN, env.ORIGIN_TOKEN_2],
  },
  { environment: env.ENVIRONMENT, logLevel: env.LOG_LEVEL },
);
