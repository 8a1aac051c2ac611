import { DataProxyEnv } from '#contract/env.ts';
import { resolveBaseUrl } from '#runtime/data-proxy/create-data-proxy.ts';
import { readEnv } from '#runtime/env.ts';
import { forwardLambda } from '#runtime/forward.ts';

const env = readEnv(DataProxyEnv);

export const handler = forwardLambda(
  'data_collection',
  {
    baseUrl: resolveBaseUrl({ url: env.DATA_COLLECTION_URL, namespace: env.SERVICE_DISCOVERY_NAMESPACE }),
    name: 'Data collection',
    // One second less than the function's limit.
    timeoutMs: 27_000,
    isOurs: !env.DATA_COLLECTION_URL,
  },
  { environment: env.ENVIRONMENT, logLevel: env.LOG_LEVEL },
);
