import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { RepairEnv } from '#contract/env/env.ts';
import { promotionRules } from '#contract/env/release-rules-env.ts';
import { retentionDays } from '#contract/env/retention.ts';
import { maxRunning } from '#contract/env/slots-env.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Log } from '#domain/ports.ts';
import type { RepairDeps } from '#domain/repair/repair-jobs.ts';
import { createDocumentClient } from '../dynamo/client.ts';
import { DynamoHyperoptStore } from '../dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '../dynamo/job-queue.ts';
import { DynamoJobRetention } from '../dynamo/job-retention.ts';
import { DynamoJobStore } from '../dynamo/job-store.ts';
import { openRepair, type RetentionParts } from '../dynamo/open-repair.ts';
import { DynamoOwnerTrials } from '../dynamo/owner-trials.ts';
import { DynamoSignalsStore } from '../dynamo/signals-store.ts';
import { DynamoStrategyCosts } from '../dynamo/strategy-costs.ts';
import { DynamoTrialLedger } from '../dynamo/trial-ledger.ts';
import { ObjectResultStore } from '../objects/result-store.ts';
import { openObjectStore } from '../open-object-store.ts';
import { StoredSignalFiles } from '../signals/stored-signal-files.ts';
import { createEcsClient, EcsTaskControl } from './ecs-tasks.ts';
import { createSfnClient, SfnExecutions } from './sfn-executions.ts';

/** Dependencies of the functions that repair and dispatch jobs in AWS. */
export function openDeployedRepair(
  env: RepairEnv,
  onChallengeChange: ChallengeListener,
  log: Log,
): RepairDeps {
  const dynamo = createDocumentClient({ endpoint: env.DYNAMODB_ENDPOINT });
  const sfn = createSfnClient();
  return openRepair({
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    executions: new SfnExecutions(sfn, env.BACKTEST_STATE_MACHINE_ARN),
    hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
    hyperoptExecutions: new SfnExecutions(sfn, env.HYPEROPT_STATE_MACHINE_ARN),
    ledger: new DynamoTrialLedger(dynamo, env.JOBS_TABLE),
    ownerTrials: new DynamoOwnerTrials(dynamo, env.JOBS_TABLE),
    queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
    strategyCosts: new DynamoStrategyCosts(dynamo, env.JOBS_TABLE),
    maxRunning: maxRunning(env),
    tasks: new EcsTaskControl(createEcsClient()),
    retention: retentionParts(env, dynamo),
    registryTable: env.REGISTRY_TABLE,
    databaseEndpoint: env.DYNAMODB_ENDPOINT,
    promotions: promotionRules(env),
    onChallengeChange,
    log,
  });
}

/** Null without a bucket, in functions that remove nothing. */
function retentionParts(env: RepairEnv, dynamo: DynamoDBDocumentClient): RetentionParts | null {
  if (!env.RESULTS_BUCKET) return null;
  const objects = openObjectStore({}, env.RESULTS_BUCKET);
  return {
    days: retentionDays(env),
    retention: new DynamoJobRetention(dynamo, env.JOBS_TABLE),
    results: new ObjectResultStore(objects),
    signals: new DynamoSignalsStore(dynamo, env.JOBS_TABLE),
    signalFiles: new StoredSignalFiles(objects),
  };
}
