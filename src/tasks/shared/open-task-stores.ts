import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';

interface TaskStoresEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly JOBS_TABLE: string;
  readonly SERIES_TABLE: string;
  readonly RESULTS_BUCKET: string;
  readonly CANDLES_BUCKET: string;
}

/**
 * Opens the stores of a task that runs a strategy. Unlike those of `openStores` they are loaded now, before the code of the
 * strategy, and the bundle of a backtest leaves out the others, with their schemas.
 */
export function openTaskStores(env: TaskStoresEnv) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  const series = new DynamoSeriesStore(dynamo, env.SERIES_TABLE);
  return {
    series,
    instruments: new DynamoInstrumentStore(dynamo, env.SERIES_TABLE),
    candles: new ParquetCandleStore({
      objects: openObjectStore(env, env.CANDLES_BUCKET),
      series,
      clock: Date,
    }),
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    ownerTrials: new DynamoOwnerTrials(dynamo, env.JOBS_TABLE),
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
  };
}
