import { DataProxyEnv } from './env.ts';
import { originTokens } from './origin-token.ts';

const { variables: proxy } = DataProxyEnv;

/** The function that passes requests of the dashboard on to data collection. */
export const DataApiEnv = {
  variables: {
    ENVIRONMENT: proxy.ENVIRONMENT,
    LOG_LEVEL: proxy.LOG_LEVEL,
    DATA_COLLECTION_URL: proxy.DATA_COLLECTION_URL,
    SERVICE_DISCOVERY_NAMESPACE: proxy.SERVICE_DISCOVERY_NAMESPACE,
    /** Absent also for a service of another deployment. */
    ...originTokens,
  },
};
