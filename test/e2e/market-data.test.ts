import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { RunningServer } from '#runtime/serve.ts';
import { localDataProxy, startBackend } from '../../src/local/services.ts';
import { candlesAt, grid } from '../domain/data/market.ts';
import { FakeService } from '../runtime/data-proxy-server.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, WITHOUT_JOBS } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const authenticate = withoutIdentityProvider({ enforced: false });

/** The backend's market data over HTTP: backend, proxy, data collection and database are real. */

const HOUR = 3_600_000;
const BTC = 'BTC/USDT:USDT';
const ETH = '1000PEPE/USDT:USDT';
const OLD = 'ETH/USDT:USDT';

let platform: TestPlatform;
let stores: Stores;
beforeAll(async () => {
  platform = await startTestPlatform();
  stores = openStores(platform.info.storage);
  const { candles } = openMarketStores(platform.info.storage, stores.dynamo);
  const now = Math.floor(Date.now() / HOUR) * HOUR;
  const store = (symbol: string, end: number, exchange = 'sim') =>
    candles.write({ exchange, symbol, timeframe: '1h' }, candlesAt(grid(end - 10 * HOUR, end, HOUR), HOUR));
  await store(BTC, now);
  await store(ETH, now);
  await store(OLD, now - 48 * HOUR);
  await store(BTC, now, 'other');
});
afterAll(() => platform.stop());

const freshness = (query: string) => platform.get(`/api/v1/data/freshness?${query}`);

describe('GET /api/v1/data/symbols', () => {
  it('symbols lists the stored symbols of the default or the given exchange', async () => {
    expect(await platform.get('/api/v1/data/symbols')).toEqual({
      status: 200,
      body: { exchange: 'sim', symbols: [ETH, BTC, OLD], count: 3 },
    });
    expect((await platform.get('/api/v1/data/symbols?exchange=other')).body).toEqual({
      exchange: 'other',
      symbols: [BTC],
      count: 1,
    });
    expect((await platform.get('/api/v1/data/symbols?exchange=none')).body).toMatchObject({ count: 0 });
  });
});

describe('GET /api/v1/data/freshness', () => {
  const both = [BTC, OLD];
  const encoded = both.map(encodeURIComponent);
  it.each([
    ['repeated, raw', both.map((symbol) => `symbols=${symbol}`).join('&')],
    ['repeated, URL-encoded', encoded.map((symbol) => `symbols=${symbol}`).join('&')],
    ['comma separated, raw', `symbols=${both.join(',')}`],
    ['comma separated, URL-encoded', `symbols=${encodeURIComponent(both.join(','))}`],
    ['both forms, with a repeat', `symbols=${encoded.join(',')}&symbols=${OLD}`],
  ])('freshness accepts a list of symbols: %s', async (_, query) => {
    const { status, body } = await freshness(query);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      all_fresh: false,
      stale_symbols: [OLD],
      exchange: 'sim',
      stale_threshold_hours: 24,
      symbols: [
        { symbol: BTC, timeframe: '1h', fresh: true },
        { symbol: OLD, timeframe: '1h', fresh: false },
      ],
    });
  });

  it('freshness applies threshold, timeframe and exchange', async () => {
    const answer = async (query: string) => (await freshness(`symbols=${OLD},${BTC}&${query}`)).body;
    expect((await answer('stale_threshold_hours=72')).all_fresh).toBe(true);
    expect((await answer('timeframe=5m')).stale_symbols).toEqual([OLD, BTC]);
    expect((await answer('timeframe=1h')).stale_symbols).toEqual([OLD]);
    expect(await answer('exchange=other')).toMatchObject({ exchange: 'other', stale_symbols: [OLD] });
  });

  it('freshness accepts 500 symbols', async () => {
    const symbols = Array.from({ length: 500 }, (_, i) => `S${i}/USDT:USDT`);
    const { status, body } = await freshness(`symbols=${symbols.join(',')}&timeframe=1h`);
    expect(status).toBe(200);
    expect(body.stale_symbols).toEqual(symbols);
    expect(body.symbols).toHaveLength(500);
  });

  it.each([
    ['', 'VAL004', 'symbols'],
    ['symbols=', 'VAL004', 'symbols'],
    ['symbols=,', 'VAL004', 'symbols'],
    ['symbols=BTCUSDT', 'VAL002', 'symbols'],
    [`symbols=${BTC},btc/usdt:usdt`, 'VAL002', 'symbols'],
    [`symbols=${'A'.repeat(60)}/USDT:USDT`, 'VAL002', 'symbols'],
    [`symbols=${Array.from({ length: 501 }, (_, i) => `S${i}/U:U`).join(',')}`, 'VAL005', 'symbols'],
    [`symbols=${BTC}&timeframe=7m`, 'VAL003', 'timeframe'],
    [`symbols=${BTC}&stale_threshold_hours=0`, 'VAL005', 'stale_threshold_hours'],
    [`symbols=${BTC}&stale_threshold_hours=1.5`, 'VAL005', 'stale_threshold_hours'],
    [`symbols=${BTC}&exchange=${'x'.repeat(41)}`, 'VAL005', 'exchange'],
  ])('freshness rejects ?%.40s with 400 %s at %s', async (query, code, field) => {
    const { status, body } = await freshness(query);
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code, field });
  });
});

describe('POST /api/v1/data-proxy', () => {
  const call = (body: string, headers: Record<string, string> = {}) =>
    platform.request('/api/v1/data-proxy', { method: 'POST', body, headers });

  it('route returns status, body and correlation ID as the function behind API Gateway does', async () => {
    const event = { operation: 'check-freshness', params: { symbols: [BTC], timeframe: '1h' } };
    const response = await call(JSON.stringify(event), { 'X-Correlation-ID': 'trace-7' });
    expect([response.status, response.headers.get('X-Correlation-ID')]).toEqual([200, 'trace-7']);
    expect(await response.json()).toMatchObject({
      success: true,
      data: { operation: 'check-freshness', result: { all_fresh: true, stale_symbols: [] } },
    });
  });

  it.each([
    ['{', 'VAL004', 'operation'],
    ['', 'VAL004', 'operation'],
    ['{"operation":"drop"}', 'VAL005', 'operation'],
    ['{"operation":"fetch_ohlcv","params":{"symbol":"BTC"}}', 'VAL002', 'symbol'],
  ])('route rejects %s in the error shape of the proxy', async (body, code, field) => {
    const response = await call(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      data: { result: null },
      error: { code, field },
    });
  });

  it('route accepts only POST and bodies up to 1 MiB', async () => {
    const { status, body } = await platform.get('/api/v1/data-proxy');
    expect([status, body.detail.context.allowed]).toEqual([405, ['POST']]);
    expect((await call('x'.repeat(1_100_000))).status).toBe(413);
  });
});

/** Backend on the platform's stores with data collection at `url`. */
function backendOn(url: string): Promise<RunningServer> {
  return startBackend(
    {
      port: 0,
      exchange: 'sim',
      checkResponses: true,
      authenticate,
      audit: memoryAudit().audit,
      cursorKey,
      log: memoryLog().log,
    },
    {
      ...WITHOUT_JOBS,
      strategyServiceUrl: 'http://127.0.0.1:1',
      stores,
      registryTable: 'Registry',
      databaseEndpoint: 'http://127.0.0.1:1',
      dataProxy: localDataProxy(url),
    },
  );
}

describe('unavailable data collection', () => {
  let backend: RunningServer;
  beforeAll(async () => {
    // Nothing listens on port 1.
    backend = await backendOn('http://127.0.0.1:1');
  });
  afterAll(() => backend.close());

  it('symbols and freshness return 503 SVC004 after the retries; the route keeps its safe result', async () => {
    const [symbols, freshness, route, health] = await Promise.all([
      fetch(`${backend.url}/api/v1/data/symbols`),
      fetch(`${backend.url}/api/v1/data/freshness?symbols=${BTC}`),
      fetch(`${backend.url}/api/v1/data-proxy`, {
        method: 'POST',
        body: JSON.stringify({ operation: 'check-freshness', params: { symbols: [BTC] } }),
      }),
      fetch(`${backend.url}/api/v1/health`),
    ]);
    const message = 'Data collection could not be reached (3 attempts)';
    for (const response of [symbols, freshness]) {
      expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '1']);
      expect(await response.json()).toEqual({ detail: { code: 'SVC004', message, field: '', context: {} } });
    }
    expect(route.status).toBe(200);
    expect(await route.json()).toEqual({
      success: true,
      data: {
        operation: 'check-freshness',
        result: { all_fresh: false, stale_symbols: [], error: message },
      },
    });
    expect(await health.json()).toMatchObject({ dependencies: { data_collection: 'unavailable' } });
  });
});

describe('invalid responses of data collection', () => {
  let service: FakeService;
  let backend: RunningServer;
  beforeAll(async () => {
    service = await FakeService.start();
    backend = await backendOn(service.url);
  });
  afterAll(async () => {
    await backend.close();
    await service.stop();
  });

  it.each([
    ['numeric symbols', 200, { exchange: 'sim', symbols: [1], count: 1 }, 502, 'SVC002'],
    ['an unknown path', 404, { detail: { code: 'HTTP404', message: 'No' } }, 502, 'SVC002'],
    ['a rejected token', 401, { detail: { code: 'AUTH002', message: 'No' } }, 503, 'SVC004'],
    ['an unknown status', 418, 'teapot', 502, 'SVC002'],
  ])('backend maps a response with %s to its own code', async (_, status, body, expected, code) => {
    service.behaviours = [{ status, body }];
    const response = await fetch(`${backend.url}/api/v1/data/symbols`);
    expect(response.status).toBe(expected);
    expect(await response.json()).toMatchObject({ detail: { code } });
  });

  it('backend returns DATA005 when the storage of data collection is down', async () => {
    const detail = { code: 'DATA005', message: 'Data storage unavailable', field: '', context: {} };
    service.behaviours = [{ status: 503, body: { detail } }];
    const response = await fetch(`${backend.url}/api/v1/data/freshness?symbols=${BTC}`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ detail: { code: 'DATA005' } });
  });
});
