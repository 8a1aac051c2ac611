import { checkFreshness } from '#domain/data/check-freshness.ts';
import { Collections, type CollectionsDeps } from '#domain/data/collections.ts';
import { getOhlcv } from '#domain/data/get-ohlcv.ts';
import { getStatus } from '#domain/data/get-status.ts';
import { listInstruments } from '#domain/data/list-instruments.ts';
import { listSymbols } from '#domain/data/list-symbols.ts';
import { checkHealth } from '#domain/get-health.ts';
import { createService, type ServiceApp, type ServiceDeps } from '../service.ts';
import { type DataCollectionUseCases, dataCollectionHandlers } from './data-collection.ts';

/** What differs by host. */
export type DataCollectionDeps = Omit<CollectionsDeps, 'onFault' | 'every'>;

export interface DataCollectionService {
  readonly app: ServiceApp;
  /** Takes up the collections that an earlier process left unfinished, and those of one that dies later. */
  resume(): void;
  /** Leaves the collections to the next process: the one that runs here after its current request. */
  stop(): Promise<void>;
}

/** The data collection service for any host: its HTTP application and the collections that run behind it. */
export function createDataCollectionService(
  deps: DataCollectionDeps,
  service: ServiceDeps,
): DataCollectionService {
  const collections = new Collections({
    ...deps,
    every,
    onFault: (id, error) =>
      service.log.error('collection failed', { collection_id: id, error: error as Error }),
  });
  const handlers = dataCollectionHandlers(useCases(deps, collections, service.checkDiskSpace));
  return {
    app: createService('data_collection', handlers, service),
    resume: () => collections.resume(),
    stop: () => collections.stop(),
  };
}

/** Looking for work keeps no process alive. */
function every(ms: number, action: () => void): () => void {
  const timer = setInterval(action, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** A health check answers within this time whatever storage does. */
const PROBE_TIMEOUT_MS = 2_000;
/** A series that cannot exist: reading it asks the database and nothing more. */
const PROBED_SERIES = { symbol: 'HEALTH/CHECK:PROBE', timeframe: '1d' } as const;

function useCases(
  deps: DataCollectionDeps,
  collections: Collections,
  checkDiskSpace: ServiceDeps['checkDiskSpace'],
): DataCollectionUseCases {
  const { defaultExchange } = deps;
  const probes = { storage: () => deps.series.getMany(defaultExchange, [PROBED_SERIES]) };
  return {
    checkHealth: () => checkHealth(probes, PROBE_TIMEOUT_MS, checkDiskSpace),
    getOhlcv: (input) => getOhlcv(deps, { ...input, exchange: input.exchange ?? defaultExchange }),
    listSymbols: (exchange = defaultExchange) => listSymbols(deps, exchange),
    listInstruments: (exchange = defaultExchange) => listInstruments(deps, exchange),
    getStatus: (exchange = defaultExchange) => getStatus(deps, exchange),
    checkFreshness: (query) =>
      checkFreshness(deps, { ...query, exchange: query.exchange ?? defaultExchange }),
    startCollection: (input) => collections.start(input),
    getCollection: (id) => collections.get(id),
  };
}
