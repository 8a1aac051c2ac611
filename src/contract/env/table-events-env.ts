import { BackendEnv } from './env.ts';
import { optional, text, url } from './env-fields.ts';

const { variables: backend } = BackendEnv;

/** The function that derives events from the tables' streams. */
export const TableEventsEnv = {
  variables: {
    ENVIRONMENT: backend.ENVIRONMENT,
    LOG_LEVEL: backend.LOG_LEVEL,
    DYNAMODB_ENDPOINT: backend.DYNAMODB_ENDPOINT,
    JOBS_TABLE: backend.JOBS_TABLE,
    EVENT_SOURCE: backend.EVENT_SOURCE,
    /** Name of the EventBridge bus. */
    EVENT_BUS: text,
    /** EventBridge endpoint; absent: AWS. */
    EVENTS_ENDPOINT: optional(url),
  },
};
