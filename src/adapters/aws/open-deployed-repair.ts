import type { RepairEnv } from '#contract/env/env.ts';
import { promotionRules } from '#contract/env/release-rules-env.ts';
import { retentionDays } from '#contract/env/retention.ts';
import { maxRunning } from '#contract/env/slots-env.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Log } from '#domain/ports.ts';
import type { RepairDeps } from '#domain/repair/repair-jobs.ts';
import { openRepair, type RetentionParts } from '../dynamo/open-repair.ts';
import { ObjectResultStore } from '../objects/result-store.ts';
import { openObjectStore } from '../open-object-store.ts';
import { openDynamo, openJobStores } from '../open-stores.ts';
import { StoredSignalFiles } from '../signals/stored-signal-files.ts';
import { createEcsClient, EcsTaskControl } from './ecs-tasks.ts';
import { createSfnClient, SfnExecutions } from './sfn-executions.ts';

/** Dependencies of the functions that repair and dispatch jobs in AWS. */
export function openDeployedRepair(
  env: RepairEnv,
  onChallengeChange: ChallengeListener,
  log: Log,
): RepairDeps {
  const stores = openJobStores(openDynamo(env), env.JOBS_TABLE);
  const sfn = createSfnClient();
  return openRepair({
    ...stores,
    executions: new SfnExecutions(sfn, env.BACKTEST_STATE_MACHINE_ARN),
    hyperoptExecutions: new SfnExecutions(sfn, env.HYPEROPT_STATE_MACHINE_ARN),
    maxRunning: maxRunning(env),
    tasks: new EcsTaskControl(createEcsClient()),
    retention: retentionParts(env, stores),
    registryTable: env.REGISTRY_TABLE,
    databaseEndpoint: env.DYNAMODB_ENDPOINT,
    promotions: promotionRules(env),
    onChallengeChange,
    log,
  });
}

/** Null without a bucket, in functions that remove nothing. */
function retentionParts(
  env: RepairEnv,
  { jobRetention, signals }: ReturnType<typeof openJobStores>,
): RetentionParts | null {
  if (!env.RESULTS_BUCKET) return null;
  const objects = openObjectStore({}, env.RESULTS_BUCKET);
  return {
    days: retentionDays(env),
    retention: jobRetention,
    results: new ObjectResultStore(objects),
    signals,
    signalFiles: new StoredSignalFiles(objects),
  };
}
