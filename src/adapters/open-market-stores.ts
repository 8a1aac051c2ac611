import { openObjectStore } from './open-object-store.ts';
import { openDynamo, openSeriesStores } from './open-stores.ts';
import { ParquetCandleStore } from './parquet/candle-store.ts';

/** Storage of market data: environment of what reads or collects it. */
export interface MarketStorageEnv {
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly SERIES_TABLE: string;
  readonly CANDLES_BUCKET: string;
}

export type MarketStores = ReturnType<typeof openMarketStores>;

/** Opens the stores of market data. It loads the Parquet reader: use it in tasks and local mode, not in an API Lambda. */
export function openMarketStores(env: MarketStorageEnv, dynamo = openDynamo(env)) {
  const stores = openSeriesStores(dynamo, env.SERIES_TABLE);
  const objects = openObjectStore(env, env.CANDLES_BUCKET);
  return {
    dynamo,
    ...stores,
    candles: new ParquetCandleStore({ objects, series: stores.series, clock: Date }),
  };
}
