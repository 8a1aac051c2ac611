import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveBaseUrl } from '#runtime/data-proxy/create-data-proxy.ts';
import type { ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import { call, FRESH, fakeServiceFixture, freshness, ohlcv, ok } from './data-proxy-fixture.ts';
import { rig } from './data-proxy-server.ts';

const fixture = fakeServiceFixture();

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
    fixture.service.behaviours = [ok(reply)];
    expect(await call(rig(fixture.service), { operation, params })).toEqual({
      statusCode: 200,
      body: { success: true, data: { operation, result: reply } },
    });
    expect(fixture.service.requests.map((request) => request.url.pathname)).toEqual([path]);
  });

  it('fetch_ohlcv forwards its parameters with a default limit of 1000', async () => {
    fixture.service.behaviours = [ok({ data: [] })];
    const r = rig(fixture.service);
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
    expect(fixture.service.requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
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
    fixture.service.behaviours = [ok(FRESH)];
    const extras = {
      exchange: 'sim',
      trading_mode: 'spot',
      stale_threshold_hours: 48,
      start: '2024-01-01',
      end: null,
    };
    await call(rig(fixture.service), {
      operation: 'check-freshness',
      params: { symbols: ['A/B:B', 'C/B:B'], ...extras },
    });
    const query = fixture.service.requests[0]!.url.searchParams;
    expect(query.getAll('symbols')).toEqual(['A/B:B', 'C/B:B']);
    query.delete('symbols');
    expect(Object.fromEntries(query)).toEqual({
      exchange: 'sim',
      trading_mode: 'spot',
      stale_threshold_hours: '48',
      start: '2024-01-01',
    });
  });

  it('check-freshness splits long symbol lists into requests of 100 and merges the results', async () => {
    const symbols = Array.from({ length: 250 }, (_, i) => `S${i}/USDT:USDT`);
    fixture.service.behaviours = [
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
    const { body } = await call(rig(fixture.service), { operation: 'check-freshness', params });
    const sent = fixture.service.requests.map(({ url }) => url.searchParams.getAll('symbols'));
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
    fixture.service.behaviours = [ok({ status: 'healthy' })];
    const r = rig(fixture.service, { serviceToken: 'secret-1' });
    await call(r, { operation: 'health', correlation_id: 'job-7' });
    await call(r, { operation: 'health', correlation_id: 'a b\r\nX-Evil: 1' });
    expect(fixture.service.requests.map(({ headers }) => headers['x-correlation-id'])).toEqual([
      'job-7',
      'made-1',
    ]);
    expect(fixture.service.requests[0]!.headers.authorization).toBe('Bearer secret-1');
  });

  it('requests keep a path of the configured URL', async () => {
    fixture.service.behaviours = [ok({})];
    await call(rig(fixture.service, { baseUrl: `${fixture.service.url}/data/` }), { operation: 'health' });
    expect(fixture.service.requests[0]!.url.pathname).toBe('/data/api/v1/health');
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
    const r = rig(fixture.service, { baseUrl: null });
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
    const { statusCode, body } = await call(rig(fixture.service), { operation: 'fetch_ohlcv', params });
    expect(statusCode).toBe(400);
    expect(body).toEqual({
      success: false,
      data: { operation: 'fetch_ohlcv', result: null },
      error: { code, message: expect.any(String), field },
    });
    expect(fixture.service.requests).toHaveLength(0);
  });

  it('fetch_ohlcv accepts values at their limits', async () => {
    fixture.service.behaviours = [ok({ data: [] })];
    for (const params of [
      { symbol: `${'A'.repeat(48)}/U`, timeframe: '1440m', limit: 1 },
      { symbol: '/', timeframe: '1d', limit: 10_000 },
    ]) {
      expect((await call(rig(fixture.service), { operation: 'fetch_ohlcv', params })).statusCode).toBe(200);
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
    const r = rig(fixture.service);
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
      const { statusCode, body } = await call(rig(fixture.service), {
        operation: 'check-freshness',
        params: { symbols },
      });
      expect([statusCode, body.success]).toEqual([200, true]);
      expect(body.data.result).toEqual({
        all_fresh: false,
        stale_symbols: [],
        error: 'params.symbols must be a list of at least one symbol',
      });
      expect(fixture.service.requests).toHaveLength(0);
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
    fixture.service.behaviours = [ok(FRESH)];
    const response = (await rig(fixture.service).proxy(
      event(JSON.stringify(freshness)),
    )) as ProxyHttpResponse;
    expect(response).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': 'caller-9' },
      body: JSON.stringify({ success: true, data: { operation: 'check-freshness', result: FRESH } }),
    });
    expect(fixture.service.requests[0]!.headers['x-correlation-id']).toBe('caller-9');
  });

  it("proxy reads a base64 body and defaults the correlation ID to the gateway's", async () => {
    fixture.service.behaviours = [ok({ status: 'healthy' })];
    const body = Buffer.from(JSON.stringify({ operation: 'health' })).toString('base64');
    const response = (await rig(fixture.service).proxy(
      event(body, { isBase64Encoded: true, headers: null }),
    )) as ProxyHttpResponse;
    expect([response.statusCode, response.headers['X-Correlation-ID']]).toEqual([200, 'gw-1']);
  });

  it.each([[null], [''], ['{'], ['[]'], ['"health"']])('proxy rejects body %j with 400', async (body) => {
    const response = (await rig(fixture.service).proxy(event(body))) as ProxyHttpResponse;
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ success: false, data: { result: null } });
  });

  it('proxy ignores operation and params outside the body', async () => {
    const response = (await rig(fixture.service).proxy(event(null, freshness))) as ProxyHttpResponse;
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
      const r = rig(fixture.service, { fetch: reply as unknown as typeof fetch });
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
