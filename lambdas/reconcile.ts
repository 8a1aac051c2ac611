import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/aws/dynamo-job-queue.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { createEcsClient, EcsTaskControl } from '#adapters/aws/ecs-tasks.ts';
import { openReconcile } from '#adapters/aws/open-reconcile.ts';
import { promotionRules } from '#adapters/aws/open-registry.ts';
import { createSfnClient, SfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { maxRunning, ReconcileEnv } from '#contract/env.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { reconcileLambda } from '#runtime/reconcile.ts';

const env = readEnv(ReconcileEnv);
const logger = createLogger('reconcile', env.LOG_LEVEL);

const dynamo = createDocumentClient({ endpoint: env.DYNAMODB_ENDPOINT });
const sfn = createSfnClient();

export const handler = reconcileLambda(
  openReconcile({
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    executions: new SfnExecutions(sfn, env.BACKTEST_STATE_MACHINE_ARN),
    hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
    hyperoptExecutions: new SfnExecutions(sfn, env.HYPEROPT_STATE_MACHINE_ARN),
    queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
    maxRunning: maxRunning(env),
    tasks: new EcsTaskControl(createEcsClient()),
    registryTable: env.REGISTRY_TABLE,
    databaseEndpoint: env.DYNAMODB_ENDPOINT,
    onChallengeChange: challengeListener({ log: logger, count: challengeMetrics(env.ENVIRONMENT) }),
    promotions: promotionRules(env),
    log: logger,
  }),
  { stage: env.ENVIRONMENT, logger },
);
