import { lazy } from '#domain/shared/lazy.ts';
import { createDocumentClient } from '../dynamo/client.ts';

interface AwsEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly JOBS_TABLE: string;
  readonly SERIES_TABLE: string;
  readonly RESULTS_BUCKET: string;
  readonly OBJECTS_DIRECTORY?: string | undefined;
}

/** Stores and clients of the backend and the strategy service. Only DynamoDB's client is loaded before the first request. Long because it is their list. */
export function openAws(env: AwsEnv) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  const { JOBS_TABLE, SERIES_TABLE } = env;
  return {
    dynamo,
    images: lazy(async () => new (await import('./ecr-images.ts')).EcrImages()),
    tasks: lazy(async () => {
      const { createEcsClient, EcsTaskControl } = await import('./ecs-tasks.ts');
      return new EcsTaskControl(createEcsClient());
    }),
    results: lazy(async () => {
      const { ObjectResultStore } = await import('../objects/result-store.ts');
      const { openObjectStore } = await import('../open-object-store.ts');
      return new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET));
    }),
    jobs: lazy(async () => {
      const { DynamoJobStore } = await import('../dynamo/job-store.ts');
      return new DynamoJobStore(dynamo, JOBS_TABLE);
    }),
    hyperoptJobs: lazy(async () => {
      const { DynamoHyperoptStore } = await import('../dynamo/hyperopt-store.ts');
      return new DynamoHyperoptStore(dynamo, JOBS_TABLE);
    }),
    ledger: lazy(async () => {
      const { DynamoTrialLedger } = await import('../dynamo/trial-ledger.ts');
      return new DynamoTrialLedger(dynamo, JOBS_TABLE);
    }),
    events: lazy(async () => {
      const { DynamoEventLog } = await import('../dynamo/event-log.ts');
      return new DynamoEventLog(dynamo, JOBS_TABLE, Date);
    }),
    webhooks: lazy(async () => {
      const { DynamoWebhookStore } = await import('../dynamo/webhook-store.ts');
      return new DynamoWebhookStore(dynamo, JOBS_TABLE);
    }),
    deliveries: lazy(async () => {
      const { DynamoDeliveryStore } = await import('../dynamo/webhook-store.ts');
      return new DynamoDeliveryStore(dynamo, JOBS_TABLE, Date);
    }),
    signals: lazy(async () => {
      const { DynamoSignalsStore } = await import('../dynamo/signals-store.ts');
      return new DynamoSignalsStore(dynamo, JOBS_TABLE);
    }),
    queue: lazy(async () => {
      const { DynamoJobQueue } = await import('../dynamo/job-queue.ts');
      return new DynamoJobQueue(dynamo, JOBS_TABLE);
    }),
    series: lazy(async () => {
      const { DynamoSeriesStore } = await import('../dynamo/series-stores.ts');
      return new DynamoSeriesStore(dynamo, SERIES_TABLE);
    }),
    collections: lazy(async () => {
      const { DynamoCollectionStore } = await import('../dynamo/collection-store.ts');
      return new DynamoCollectionStore(dynamo, SERIES_TABLE);
    }),
    instruments: lazy(async () => {
      const { DynamoInstrumentStore } = await import('../dynamo/series-stores.ts');
      return new DynamoInstrumentStore(dynamo, SERIES_TABLE);
    }),
  };
}
