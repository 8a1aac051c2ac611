import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { createEcsClient, EcsTaskControl } from '#adapters/aws/ecs-task-control.ts';
import { createSfnClient, SfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { ReconcileEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { createReconcile } from '#runtime/reconcile.ts';

const env = readEnv(ReconcileEnv);
const logger = createLogger('reconcile', env.LOG_LEVEL);

const reconcile = createReconcile(
  {
    jobs: new DynamoJobStore(createDocumentClient(), env.JOBS_TABLE),
    executions: new SfnExecutions(createSfnClient(), env.BACKTEST_STATE_MACHINE_ARN),
    tasks: new EcsTaskControl(createEcsClient()),
    clock: Date,
  },
  { stage: env.ENVIRONMENT, log: logger },
);

export const handler = middy(reconcile).use(injectLambdaContext(logger, { resetKeys: true }));
