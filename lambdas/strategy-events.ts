import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoTrialLedger } from '#adapters/dynamo/trial-ledger.ts';
import { StrategyEventsEnv } from '#contract/env/env.ts';
import { retentionDays } from '#contract/env/retention.ts';
import { unknownHyperopt } from '#domain/shared/unknown-resources.ts';
import { authenticateBy } from '#runtime/authenticate-by.ts';
import { readEnv } from '#runtime/env.ts';
import { streamLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { watchHandler } from '#runtime/services/hyperopt-events.ts';

const env = readEnv(StrategyEventsEnv);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
const hyperoptJobs = new DynamoHyperoptStore(dynamo, env.JOBS_TABLE);
const watchHyperopt = watchHandler({
  hyperoptJobs,
  queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
  ledger: new DynamoTrialLedger(dynamo, env.JOBS_TABLE),
  clock: Date,
  retention: retentionDays(env),
  log: createLogger('strategy', env.LOG_LEVEL),
});

export const handler = streamLambda(
  'strategy',
  { watchHyperopt },
  {
    ownership: { hyperopt: { sharing: hyperoptJobs.sharing, unknown: unknownHyperopt } },
    authenticate: authenticateBy('STRATEGY', env),
    environment: env.ENVIRONMENT,
    logLevel: env.LOG_LEVEL,
  },
);
