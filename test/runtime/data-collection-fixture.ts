import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { ServiceDeps } from '#runtime/service.ts';
import {
  createDataCollectionService,
  type DataCollectionDeps,
  type DataCollectionService,
} from '#runtime/services/data-collection.ts';
import {
  at,
  BTC,
  candlesAt,
  exchangesOf,
  grid,
  HOUR,
  type Market,
  openMarket,
  TestExchange,
} from '../domain/data/market.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, post } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

type Body = Record<string, never>;

/** Data collection service with its market and exchange, fresh for each test. */
interface DataCollectionFixture {
  market: Market;
  exchange: TestExchange;
  /** Jobs and versions, which may use series. */
  uses: Pick<DataCollectionDeps, 'jobs' | 'hyperoptJobs' | 'registry'>;
  /** Stopped after the test. */
  service: DataCollectionService;
}

/** Unfinished jobs, and versions of the catalog; none by default. `informative`: symbols that jobs read beside their pairs. */
export function usesFixture({
  backtests = [],
  versions = [],
  informative = {},
}: {
  readonly backtests?: readonly object[];
  readonly versions?: readonly object[];
  readonly informative?: Readonly<Record<string, readonly string[]>>;
} = {}): DataCollectionFixture['uses'] {
  const get = async (id: string) => ({
    execution_input: { informative: informative[id]?.map((symbol) => ({ symbol })) },
  });
  const jobs = (rows: readonly object[]) =>
    ({ activity: { unfinished: async () => ({ rows, complete: true }) }, get }) as never;
  return {
    jobs: jobs(backtests),
    hyperoptJobs: jobs([]),
    registry: {
      catalog: async function* () {
        for (const row of versions) yield { row, position: ['', '', ''] } as never;
      },
    },
  };
}

/** Collection of one day of hourly candles. */
export const COLLECTION = { symbols: [BTC], timeframe: '1h', start: '2024-02-01', end: '2024-02-02' };

export const hours = (from: string, to: string) => grid(at(from), at(to), HOUR);

export function dataCollectionFixture() {
  const { log, lines } = memoryLog();
  const fixture = {} as DataCollectionFixture;
  let engine: TestEngine;

  function create(stores: Partial<Market> = {}, deps: Partial<ServiceDeps> = {}): DataCollectionService {
    return createDataCollectionService(
      {
        ...fixture.market,
        ...fixture.uses,
        ...stores,
        exchanges: exchangesOf(fixture.exchange),
        defaultExchange: 'test',
        ids: ulids,
        digest: sha256,
        imports: null,
      },
      {
        log,
        audit: memoryAudit().audit,
        cursorKey,
        checkResponses: true,
        authenticate: withoutIdentityProvider({ enforced: false }),
        ...deps,
      },
    );
  }

  async function get(path: string, target = fixture.service): Promise<{ status: number; body: Body }> {
    const response = await target.app.request(path);
    expect(response.headers.get('X-Correlation-ID')).toMatch(/^[0-9a-f-]{36}$/);
    return { status: response.status, body: (await response.json()) as Body };
  }

  /** Hourly candles of BTC. */
  const ohlcv = (query: string) =>
    get(`/api/v1/ohlcv?symbol=${encodeURIComponent(BTC)}&timeframe=1h${query}`);

  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    fixture.market = await openMarket(engine, at('2024-06-01T00:00'));
    fixture.exchange = new TestExchange();
    fixture.uses = usesFixture();
    fixture.service = create();
    return async () => {
      await fixture.service.stop();
      await fixture.market.stop();
    };
  });

  return Object.assign(fixture, {
    /** Log lines of all tests. */
    lines,
    create,
    get,
    ohlcv,
    store: (symbol: string, timeframe: SeriesKey['timeframe'], times: readonly number[], step: number) =>
      fixture.market.candles.write({ exchange: 'test', symbol, timeframe }, candlesAt(times, step)),
    /** Candle times to the minute. */
    times: async (query: string) => {
      const { body } = await ohlcv(query);
      const data = body.data as unknown as { timestamp: string }[];
      expect(body.count).toBe(data.length);
      return data.map((candle) => candle.timestamp.slice(0, 16));
    },
    /** Starts a collection. */
    start: async (body: unknown, headers: Record<string, string> = {}) => {
      const response = await fixture.service.app.request('/api/v1/collections', post(body, headers));
      return { response, status: response.status, body: (await response.json()) as Body };
    },
    cancel: async (id: string) => {
      const response = await fixture.service.app.request(`/api/v1/collections/${id}/cancel`, post({}));
      return { status: response.status, body: (await response.json()) as Body };
    },
    /** Polls until the collection has ended. */
    ended: async (id: string) => {
      for (;;) {
        const { body } = await get(`/api/v1/collections/${id}`);
        if (body.status === 'completed' || body.status === 'failed') return body;
        await new Promise(setImmediate);
      }
    },
  });
}
