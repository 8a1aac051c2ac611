import { cancelCollection } from '#domain/data/cancel-collection.ts';
import {
  type ChangeSeriesDeps,
  copySeries,
  deleteSeries,
  renameSeries,
  undoImport,
} from '#domain/data/change-series.ts';
import { CollectionWorker, type CollectionWorkerDeps } from '#domain/data/collection-worker.ts';
import { getCandles } from '#domain/data/get-candles.ts';
import { getCoverage } from '#domain/data/get-coverage.ts';
import { getDataFreshness } from '#domain/data/get-data-freshness.ts';
import {
  getDataStatus,
  getInstrumentHistory,
  listDataSymbols,
  listInstruments,
} from '#domain/data/get-data-status.ts';
import { getOhlcv } from '#domain/data/get-ohlcv.ts';
import { getSeriesCondition } from '#domain/data/get-series-condition.ts';
import { getSeries, listSeries } from '#domain/data/list-series.ts';
import { getCollection, listCollections } from '#domain/data/read-collections.ts';
import { type StartCollectionDeps, startCollection } from '#domain/data/start-collection.ts';
import { getHealth } from '#domain/get-health.ts';
import type { ImportDeps } from '#domain/imports/file-imports.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { createService, type ServiceApp, type ServiceDeps } from '../service.ts';
import { documentation } from '../swagger-ui.ts';
import { VERSION } from '../version.ts';
import { importHandlers } from './imports.ts';

/** Dependencies that differ by host. */
export type DataCollectionDeps = StartCollectionDeps &
  ImportDeps &
  Omit<CollectionWorkerDeps, 'log' | 'every'> &
  Omit<ChangeSeriesDeps, 'candles'> & {
    readonly candles: CollectionWorkerDeps['candles'] & ChangeSeriesDeps['candles'];
  };

interface HandlerDeps extends DataCollectionDeps, Pick<ServiceDeps, 'checkDiskSpace' | 'log'> {
  readonly worker: CollectionWorker;
}

export interface DataCollectionService {
  readonly app: ServiceApp;
  /** Resumes unfinished collections of earlier processes, and later those of a process that dies. */
  resume(): void;
  /** Stops after the current request of the running collection; the next process resumes it. */
  stop(): Promise<void>;
}

/** Data collection service for any host: the HTTP application and the collection worker. */
export function createDataCollectionService(
  deps: DataCollectionDeps,
  service: ServiceDeps,
): DataCollectionService {
  const { checkDiskSpace, log } = service;
  const worker = new CollectionWorker({ ...deps, every, log });
  const dataCollection = dataCollectionHandlers({ ...deps, worker, checkDiskSpace, log });
  return {
    app: createService('data_collection', { dataCollection, imports: importHandlers(deps) }, service),
    resume: () => worker.resume(),
    stop: () => worker.stop(),
  };
}

/** Interval timer that does not keep the process alive. */
function every(ms: number, action: () => void): () => void {
  const timer = setInterval(action, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** Maximum duration of a health check, ms. */
const PROBE_TIMEOUT_MS = 2_000;
/** A series that cannot exist: reading it probes only the database. */
const PROBED_SERIES = { symbol: 'HEALTH/CHECK:PROBE', timeframe: '1d' } as const;

/** Handlers of the data collection service's operations. Long because it is their list. */
function dataCollectionHandlers(deps: HandlerDeps): GroupHandlers<'dataCollection'> {
  const docs = documentation('data_collection');
  const probes = { storage: () => deps.series.getMany(deps.defaultExchange, [PROBED_SERIES]) };
  return {
    getDataHealth: async () => ({
      status: 200,
      body: {
        service: 'data-collection',
        version: VERSION,
        ...(await getHealth({ ...deps, probes }, PROBE_TIMEOUT_MS)),
      },
    }),
    getOhlcv: async ({ query }) => ({ status: 200, body: await getOhlcv(deps, query) }),
    getCandles: async ({ query }) => ({ status: 200, body: await getCandles(deps, query) }),
    listDataSymbols: async ({ query }) => ({ status: 200, body: await listDataSymbols(deps, query) }),
    listInstruments: async ({ query }) => ({ status: 200, body: await listInstruments(deps, query) }),
    getInstrumentHistory: async ({ query }) => ({
      status: 200,
      body: await getInstrumentHistory(deps, query),
    }),
    getDataStatus: async ({ query }) => ({ status: 200, body: await getDataStatus(deps, query) }),
    getCoverage: async ({ query }) => ({ status: 200, body: await getCoverage(deps, query) }),
    getDataFreshness: async ({ query }) => ({ status: 200, body: await getDataFreshness(deps, query) }),
    listSeries: async ({ query }) => ({ status: 200, body: await listSeries(deps, query) }),
    getSeries: async ({ query, principal }) => ({
      status: 200,
      body: await getSeries(deps, query, callerOf(principal)),
    }),
    getSeriesCondition: async ({ query }) => ({ status: 200, body: await getSeriesCondition(deps, query) }),
    deleteSeries: async ({ body, principal }) => ({
      status: 200,
      body: await deleteSeries(deps, body, callerOf(principal)),
    }),
    renameSeries: async ({ body, principal }) => ({
      status: 200,
      body: await renameSeries(deps, body, callerOf(principal)),
    }),
    copySeries: async ({ body }) => ({ status: 200, body: await copySeries(deps, body) }),
    undoImport: async ({ body }) => ({ status: 200, body: await undoImport(deps, body) }),
    startCollection: async ({ body, headers, principal }) => {
      const collection = await startCollection(deps, {
        body,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
      });
      deps.worker.wake();
      return {
        status: 201,
        body: collection,
        headers: { Location: `collections/${collection.collection_id}` },
      };
    },
    getCollection: async ({ params }) => ({
      status: 200,
      body: await getCollection(deps, params.collection_id),
    }),
    listCollections: async ({ query }) => {
      const page = await listCollections(deps, query);
      return { status: 200, body: { items: [...page.items], next_cursor: page.next } };
    },
    cancelCollection: async ({ params }) => {
      const cancelled = await cancelCollection(deps, params.collection_id);
      deps.worker.cancel(cancelled.collection_id);
      return { status: 200, body: cancelled };
    },
    getDataDocs: docs.page,
    getDataDocsAsset: docs.asset,
    getDataOpenApi: docs.openApi,
  };
}
