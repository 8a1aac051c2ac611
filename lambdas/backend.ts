import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { DynamoSeriesStore } from '#adapters/aws/dynamo-series-store.ts';
import { createEcsClient, EcsTaskControl } from '#adapters/aws/ecs-task-control.ts';
import { createLambdaClient, LambdaDataProxy } from '#adapters/aws/lambda-data-proxy.ts';
import { createSfnClient, SfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { sha256, ulids } from '#adapters/ids.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { tableProbe } from '#adapters/probes.ts';
import { ObjectResultStore } from '#adapters/result-store.ts';
import { loadStrategies } from '#adapters/strategies.ts';
import { BackendEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { backendHandlers } from '#runtime/services/backend.ts';
import { backendUseCases } from '#runtime/services/backend-use-cases.ts';

const env = readEnv(BackendEnv);
const log = createLogger('backend', env.LOG_LEVEL);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
const proxy = new LambdaDataProxy(createLambdaClient(), env.DATA_PROXY_FUNCTION);

const useCases = backendUseCases(
  {
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    series: new DynamoSeriesStore(dynamo, env.SERIES_TABLE),
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    executions: new SfnExecutions(createSfnClient(), env.BACKTEST_STATE_MACHINE_ARN),
    tasks: new EcsTaskControl(createEcsClient()),
    strategies: (await loadStrategies()).registry,
    ids: ulids,
    digest: sha256,
    clock: Date,
    defaultExchange: env.DEFAULT_EXCHANGE,
    probes: {
      strategy_service: null,
      data_collection: () => proxy.probe(),
      registry: tableProbe(dynamo, 'registry', env.REGISTRY_TABLE),
    },
  },
  log,
);

export const handler = serviceLambda('backend', backendHandlers(useCases), {
  environment: env.ENVIRONMENT,
  logLevel: env.LOG_LEVEL,
});
