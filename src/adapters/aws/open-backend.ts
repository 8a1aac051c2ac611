import type { BackendEnv } from '#contract/env.ts';
import { maxRunning } from '#contract/queue.ts';
import { retentionDays } from '#contract/retention.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { DataProxyClient } from '../data-proxy-client.ts';
import { openObjectStore } from '../open-object-store.ts';
import { serviceProbe, tableProbe } from '../probes.ts';
import { ObjectResultStore } from '../result-store.ts';
import { createDocumentClient } from './dynamo-client.ts';
import { DynamoHyperoptStore } from './dynamo-hyperopt-store.ts';
import { DynamoJobQueue } from './dynamo-job-queue.ts';
import { DynamoJobStore } from './dynamo-job-store.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from './dynamo-series-stores.ts';
import { DynamoStrategyCosts } from './dynamo-strategy-costs.ts';
import { EcrImages } from './ecr-images.ts';
import { createEcsClient, EcsTaskControl } from './ecs-tasks.ts';
import { createLambdaClient, lambdaDataProxy } from './lambda-data-proxy.ts';
import { openRegistry, promotionRules } from './open-registry.ts';
import { createSfnClient, SfnExecutions } from './sfn-executions.ts';

/** Dependencies of the deployed backend. `onChallengeChange` is notified of each stored change of a challenge. */
export function openBackend(env: BackendEnv, onChallengeChange: ChallengeListener) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  const dataProxy = new DataProxyClient(lambdaDataProxy(createLambdaClient(), env.DATA_PROXY_FUNCTION));
  return {
    ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, onChallengeChange),
    images: new EcrImages(),
    ...promotionRules(env),
    rollbackReasonRequired: env.REQUIRE_ROLLBACK_REASON,
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
    queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
    strategyCosts: new DynamoStrategyCosts(dynamo, env.JOBS_TABLE),
    maxRunning: maxRunning(env),
    retention: retentionDays(env),
    fastLaneSeconds: env.FAST_LANE_SECONDS,
    series: new DynamoSeriesStore(dynamo, env.SERIES_TABLE),
    instruments: new DynamoInstrumentStore(dynamo, env.SERIES_TABLE),
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    executions: new SfnExecutions(createSfnClient(), env.BACKTEST_STATE_MACHINE_ARN),
    tasks: new EcsTaskControl(createEcsClient()),
    dataProxy,
    probes: {
      strategy_service: env.STRATEGY_SERVICE_URL ? serviceProbe(env.STRATEGY_SERVICE_URL, 'strategy') : null,
      data_collection: () => dataProxy.probe(),
      registry: tableProbe(dynamo, 'registry', env.REGISTRY_TABLE),
    },
  };
}
