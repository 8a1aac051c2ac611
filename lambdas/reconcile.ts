import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { DynamoStudyStore } from '#adapters/aws/dynamo-study-store.ts';
import { createEcsClient, EcsTaskControl } from '#adapters/aws/ecs-task-control.ts';
import { openRegistry, promotionRules } from '#adapters/aws/open-registry.ts';
import { createSfnClient, SfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { sha256, ulids } from '#adapters/ids.ts';
import { ReconcileEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { createReconcile } from '#runtime/reconcile.ts';
import { challengeMetrics, watchChallenges } from '#runtime/watch-challenges.ts';

const env = readEnv(ReconcileEnv);
const logger = createLogger('reconcile', env.LOG_LEVEL);
const tell = watchChallenges({ log: logger, count: challengeMetrics(env.ENVIRONMENT) });

const dynamo = createDocumentClient({ endpoint: env.DYNAMODB_ENDPOINT });
const jobs = new DynamoJobStore(dynamo, env.JOBS_TABLE);
const sfn = createSfnClient();

const reconcile = createReconcile(
  {
    jobs,
    executions: new SfnExecutions(sfn, env.BACKTEST_STATE_MACHINE_ARN),
    studies: new DynamoStudyStore(dynamo, env.JOBS_TABLE),
    studyExecutions: new SfnExecutions(sfn, env.HYPEROPT_STATE_MACHINE_ARN),
    tasks: new EcsTaskControl(createEcsClient()),
    clock: Date,
    registry: {
      ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, tell),
      ...{ validations: jobs, clock: Date, ids: ulids, digest: sha256, ...promotionRules(env) },
    },
  },
  { stage: env.ENVIRONMENT, log: logger },
);

export const handler = middy(reconcile).use(injectLambdaContext(logger, { resetKeys: true }));
