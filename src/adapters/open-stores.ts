import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { lazy } from '#domain/shared/lazy.ts';
import { createDocumentClient } from './dynamo/client.ts';

interface DatabaseEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
}

export interface StoresEnv extends DatabaseEnv {
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly JOBS_TABLE: string;
  readonly SERIES_TABLE: string;
  readonly RESULTS_BUCKET: string;
}

export type Stores = ReturnType<typeof openStores>;

/**
 * Opens the stores of jobs, results and what is known of candles, on every host. Each is loaded at its first call: see `lazy`. The
 * registry is opened by `openRegistry`, and candles by `openMarketStores`: their Parquet reader is in no API Lambda.
 */
export function openStores(env: StoresEnv) {
  const dynamo = openDynamo(env);
  return {
    dynamo,
    ...openJobStores(dynamo, env.JOBS_TABLE),
    ...openSeriesStores(dynamo, env.SERIES_TABLE),
    results: lazy(async () => {
      const { ObjectResultStore } = await import('./objects/result-store.ts');
      const { openObjectStore } = await import('./open-object-store.ts');
      return new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET));
    }),
    /** Bucket of results, with the uploaded signals. */
    resultObjects: lazy(async () =>
      (await import('./open-object-store.ts')).openObjectStore(env, env.RESULTS_BUCKET),
    ),
  };
}

export function openDynamo({ DYNAMODB_ENDPOINT }: DatabaseEnv): DynamoDBDocumentClient {
  return createDocumentClient(DYNAMODB_ENDPOINT ? { endpoint: DYNAMODB_ENDPOINT } : {});
}

/** Stores in the table of jobs. */
export function openJobStores(dynamo: DynamoDBDocumentClient, table: string) {
  return {
    jobs: lazy(async () => new (await import('./dynamo/job-store.ts')).DynamoJobStore(dynamo, table)),
    hyperoptJobs: lazy(
      async () => new (await import('./dynamo/hyperopt-store.ts')).DynamoHyperoptStore(dynamo, table),
    ),
    ledger: lazy(async () => new (await import('./dynamo/trial-ledger.ts')).DynamoTrialLedger(dynamo, table)),
    ownerTrials: lazy(
      async () => new (await import('./dynamo/owner-trials.ts')).DynamoOwnerTrials(dynamo, table),
    ),
    queue: lazy(async () => new (await import('./dynamo/job-queue.ts')).DynamoJobQueue(dynamo, table)),
    strategyCosts: lazy(
      async () => new (await import('./dynamo/strategy-costs.ts')).DynamoStrategyCosts(dynamo, table),
    ),
    jobRetention: lazy(
      async () => new (await import('./dynamo/job-retention.ts')).DynamoJobRetention(dynamo, table),
    ),
    events: lazy(async () => new (await import('./dynamo/event-log.ts')).DynamoEventLog(dynamo, table, Date)),
    webhooks: lazy(
      async () => new (await import('./dynamo/webhook-store.ts')).DynamoWebhookStore(dynamo, table),
    ),
    deliveries: lazy(
      async () => new (await import('./dynamo/webhook-store.ts')).DynamoDeliveryStore(dynamo, table, Date),
    ),
    signals: lazy(
      async () => new (await import('./dynamo/signals-store.ts')).DynamoSignalsStore(dynamo, table),
    ),
  };
}

/** Stores in the table of series. */
export function openSeriesStores(dynamo: DynamoDBDocumentClient, table: string) {
  return {
    series: lazy(
      async () => new (await import('./dynamo/series-stores.ts')).DynamoSeriesStore(dynamo, table),
    ),
    instruments: lazy(
      async () => new (await import('./dynamo/series-stores.ts')).DynamoInstrumentStore(dynamo, table),
    ),
    collections: lazy(
      async () => new (await import('./dynamo/collection-store.ts')).DynamoCollectionStore(dynamo, table),
    ),
  };
}
