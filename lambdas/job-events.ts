import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoCollectionStore } from '#adapters/dynamo/collection-store.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import { JobEventsEnv } from '#contract/env/job-events-env.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { authenticateBy } from '#runtime/authenticate-by.ts';
import { readEnv } from '#runtime/env.ts';
import { streamLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { watchJobsHandler } from '#runtime/services/job-events.ts';

const env = readEnv(JobEventsEnv);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
const jobs = new DynamoJobStore(dynamo, env.JOBS_TABLE);
const watchJobs = watchJobsHandler({
  jobs,
  events: new DynamoEventLog(dynamo, env.JOBS_TABLE, Date),
  ownership: ownershipOf({ jobs, ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT) }),
  hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
  collections: new DynamoCollectionStore(dynamo, env.SERIES_TABLE),
  imageRunProgress: async (task) =>
    (await import('#adapters/images/image-run-progress.ts')).imageRunProgress(env)(task),
  clock: Date,
  log: createLogger('backend', env.LOG_LEVEL),
});

export const handler = streamLambda(
  'backend',
  { watchJobs },
  {
    ownership: {},
    authenticate: authenticateBy('BACKEND', env),
    environment: env.ENVIRONMENT,
    logLevel: env.LOG_LEVEL,
  },
);
