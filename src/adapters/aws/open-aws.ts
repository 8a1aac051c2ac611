import { deferred } from '#domain/shared/lazy.ts';
import { createDocumentClient } from '../dynamo/client.ts';

interface AwsEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly JOBS_TABLE: string;
  readonly SERIES_TABLE: string;
  readonly RESULTS_BUCKET: string;
  readonly OBJECTS_DIRECTORY?: string | undefined;
}

/** Stores and clients of the backend and the strategy service. Only DynamoDB's client is loaded before the first request. */
export function openAws(env: AwsEnv) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  const { JOBS_TABLE, SERIES_TABLE } = env;
  return {
    dynamo,
    images: deferred(async () => new (await import('./ecr-images.ts')).EcrImages()),
    tasks: deferred(async () => {
      const { createEcsClient, EcsTaskControl } = await import('./ecs-tasks.ts');
      return new EcsTaskControl(createEcsClient());
    }),
    results: deferred(async () => {
      const { ObjectResultStore } = await import('../objects/result-store.ts');
      const { openObjectStore } = await import('../open-object-store.ts');
      return new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET));
    }),
    jobs: deferred(async () => {
      const { DynamoJobStore } = await import('../dynamo/job-store.ts');
      return new DynamoJobStore(dynamo, JOBS_TABLE);
    }),
    hyperoptJobs: deferred(async () => {
      const { DynamoHyperoptStore } = await import('../dynamo/hyperopt-store.ts');
      return new DynamoHyperoptStore(dynamo, JOBS_TABLE);
    }),
    ledger: deferred(async () => {
      const { DynamoTrialLedger } = await import('../dynamo/trial-ledger.ts');
      return new DynamoTrialLedger(dynamo, JOBS_TABLE);
    }),
    events: deferred(async () => {
      const { DynamoEventLog } = await import('../dynamo/event-log.ts');
      return new DynamoEventLog(dynamo, JOBS_TABLE, Date);
    }),
    webhooks: deferred(async () => {
      const { DynamoWebhookStore } = await import('../dynamo/webhook-store.ts');
      return new DynamoWebhookStore(dynamo, JOBS_TABLE);
    }),
    deliveries: deferred(async () => {
      const { DynamoDeliveryStore } = await import('../dynamo/webhook-store.ts');
      return new DynamoDeliveryStore(dynamo, JOBS_TABLE, Date);
    }),
    signals: deferred(async () => {
      const { DynamoSignalsStore } = await import('../dynamo/signals-store.ts');
      return new DynamoSignalsStore(dynamo, JOBS_TABLE);
    }),
    queue: deferred(async () => {
      const { DynamoJobQueue } = await import('../dynamo/job-queue.ts');
      return new DynamoJobQueue(dynamo, JOBS_TABLE);
    }),
    series: deferred(async () => {
      const { DynamoSeriesStore } = await import('../dynamo/series-stores.ts');
      return new DynamoSeriesStore(dynamo, SERIES_TABLE);
    }),
    collections: deferred(async () => {
      const { DynamoCollectionStore } = await import('../dynamo/collection-store.ts');
      return new DynamoCollectionStore(dynamo, SERIES_TABLE);
    }),
    instruments: deferred(async () => {
      const { DynamoInstrumentStore } = await import('../dynamo/series-stores.ts');
      return new DynamoInstrumentStore(dynamo, SERIES_TABLE);
    }),
  };
}
