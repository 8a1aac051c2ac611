import type { FreshnessReport } from '#domain/data/check-freshness.ts';
import type { Collection, CollectionInput } from '#domain/data/collections.ts';
import type { OhlcvInput, OhlcvResult } from '#domain/data/get-ohlcv.ts';
import type { DataStatusReport } from '#domain/data/get-status.ts';
import type { InstrumentList } from '#domain/data/list-instruments.ts';
import type { SymbolList } from '#domain/data/list-symbols.ts';
import type { HealthReport } from '#domain/get-health.ts';
import type { FreshnessQuery } from '#domain/ports.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';

/** The exchange is the configured one where a request names none. */
type WithoutExchange<T> = Omit<T, 'exchange'> & { readonly exchange?: string };

/** What the handlers need: the use cases of src/domain/data with their dependencies filled in. */
export interface DataCollectionUseCases {
  checkHealth(): Promise<HealthReport>;
  getOhlcv(input: WithoutExchange<OhlcvInput>): Promise<OhlcvResult>;
  listSymbols(exchange: string | undefined): Promise<SymbolList>;
  listInstruments(exchange: string | undefined): Promise<InstrumentList>;
  getStatus(exchange: string | undefined): Promise<DataStatusReport>;
  checkFreshness(query: WithoutExchange<FreshnessQuery>): Promise<FreshnessReport>;
  startCollection(input: CollectionInput): Promise<Collection>;
  getCollection(id: string): Promise<Collection>;
}

/** HTTP on top of the use cases. */
export function dataCollectionHandlers(useCases: DataCollectionUseCases): Handlers<'data_collection'> {
  const docs = documentation('data_collection');
  return {
    getDataHealth: async () => {
      const { status, ...found } = await useCases.checkHealth();
      return { status: 200, body: { status, service: 'data-collection', version: VERSION, ...found } };
    },
    getOhlcv: async ({ query }) => ({ status: 200, body: await useCases.getOhlcv(query) }),
    listDataSymbols: async ({ query }) => ({ status: 200, body: await useCases.listSymbols(query.exchange) }),
    listInstruments: async ({ query }) => ({
      status: 200,
      body: await useCases.listInstruments(query.exchange),
    }),
    getDataStatus: async ({ query }) => ({ status: 200, body: await useCases.getStatus(query.exchange) }),
    getDataFreshness: async ({ query: { stale_threshold_hours, ...query } }) => ({
      status: 200,
      body: await useCases.checkFreshness({ ...query, staleThresholdHours: stale_threshold_hours }),
    }),
    startCollection: async ({ body, headers, principal }) => {
      const collection = await useCases.startCollection({
        body,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
      });
      return {
        status: 201,
        body: collection,
        headers: { Location: `collections/${collection.collection_id}` },
      };
    },
    getCollection: async ({ params }) => ({
      status: 200,
      body: await useCases.getCollection(params.collection_id),
    }),
    getDataDocs: docs.page,
    getDataDocsAsset: docs.asset,
    getDataOpenApi: docs.openApi,
  };
}
