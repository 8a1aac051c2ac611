import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import type { SeriesKeeper } from '#domain/data/series-ports.ts';
import type { EventLog } from '#domain/events/event-log.ts';
import type { HyperoptRow, HyperoptStore, TrialLedger } from '#domain/hyperopt/hyperopt-ports.ts';
import type { ActiveJobs, JobRow } from '#domain/jobs/job-list-ports.ts';
import type {
  CandleStore,
  JobStore,
  ObjectStore,
  ResultStore,
  SeriesStates,
  SeriesStore,
} from '#domain/ports.ts';
import type { StrategyCosts } from '#domain/queue/choose-lane.ts';
import type { JobQueue } from '#domain/queue/queue-ports.ts';
import type { JobRetention } from '#domain/retention/expire-jobs.ts';
import type { SignalsStore } from '#domain/signals/signals-ports.ts';
import type { EndedValidations } from '#domain/transitions/check-status.ts';
import type { OwnerTrials } from '#domain/trials/owner-trials.ts';
import type { DeliveryStore, WebhookStore } from '#domain/webhooks/webhook-ports.ts';
import { createDocumentClient } from './dynamo/client.ts';
import { DynamoCollectionStore } from './dynamo/collection-store.ts';
import { DynamoEventLog } from './dynamo/event-log.ts';
import { DynamoHyperoptStore } from './dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from './dynamo/job-queue.ts';
import { DynamoJobRetention } from './dynamo/job-retention.ts';
import { DynamoJobStore } from './dynamo/job-store.ts';
import { DynamoOwnerTrials } from './dynamo/owner-trials.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from './dynamo/series-stores.ts';
import { DynamoSignalsStore } from './dynamo/signals-store.ts';
import { DynamoStrategyCosts } from './dynamo/strategy-costs.ts';
import { DynamoTrialLedger } from './dynamo/trial-ledger.ts';
import { DynamoDeliveryStore, DynamoWebhookStore } from './dynamo/webhook-store.ts';
import { ObjectResultStore } from './objects/result-store.ts';
import { openObjectStore } from './open-object-store.ts';
import { ParquetCandleStore } from './parquet/candle-store.ts';

/** Storage of market data: environment of the services that read or collect it. */
export interface MarketStorageEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly SERIES_TABLE: string;
  readonly CANDLES_BUCKET: string;
}

export interface MarketStores {
  readonly dynamo: DynamoDBDocumentClient;
  readonly series: SeriesStore & SeriesStates;
  readonly instruments: InstrumentStore;
  readonly candles: CandleStore & SeriesKeeper;
  readonly collections: CollectionStore;
}

function openCandles(env: MarketStorageEnv): Omit<MarketStores, 'collections'> {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  const series = new DynamoSeriesStore(dynamo, env.SERIES_TABLE);
  const objects = openObjectStore(env, env.CANDLES_BUCKET);
  return {
    dynamo,
    series,
    instruments: new DynamoInstrumentStore(dynamo, env.SERIES_TABLE),
    candles: new ParquetCandleStore({ objects, series, clock: Date }),
  };
}

/** Opens the stores of market data. It loads the Parquet reader: use it in tasks and local mode, not in an API Lambda. */
export function openMarketStores(env: MarketStorageEnv): MarketStores {
  const opened = openCandles(env);
  return { ...opened, collections: new DynamoCollectionStore(opened.dynamo, env.SERIES_TABLE) };
}

export interface StorageEnv extends MarketStorageEnv {
  readonly JOBS_TABLE: string;
  readonly RESULTS_BUCKET: string;
}

export interface Stores extends MarketStores {
  readonly jobs: JobStore & EndedValidations & ActiveJobs<JobRow>;
  readonly queue: JobQueue;
  readonly strategyCosts: StrategyCosts;
  readonly results: ResultStore;
  readonly hyperoptJobs: HyperoptStore & ActiveJobs<HyperoptRow>;
  readonly ledger: TrialLedger;
  readonly ownerTrials: OwnerTrials;
  readonly jobRetention: JobRetention;
  readonly events: EventLog;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly signals: SignalsStore;
  /** Bucket of results, with the uploaded signals. */
  readonly resultObjects: ObjectStore;
}

/** Stores that a backtest uses. */
export type BacktestStores = Pick<
  Stores,
  'dynamo' | 'series' | 'instruments' | 'candles' | 'jobs' | 'results' | 'ownerTrials'
>;

/** Opens the stores of a backtest. Its bundle leaves out the others, with the schemas that are built whenever it starts. */
export function openBacktestStores(env: StorageEnv): BacktestStores {
  const candles = openCandles(env);
  return {
    ...candles,
    jobs: new DynamoJobStore(candles.dynamo, env.JOBS_TABLE),
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    ownerTrials: new DynamoOwnerTrials(candles.dynamo, env.JOBS_TABLE),
  };
}

/** Opens the stores of market data, jobs and results. */
export function openStores(env: StorageEnv): Stores {
  const market = openMarketStores(env);
  const resultObjects = openObjectStore(env, env.RESULTS_BUCKET);
  return {
    ...market,
    jobs: new DynamoJobStore(market.dynamo, env.JOBS_TABLE),
    queue: new DynamoJobQueue(market.dynamo, env.JOBS_TABLE),
    strategyCosts: new DynamoStrategyCosts(market.dynamo, env.JOBS_TABLE),
    hyperoptJobs: new DynamoHyperoptStore(market.dynamo, env.JOBS_TABLE),
    ledger: new DynamoTrialLedger(market.dynamo, env.JOBS_TABLE),
    ownerTrials: new DynamoOwnerTrials(market.dynamo, env.JOBS_TABLE),
    jobRetention: new DynamoJobRetention(market.dynamo, env.JOBS_TABLE),
    events: new DynamoEventLog(market.dynamo, env.JOBS_TABLE, Date),
    webhooks: new DynamoWebhookStore(market.dynamo, env.JOBS_TABLE),
    deliveries: new DynamoDeliveryStore(market.dynamo, env.JOBS_TABLE, Date),
    signals: new DynamoSignalsStore(market.dynamo, env.JOBS_TABLE),
    resultObjects,
    results: new ObjectResultStore(resultObjects),
  };
}
