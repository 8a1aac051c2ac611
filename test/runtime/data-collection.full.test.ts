import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256, ulids } from '#adapters/ids.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { ServiceDeps } from '#runtime/service.ts';
import {
  createDataCollectionService,
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
import { startEngine, type TestEngine } from '../support/engine.ts';

let engine: TestEngine;
let market: Market;
let exchange: TestExchange;
let service: DataCollectionService;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  market = await openMarket(engine, at('2024-06-01T00:00'));
  exchange = new TestExchange();
  service = create();
  return async () => {
    await service.stop();
    await market.stop();
  };
});

const { log } = memoryLog();

function create(stores: Partial<Market> = {}, deps: Partial<ServiceDeps> = {}): DataCollectionService {
  return createDataCollectionService(
    {
      ...market,
      ...stores,
      exchanges: exchangesOf(exchange),
      defaultExchange: 'test',
      ids: ulids,
      digest: sha256,
    },
    {
      ...{ log, audit: memoryAudit().audit, checkResponses: true },
      authenticate: withoutIdentityProvider({ enforced: false }),
      ...deps,
    },
  );
}

const store = (symbol: string, timeframe: SeriesKey['timeframe'], times: readonly number[], step: number) =>
  market.candles.write({ exchange: 'test', symbol, timeframe }, candlesAt(times, step));
const hours = (from: string, to: string) => grid(at(from), at(to), HOUR);

async function get(path: string, target = service): Promise<{ status: number; body: Record<string, never> }> {
  const response = await target.app.request(path);
  expect(response.headers.get('X-Correlation-ID')).toMatch(/^[0-9a-f-]{36}$/);
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

describe('GET /api/v1/ohlcv', () => {
  const ohlcv = (query: string) =>
    get(`/api/v1/ohlcv?symbol=${encodeURIComponent(BTC)}&timeframe=1h${query}`);
  const times = async (query: string) => {
    const { body } = await ohlcv(query);
    const data = body.data as unknown as { timestamp: string }[];
    expect(body.count).toBe(data.length);
    return data.map((candle) => candle.timestamp.slice(0, 16));
  };
  beforeEach(() => store(BTC, '1h', hours('2024-01-31T20:00', '2024-02-01T04:00'), HOUR));

  it('ohlcv returns 1000 candles by default and up to 10000', async () => {
    await store(BTC, '1h', hours('2022-01-01T00:00', '2023-06-01T00:00'), HOUR);
    expect(await times('')).toHaveLength(1000);
    expect(await times('&limit=10000')).toHaveLength(10_000);
  });
});

describe('collections', () => {
  const request = { symbols: [BTC], timeframe: '1h', start: '2024-02-01', end: '2024-02-02' };
  const start = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await service.app.request('/api/v1/collections', post(body, headers));
    return { response, status: response.status, body: (await response.json()) as Record<string, never> };
  };
  /** Polls until the collection has ended. */
  const ended = async (id: string) => {
    for (;;) {
      const { body } = await get(`/api/v1/collections/${id}`);
      if (body.status === 'completed' || body.status === 'failed') return body;
      await new Promise(setImmediate);
    }
  };

  it('collections run sequentially, with at most 20 unfinished', async () => {
    const ids: string[] = [];
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    exchange.during = () => gate;
    for (let i = 0; i < 20; i++) {
      const { status, body } = await start({
        ...request,
        start: `2024-01-${10 + i}`,
        end: `2024-01-${11 + i}`,
      });
      expect(status).toBe(201);
      ids.push(body.collection_id!);
    }
    const rejected = await start(request);
    expect([rejected.status, rejected.response.headers.get('Retry-After')]).toEqual([429, '1']);
    expect(rejected.body).toMatchObject({ detail: { code: 'HTTP429', context: { max: 20 } } });
    go();
    await ended(ids.at(-1)!);
    expect(exchange.asked()).toHaveLength(20);
    expect((await start(request)).status).toBe(201);
  });
});
