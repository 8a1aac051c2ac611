import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { DynamoCollectionStore } from '#adapters/aws/dynamo-collection-store.ts';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { JobEventsEnv } from '#contract/job-events-env.ts';
import { authenticateBy } from '#runtime/authenticate-by.ts';
import { readEnv } from '#runtime/env.ts';
import { streamLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { watchJobsHandler } from '#runtime/services/job-events.ts';

const env = readEnv(JobEventsEnv);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
const watchJobs = watchJobsHandler({
  jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
  hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
  collections: new DynamoCollectionStore(dynamo, env.SERIES_TABLE),
  imageRunProgress: async (task) =>
    (await import('#adapters/image-run-progress.ts')).imageRunProgress(env)(task),
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
