import { BackendEnv } from './env.ts';

const { variables: backend } = BackendEnv;

/** The function that delivers events to webhooks. */
export const WebhooksEnv = {
  variables: {
    ENVIRONMENT: backend.ENVIRONMENT,
    LOG_LEVEL: backend.LOG_LEVEL,
    DYNAMODB_ENDPOINT: backend.DYNAMODB_ENDPOINT,
    JOBS_TABLE: backend.JOBS_TABLE,
    REGISTRY_TABLE: backend.REGISTRY_TABLE,
    WEBHOOK_QUEUE_URL: backend.WEBHOOK_QUEUE_URL,
  },
};
