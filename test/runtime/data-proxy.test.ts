import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveBaseUrl } from '#runtime/data-proxy/create-data-proxy.ts';
import type { ProxyEnvelope, ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import { FakeService, type Rig, rig } from './data-proxy-server.ts';

let service: FakeService;
beforeAll(async () => {
  service = await FakeService.start();
});
afterAll(() => service.stop());
beforeEach(() => {
  service.requests.length = 0;
  service.behaviours = [];
});

const FRESH = { all_fresh: true, stale_symbols: [] as string[] };
const ok = (body: unknown) => ({ status: 200, body });
const fault = { status: 503, body: { detail: { code: 'DATA005', message: 'Data storage unavailable' } } };
const freshness = { operation: 'check-freshness', params: { symbols: ['BTC/USDT:USDT'], timeframe: '5m' } };
const ohlcv = { operation: 'fetch_ohlcv', params: { symbol: 'BTC/USDT:USDT', timeframe: '5m' } };
const call = (r: Rig, event: unknown) => r.proxy(event) as Promise<ProxyEnvelope>;

describe('data proxy requests', () => {
  it.each([
    ['health', undefined, '/api/v1/health', { status: 'healthy' }],
    ['symbols', {}, '/api/v1/symbols', { exchange: 'sim', symbols: [], count: 0 }],
    ['status', null, '/api/v1/status', { count: 0 }],
    [
      'fetch_ohlcv',
      ohlcv.params,
      '/api/v1/ohlcv',
      { symbol: 'BTC/USDT:USDT', timeframe: '5m', data: [], count: 0 },
    ],
    ['check-freshness', freshness.params, '/api/v1/freshness', FRESH],
  ])('%s calls its path and returns the complete result', async (operation, params, path, reply) => {
    service.behaviours = [ok(reply)];
    expect(await call(rig(service), { operation, params })).toEqual({
      statusCode: 200,
      body: { success: true, data: { operation, result: reply } },
    });
    expect(service.requests.map((request) => request.url.pathname)).toEqual([path]);
  });

  it('fetch_ohlcv forwards its parameters with a default limit of 1000', async () => {
    service.behaviours = [ok({ data: [] })];
    const r = rig(service);
    await call(r, ohlcv);
    await call(r, {
      operation: 'fetch_ohlcv',
      params: {
        ...ohlcv.params,
        limit: 10_000,
        start: '2024-01-01',
        end: '2024-02-01T00:00:00Z',
        exchange: 'sim',
      },
    });
    expect(service.requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      { symbol: 'BTC/USDT:USDT', timeframe: '5m', limit: '1000' },
      {
        symbol: 'BTC/USDT:USDT',
        timeframe: '5m',
        limit: '10000',
        start: '2024-01-01',
        end: '2024-02-01T00:00:00Z',
        exchange: 'sim',
      },
    ]);
  });

  it('check-freshness forwards optional parameters except nulls', async () => {
    service.behaviours = [ok(FRESH)];
    const extras = { exchange: 'sim', stale_threshold_hours: 48, start: '2024-01-01', end: null };
    await call(rig(service), {
      operation: 'check-freshness',
      params: { symbols: ['A/B:B', 'C/B:B'], ...extras },
    });
    const query = service.requests[0]!.url.searchParams;
    expect(query.getAll('symbols')).toEqual(['A/B:B', 'C/B:B']);
    query.delete('symbols');
    expect(Object.fromEntries(query)).toEqual({
      exchange: 'sim',
      stale_threshold_hours: '48',
      start: '2024-01-01',
    });
  });

  it('check-freshness splits long symbol lists into requests of 100 and merges the results', async () => {
    const symbols = Array.from({ length: 250 }, (_, i) => `S${i}/USDT:USDT`);
    service.behaviours = [
      ok({ ...FRESH, symbols: [{ symbol: 'S0' }], exchange: 'sim' }),
      ok({
        all_fresh: false,
        stale_symbols: ['S120/USDT:USDT'],
        symbols: [{ symbol: 'S1' }],
        exchange: 'sim',
      }),
      ok({
        all_fresh: false,
        stale_symbols: ['S240/USDT:USDT'],
        symbols: [{ symbol: 'S2' }],
        exchange: 'sim',
      }),
    ];
    // Repeated symbols are requested once.
    const params = { symbols: [...symbols, ...symbols.slice(0, 60)] };
    const { body } = await call(rig(service), { operation: 'check-freshness', params });
    const sent = service.requests.map(({ url }) => url.searchParams.getAll('symbols'));
    expect(sent.map((list) => list.length)).toEqual([100, 100, 50]);
    expect(sent.flat()).toEqual(symbols);
    expect(body.data.result).toEqual({
      all_fresh: false,
      stale_symbols: ['S120/USDT:USDT', 'S240/USDT:USDT'],
      symbols: [{ symbol: 'S0' }, { symbol: 'S1' }, { symbol: 'S2' }],
      exchange: 'sim',
    });
  });

  it('requests carry the correlation ID and the service token', async () => {
    service.behaviours = [ok({ status: 'healthy' })];
    const r = rig(service, { serviceToken: 'secret-1' });
    await call(r, { operation: 'health', correlation_id: 'job-7' });
    await call(r, { operation: 'health', correlation_id: 'a b\r\nX-Evil: 1' });
    expect(service.requests.map(({ headers }) => headers['x-correlation-id'])).toEqual(['job-7', 'made-1']);
    expect(service.requests[0]!.headers.authorization).toBe('Bearer secret-1');
  });

  it('requests keep a path of the configured URL', async () => {
    service.behaviours = [ok({})];
    await call(rig(service, { baseUrl: `${service.url}/data/` }), { operation: 'health' });
    expect(service.requests[0]!.url.pathname).toBe('/data/api/v1/health');
  });
});

describe('address of data collection', () => {
  it('address is DATA_COLLECTION_URL, else service discovery, else null', () => {
    expect(resolveBaseUrl({ url: 'https://data.example', namespace: 'n' })).toBe('https://data.example');
    expect(resolveBaseUrl({ url: '', namespace: 'touchstone-dev.local' })).toBe(
      'http://data-collection.touchstone-dev.local:8002',
    );
    expect(resolveBaseUrl({})).toBeNull();
    expect(resolveBaseUrl({ namespace: '' })).toBeNull();
    expect(resolveBaseUrl({ url: 'data.example:8002' })).toBeNull();
    expect(resolveBaseUrl({ url: 'http://' })).toBeNull();
  });

  it('missing address returns 503 SVC004; check-freshness returns its safe result', async () => {
    const r = rig(service, { baseUrl: null });
    const message = 'The address of data collection is not configured';
    const error = { code: 'SVC004', message, field: '' };
    expect(await call(r, ohlcv)).toEqual({
      statusCode: 503,
      body: { success: false, data: { operation: 'fetch_ohlcv', result: null }, error },
    });
    expect(await call(r, freshness)).toEqual({
      statusCode: 503,
      body: {
        success: false,
        data: {
          operation: 'check-freshness',
          result: { all_fresh: false, stale_symbols: [], error: message },
        },
        error,
      },
    });
    expect(r.outcomes.map((outcome) => outcome.failure)).toEqual([`SVC004 ${message}`, `SVC004 ${message}`]);
  });
});

describe('data proxy retries', () => {
  it('5xx is retried after 1 s and 2 s', async () => {
    service.behaviours = [fault, fault, ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    expect(r.pauses).toEqual([1000, 2000]);
    expect(r.outcomes).toEqual([{ operation: 'check-freshness', latencyMs: 3000, correlationId: 'made-1' }]);
  });

  it('backoff doubles up to MAX_RETRIES: 1 s, 2 s, 4 s with three retries', async () => {
    service.behaviours = [fault];
    const three = rig(service, { maxRetries: 3 });
    await call(three, freshness);
    expect(three.pauses).toEqual([1000, 2000, 4000]);
    expect(service.requests).toHaveLength(4);
    const none = rig(service, { maxRetries: 0 });
    await call(none, freshness);
    expect(none.pauses).toEqual([]);
    expect(service.requests).toHaveLength(5);
  });

  it('check-freshness returns 200, success and not fresh after the last failure', async () => {
    service.behaviours = [fault];
    const r = rig(service);
    const error = 'Data collection failed: status 503, DATA005 Data storage unavailable (3 attempts)';
    expect(await call(r, freshness)).toEqual({
      statusCode: 200,
      body: {
        success: true,
        data: { operation: 'check-freshness', result: { all_fresh: false, stale_symbols: [], error } },
      },
    });
    expect(r.outcomes[0]!.failure).toBe(error);
  });

  it.each([
    ['fetch_ohlcv', ohlcv.params, { symbol: 'BTC/USDT:USDT', timeframe: '5m', data: [], count: 0 }],
    ['symbols', { exchange: 'sim' }, { exchange: 'sim', symbols: [], count: 0 }],
    ['status', {}, { status: 'unavailable' }],
    ['health', {}, { status: 'unavailable' }],
  ])('%s returns its empty shape with the error', async (operation, params, empty) => {
    service.behaviours = [{ status: 500, body: 'Internal Server Error', type: 'text/plain' }];
    expect(await call(rig(service), { operation, params })).toEqual({
      statusCode: 200,
      body: {
        success: true,
        data: { operation, result: { ...empty, error: 'Data collection failed: status 500 (3 attempts)' } },
      },
    });
  });

  it('response over the size limit of a function is a failure of the call only', async () => {
    service.behaviours = [ok({ series: ['x'.repeat(4_000_000)] })];
    const error = 'The response of data collection is longer than 4000000 characters';
    const r = rig(service);
    expect((await call(r, { operation: 'status' })).body).toEqual({
      success: true,
      data: { operation: 'status', result: { status: 'unavailable', error } },
    });
    expect(r.outcomes[0]!.failure).toBe(error);
    service.behaviours = [ok({ series: ['x'.repeat(4_000_000)] })];
    expect(await call(r, { operation: 'status', safe: false })).toMatchObject({
      statusCode: 502,
      body: { success: false, error: { code: 'SVC002', message: error } },
    });
    const long = await call(r, { operation: 'x'.repeat(6_000_000) });
    expect(long.body.data.operation).toBe('x'.repeat(100));
  });

  it.each([
    ['not JSON', { status: 200, body: '<html>', type: 'text/html' }],
    ['not an object', ok([])],
    ['without the fields of its result', ok({ all_fresh: 'true', stale_symbols: [] })],
    ['a dropped connection', 'drop' as const],
  ])('response counts as a 5xx: %s', async (_, behaviour) => {
    service.behaviours = [behaviour, ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    expect(r.pauses).toEqual([1000]);
  });

  it('refused connection counts as a 5xx', async () => {
    const gone = await FakeService.start();
    const r = rig(gone);
    await gone.stop();
    const { body } = await call(r, freshness);
    expect(body.data.result!.error).toBe('Data collection could not be reached (3 attempts)');
    expect(r.pauses).toEqual([1000, 2000]);
  });

  it('time-out counts as a 5xx', async () => {
    service.behaviours = ['hang', ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    // 59 s in total, minus 30 s and a backoff of 1 s.
    expect(r.timeouts).toEqual([30_000, 28_000]);
  });

  it.each([400, 404, 422, 429])('%i is final without a retry', async (status) => {
    service.behaviours = [{ status, body: { detail: { code: 'VAL003', message: 'Invalid timeframe' } } }];
    const r = rig(service);
    const { statusCode, body } = await call(r, freshness);
    expect(service.requests).toHaveLength(1);
    expect([statusCode, body.success]).toEqual([200, true]);
    expect(body.data.result).toEqual({
      all_fresh: false,
      stale_symbols: [],
      error: `Data collection rejected the request: status ${status}, VAL003 Invalid timeframe`,
    });
  });

  it('4xx is final when its body never arrives', async () => {
    service.behaviours = ['hang-after-400'];
    const r = rig(service, {
      fetch: async (...request) => {
        const response = await fetch(...request);
        setImmediate(() => service.onHang());
        return response;
      },
    });
    expect((await call(r, freshness)).body.data.result!.error).toBe(
      'Data collection rejected the request: status 400',
    );
    expect(service.requests).toHaveLength(1);
  });
});

describe('data proxy with safe: false', () => {
  const rejection = (code: string, field = '') => ({ detail: { code, message: 'Why', field, context: {} } });
  const unsafe = (r: Rig, event: object = freshness) => call(r, { ...event, safe: false });

  it.each([
    [400, rejection('VAL002', 'symbols'), 'VAL002', 'symbols', 400],
    [404, rejection('DATA003', 'symbol'), 'DATA003', 'symbol', 404],
    [503, rejection('DATA005'), 'DATA005', '', 503],
    [503, rejection('DATA004'), 'DATA004', '', 503],
    [500, rejection('SVC001'), 'SVC004', '', 503],
    [502, '<html>', 'SVC004', '', 503],
    [401, rejection('AUTH002'), 'SVC004', '', 503],
    [429, rejection('HTTP429'), 'SVC004', '', 503],
    [404, rejection('HTTP404'), 'SVC002', '', 502],
    [400, { detail: [{ type: 'missing' }] }, 'SVC002', '', 502],
    [400, rejection('VAL999'), 'SVC002', '', 502],
    [200, '<html>', 'SVC002', '', 502],
    [200, { all_fresh: 'yes' }, 'SVC002', '', 502],
  ])('response %i %j is mapped to %s', async (status, body, code, field, statusCode) => {
    service.behaviours = [{ status, body }];
    const r = rig(service, { maxRetries: 0 });
    const answer = await unsafe(r);
    expect(answer).toEqual({
      statusCode,
      body: {
        success: false,
        data: { operation: 'check-freshness', result: null },
        error: { code, message: expect.stringMatching(/^Data collection /), field },
      },
    });
    expect(r.outcomes[0]!.failure).toContain(code);
    expect(r.outcomes[0]!.cause).toBeUndefined();
  });

  it('unreachable service returns SVC004 after the same retries', async () => {
    service.behaviours = ['drop'];
    const r = rig(service);
    expect((await unsafe(r)).body.error).toMatchObject({
      code: 'SVC004',
      message: expect.stringContaining('(3 attempts)'),
    });
    expect(r.pauses).toEqual([1000, 2000]);
  });

  it('missing time, missing address and invalid parameters are errors', async () => {
    const late = (await rig(service).proxy(
      { ...freshness, safe: false },
      { getRemainingTimeInMillis: () => 900 },
    )) as ProxyEnvelope;
    expect([late.statusCode, late.body.error!.code]).toEqual([503, 'SVC004']);
    const lost = await unsafe(rig(service, { baseUrl: null }));
    expect([lost.statusCode, lost.body.data.result]).toEqual([503, null]);
    const empty = await unsafe(rig(service), { ...freshness, params: { symbols: [] } });
    expect([empty.statusCode, empty.body.error]).toMatchObject([400, { code: 'VAL005', field: 'symbols' }]);
  });

  it.each([[true], [null], ['false'], [0]])(
    'only safe: false disables safe results, not %j',
    async (safe) => {
      service.behaviours = [fault];
      const { statusCode, body } = await call(rig(service), { ...freshness, safe });
      expect([statusCode, body.success, body.data.result!.all_fresh]).toEqual([200, true, false]);
    },
  );
});

describe('data proxy time limits', () => {
  const context = (ms: number) => ({ getRemainingTimeInMillis: () => ms });
  const http = { requestContext: { requestId: 'gw-1' }, body: JSON.stringify(freshness) };

  it('attempts and backoff end 1 s before the remaining time', async () => {
    service.behaviours = ['hang'];
    const r = rig(service);
    const before = r.now();
    const { body } = (await r.proxy(freshness, context(60_000))) as ProxyEnvelope;
    expect(r.timeouts).toEqual([30_000, 28_000]);
    expect(r.pauses).toEqual([1000]);
    expect(r.now() - before).toBe(59_000);
    expect(body.data.result!.error).toBe('Data collection did not respond within 28 s (2 attempts)');
  });

  it('API Gateway event is completed within 27 s', async () => {
    service.behaviours = ['hang'];
    const r = rig(service);
    await r.proxy(http, context(60_000));
    expect(r.timeouts).toEqual([27_000]);
  });

  it('deadline_ms is kept for every event shape', async () => {
    service.behaviours = [fault];
    const r = rig(service);
    await r.proxy({ ...freshness, deadline_ms: 2500 }, context(60_000));
    expect([r.timeouts, r.pauses]).toEqual([[2500, 1500], [1000]]);
    await r.proxy({ ...freshness, deadline_ms: 90_000 }, context(10_000));
    expect(r.timeouts.slice(2)).toEqual([9000, 8000, 6000]);
  });

  it.each([
    [2500.5, 60_000, 2500],
    [Number.MAX_VALUE, 10_000.7, 9000],
  ])('time limit is rounded down to whole milliseconds: %d of %d', async (deadline_ms, left, first) => {
    service.behaviours = [ok(FRESH)];
    const r = rig(service);
    await r.proxy({ ...freshness, deadline_ms }, context(left));
    expect(r.timeouts[0]).toBe(first);
  });

  it('proxy responds without an attempt when no time is left', async () => {
    const r = rig(service);
    const { body } = (await r.proxy(freshness, context(900))) as ProxyEnvelope;
    expect(body.data.result!.error).toBe('No time is left to ask data collection');
    expect(service.requests).toHaveLength(0);
  });
});

describe('data proxy validation', () => {
  it.each([
    [{}, 'VAL004', 'symbol'],
    [{ symbol: null, timeframe: '5m' }, 'VAL004', 'symbol'],
    [{ symbol: 5, timeframe: '5m' }, 'VAL002', 'symbol'],
    [{ symbol: 'BTCUSDT', timeframe: '5m' }, 'VAL002', 'symbol'],
    [{ symbol: `${'A'.repeat(49)}/U`, timeframe: '5m' }, 'VAL002', 'symbol'],
    [{ symbol: 'A/B' }, 'VAL004', 'timeframe'],
    [{ symbol: 'A/B', timeframe: '5' }, 'VAL003', 'timeframe'],
    [{ symbol: 'A/B', timeframe: '5M' }, 'VAL003', 'timeframe'],
    [{ symbol: 'A/B', timeframe: '5m\n' }, 'VAL003', 'timeframe'],
    [{ symbol: 'A/B', timeframe: '5m', limit: 0 }, 'VAL005', 'limit'],
    [{ symbol: 'A/B', timeframe: '5m', limit: 10_001 }, 'VAL005', 'limit'],
    [{ symbol: 'A/B', timeframe: '5m', limit: 1.5 }, 'VAL005', 'limit'],
    [{ symbol: 'A/B', timeframe: '5m', limit: '100' }, 'VAL005', 'limit'],
    [{ symbol: 'A/B', timeframe: '5m', start: 'yesterday' }, 'VAL001', 'start'],
    [{ symbol: 'A/B', timeframe: '5m', end: 1_700_000_000_000 }, 'VAL001', 'end'],
    [{ symbol: 'A/B', timeframe: '5m', start: '2024-02-01', end: '2024-01-01' }, 'VAL001', 'start'],
    [{ symbol: 'A/B', timeframe: '5m', exchange: ['sim'] }, 'VAL005', 'exchange'],
    ['text', 'VAL005', 'params'],
  ])('fetch_ohlcv rejects %j with 400 %s at %s', async (params, code, field) => {
    const { statusCode, body } = await call(rig(service), { operation: 'fetch_ohlcv', params });
    expect(statusCode).toBe(400);
    expect(body).toEqual({
      success: false,
      data: { operation: 'fetch_ohlcv', result: null },
      error: { code, message: expect.any(String), field },
    });
    expect(service.requests).toHaveLength(0);
  });

  it('fetch_ohlcv accepts values at their limits', async () => {
    service.behaviours = [ok({ data: [] })];
    for (const params of [
      { symbol: `${'A'.repeat(48)}/U`, timeframe: '1440m', limit: 1 },
      { symbol: '/', timeframe: '1d', limit: 10_000 },
    ]) {
      expect((await call(rig(service), { operation: 'fetch_ohlcv', params })).statusCode).toBe(200);
    }
  });

  it.each([
    [{ operation: 'drop_tables' }, 'drop_tables', 'VAL005'],
    [{ operation: 'toString' }, 'toString', 'VAL005'],
    [{ operation: 7 }, '', 'VAL005'],
    [{}, '', 'VAL004'],
    [null, '', 'VAL004'],
    ['check-freshness', '', 'VAL004'],
  ])('rejects the operation of %j', async (event, operation, code) => {
    const r = rig(service);
    const { statusCode, body } = await call(r, event);
    expect(statusCode).toBe(400);
    expect(body).toMatchObject({
      success: false,
      data: { operation, result: null },
      error: { code, field: 'operation' },
    });
    expect(r.outcomes[0]!.operation).toBe('unknown');
  });

  it.each([[undefined], [[]], ['BTC/USDT:USDT'], [[1]], [['BTC/USDT:USDT', '']]])(
    'check-freshness of symbols %j returns its safe result',
    async (symbols) => {
      const { statusCode, body } = await call(rig(service), {
        operation: 'check-freshness',
        params: { symbols },
      });
      expect([statusCode, body.success]).toEqual([200, true]);
      expect(body.data.result).toEqual({
        all_fresh: false,
        stale_symbols: [],
        error: 'params.symbols must be a list of at least one symbol',
      });
      expect(service.requests).toHaveLength(0);
    },
  );
});

describe('data proxy events of API Gateway', () => {
  const event = (body: string | null, extra: object = {}) => ({
    requestContext: { requestId: 'gw-1' },
    headers: { 'x-correlation-ID': 'caller-9' },
    body,
    ...extra,
  });

  it('proxy reads operation and params from the body and returns a string body', async () => {
    service.behaviours = [ok(FRESH)];
    const response = (await rig(service).proxy(event(JSON.stringify(freshness)))) as ProxyHttpResponse;
    expect(response).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': 'caller-9' },
      body: JSON.stringify({ success: true, data: { operation: 'check-freshness', result: FRESH } }),
    });
    expect(service.requests[0]!.headers['x-correlation-id']).toBe('caller-9');
  });

  it("proxy reads a base64 body and defaults the correlation ID to the gateway's", async () => {
    service.behaviours = [ok({ status: 'healthy' })];
    const body = Buffer.from(JSON.stringify({ operation: 'health' })).toString('base64');
    const response = (await rig(service).proxy(
      event(body, { isBase64Encoded: true, headers: null }),
    )) as ProxyHttpResponse;
    expect([response.statusCode, response.headers['X-Correlation-ID']]).toEqual([200, 'gw-1']);
  });

  it.each([[null], [''], ['{'], ['[]'], ['"health"']])('proxy rejects body %j with 400', async (body) => {
    const response = (await rig(service).proxy(event(body))) as ProxyHttpResponse;
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ success: false, data: { result: null } });
  });

  it('proxy ignores operation and params outside the body', async () => {
    const response = (await rig(service).proxy(event(null, freshness))) as ProxyHttpResponse;
    expect(response.statusCode).toBe(400);
  });
});

it('proxy never throws and returns its response shape for any event', async () => {
  const names = ['health', 'fetch_ohlcv', 'symbols', 'status', 'check-freshness', '__proto__', ''];
  const params = fc.oneof(
    fc.jsonValue(),
    fc.record({
      symbols: fc.oneof(fc.constant(['A/B:B']), fc.jsonValue()),
      symbol: fc.jsonValue(),
      timeframe: fc.jsonValue(),
      limit: fc.jsonValue(),
    }),
  );
  const input = fc.record(
    { operation: fc.oneof(fc.constantFrom(...names), fc.jsonValue()), params, deadline_ms: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const event = fc.oneof(
    fc.jsonValue(),
    input,
    fc.record({
      requestContext: fc.oneof(fc.constant({}), fc.jsonValue()),
      headers: fc.jsonValue(),
      body: fc.oneof(
        input.map((value) => JSON.stringify(value)),
        fc.jsonValue(),
      ),
    }),
  );
  const upstream = fc.constantFrom<(url: string) => Promise<Response>>(
    async () => Response.json(FRESH),
    async () => Response.json(null),
    async () => new Response('', { status: 500 }),
    async () => new Response('no', { status: 404 }),
    async () => Promise.reject('not even an error'),
  );
  await fc.assert(
    fc.asyncProperty(event, upstream, async (given, reply) => {
      const r = rig(service, { fetch: reply as unknown as typeof fetch });
      const answer = await r.proxy(given);
      const body = typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
      expect([200, 400]).toContain(answer.statusCode);
      expect(body.success).toBe(answer.statusCode === 200);
      expect(typeof body.data.operation).toBe('string');
      expect(r.outcomes).toHaveLength(1);
      if (body.data.operation === 'check-freshness') {
        expect(typeof body.data.result.all_fresh).toBe('boolean');
        expect(Array.isArray(body.data.result.stale_symbols)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
