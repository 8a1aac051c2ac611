import { maxRunning, type ReconcileEnv } from '#contract/env.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Log } from '#domain/ports.ts';
import type { ReconcileDeps } from '#domain/reconcile-jobs.ts';
import { createDocumentClient } from './dynamo-client.ts';
import { DynamoHyperoptStore } from './dynamo-hyperopt-store.ts';
import { DynamoJobQueue } from './dynamo-job-queue.ts';
import { DynamoJobStore } from './dynamo-job-store.ts';
import { createEcsClient, EcsTaskControl } from './ecs-tasks.ts';
import { openReconcile } from './open-reconcile.ts';
import { promotionRules } from './open-registry.ts';
import { createSfnClient, SfnExecutions } from './sfn-executions.ts';

/** Dependencies of the functions that reconcile and dispatch jobs in AWS. */
export function openDeployedReconcile(
  env: ReconcileEnv,
  onChallengeChange: ChallengeListener,
  log: Log,
): ReconcileDeps {
  const dynamo = createDocumentClient({ endpoint: env.DYNAMODB_ENDPOINT });
  const sfn = createSfnClient();
  return openReconcile({
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    executions: new SfnExecutions(sfn, env.BACKTEST_STATE_MACHINE_ARN),
    hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
    hyperoptExecutions: new SfnExecutions(sfn, env.HYPEROPT_STATE_MACHINE_ARN),
    queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
    maxRunning: maxRunning(env),
    tasks: new EcsTaskControl(createEcsClient()),
    registryTable: env.REGISTRY_TABLE,
    databaseEndpoint: env.DYNAMODB_ENDPOINT,
    promotions: promotionRules(env),
    ...{ onChallengeChange, log },
  });
}
