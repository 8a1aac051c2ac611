import { BackendEnv } from './env.ts';

const { variables: backend } = BackendEnv;

/** The function that streams events of jobs of all kinds, an operation of the backend. */
export const JobEventsEnv = {
  variables: {
    ENVIRONMENT: backend.ENVIRONMENT,
    LOG_LEVEL: backend.LOG_LEVEL,
    DYNAMODB_ENDPOINT: backend.DYNAMODB_ENDPOINT,
    BACKEND_IDP_USER_POOL_ID: backend.BACKEND_IDP_USER_POOL_ID,
    BACKEND_IDP_CLIENT_ID: backend.BACKEND_IDP_CLIENT_ID,
    BACKEND_IDP_MACHINE_CLIENT_IDS: backend.BACKEND_IDP_MACHINE_CLIENT_IDS,
    BACKEND_IDP_REGION: backend.BACKEND_IDP_REGION,
    JOBS_TABLE: backend.JOBS_TABLE,
    SERIES_TABLE: backend.SERIES_TABLE,
    REGISTRY_TABLE: backend.REGISTRY_TABLE,
    OBJECTS_DIRECTORY: backend.OBJECTS_DIRECTORY,
    RUNS_BUCKET: backend.RUNS_BUCKET,
    IMAGE_ROLE_ID: backend.IMAGE_ROLE_ID,
  },
  check: BackendEnv.check,
};
