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

describe('forwarding', () => {
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
  ])('%s goes to its path and comes back whole', async (operation, params, path, reply) => {
    service.behaviours = [ok(reply)];
    expect(await call(rig(service), { operation, params })).toEqual({
      statusCode: 200,
      body: { success: true, data: { operation, result: reply } },
    });
    expect(service.requests.map((request) => request.url.pathname)).toEqual([path]);
  });

  it('sends the parameters of fetch_ohlcv, the limit of 1000 by default', async () => {
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

  it('forwards the extras of check-freshness when given, and nulls not at all', async () => {
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

  it('splits a long symbol list into requests of 100 and joins the answers', async () => {
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
    // Those that are given twice are asked for once.
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

  it('sends the correlation id and the service token', async () => {
    service.behaviours = [ok({ status: 'healthy' })];
    const r = rig(service, { serviceToken: 'secret-1' });
    await call(r, { operation: 'health', correlation_id: 'job-7' });
    await call(r, { operation: 'health', correlation_id: 'a b\r\nX-Evil: 1' });
    expect(service.requests.map(({ headers }) => headers['x-correlation-id'])).toEqual(['job-7', 'made-1']);
    expect(service.requests[0]!.headers.authorization).toBe('Bearer secret-1');
  });

  it('keeps a path in the configured URL', async () => {
    service.behaviours = [ok({})];
    await call(rig(service, { baseUrl: `${service.url}/data/` }), { operation: 'health' });
    expect(service.requests[0]!.url.pathname).toBe('/data/api/v1/health');
  });
});

describe('the address of the service', () => {
  it('is DATA_COLLECTION_URL as is, else service discovery, else nothing', () => {
    expect(resolveBaseUrl({ url: 'https://data.example', namespace: 'n' })).toBe('https://data.example');
    expect(resolveBaseUrl({ url: '', namespace: 'touchstone-dev.local' })).toBe(
      'http://data-collection.touchstone-dev.local:8002',
    );
    expect(resolveBaseUrl({})).toBeNull();
    expect(resolveBaseUrl({ namespace: '' })).toBeNull();
    expect(resolveBaseUrl({ url: 'data.example:8002' })).toBeNull();
    expect(resolveBaseUrl({ url: 'http://' })).toBeNull();
  });

  it('unresolved is 503 SVC004; check-freshness keeps its safe result', async () => {
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

describe('retries', () => {
  it('a 5xx is tried again after 1 s and 2 s', async () => {
    service.behaviours = [fault, fault, ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    expect(r.pauses).toEqual([1000, 2000]);
    expect(r.outcomes).toEqual([{ operation: 'check-freshness', latencyMs: 3000, correlationId: 'made-1' }]);
  });

  it('goes on doubling: 1 s, 2 s, 4 s with three retries, none with none', async () => {
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

  it('after the last failure check-freshness is safe: 200, success, not fresh', async () => {
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
  ])('%s gives its empty shape with the error', async (operation, params, empty) => {
    service.behaviours = [{ status: 500, body: 'Internal Server Error', type: 'text/plain' }];
    expect(await call(rig(service), { operation, params })).toEqual({
      statusCode: 200,
      body: {
        success: true,
        data: { operation, result: { ...empty, error: 'Data collection failed: status 500 (3 attempts)' } },
      },
    });
  });

  it('an answer longer than a function may return is a failure, not the end of the function', async () => {
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
  ])('%s counts as a 5xx', async (_, behaviour) => {
    service.behaviours = [behaviour, ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    expect(r.pauses).toEqual([1000]);
  });

  it('a refused connection counts as a 5xx', async () => {
    const gone = await FakeService.start();
    const r = rig(gone);
    await gone.stop();
    const { body } = await call(r, freshness);
    expect(body.data.result!.error).toBe('Data collection could not be reached (3 attempts)');
    expect(r.pauses).toEqual([1000, 2000]);
  });

  it('a time-out counts as a 5xx', async () => {
    service.behaviours = ['hang', ok(FRESH)];
    const r = rig(service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    // 59 s in all, 30 s and a pause of 1 s are gone.
    expect(r.timeouts).toEqual([30_000, 28_000]);
  });

  it.each([400, 404, 422, 429])('a %i is final at once', async (status) => {
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

  it('a 4xx stands even when its body never comes', async () => {
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

describe('errors instead of safe results, when asked for', () => {
  const refusal = (code: string, field = '') => ({ detail: { code, message: 'Why', field, context: {} } });
  const unsafe = (r: Rig, event: object = freshness) => call(r, { ...event, safe: false });

  it.each([
    [400, refusal('VAL002', 'symbols'), 'VAL002', 'symbols', 400],
    [404, refusal('DATA003', 'symbol'), 'DATA003', 'symbol', 404],
    [503, refusal('DATA005'), 'DATA005', '', 503],
    [503, refusal('DATA004'), 'DATA004', '', 503],
    [500, refusal('SVC001'), 'SVC004', '', 503],
    [502, '<html>', 'SVC004', '', 503],
    [401, refusal('AUTH002'), 'SVC004', '', 503],
    [429, refusal('HTTP429'), 'SVC004', '', 503],
    [404, refusal('HTTP404'), 'SVC002', '', 502],
    [400, { detail: [{ type: 'missing' }] }, 'SVC002', '', 502],
    [400, refusal('VAL999'), 'SVC002', '', 502],
    [200, '<html>', 'SVC002', '', 502],
    [200, { all_fresh: 'yes' }, 'SVC002', '', 502],
  ])('a reply of %i %j is %s', async (status, body, code, field, statusCode) => {
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

  it('a service that is gone is SVC004, after the same retries', async () => {
    service.behaviours = ['drop'];
    const r = rig(service);
    expect((await unsafe(r)).body.error).toMatchObject({
      code: 'SVC004',
      message: expect.stringContaining('(3 attempts)'),
    });
    expect(r.pauses).toEqual([1000, 2000]);
  });

  it('too little time, no address and parameters that cannot be forwarded are errors too', async () => {
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

  it.each([[true], [null], ['false'], [0]])('only a false boolean asks for them, not %j', async (safe) => {
    service.behaviours = [fault];
    const { statusCode, body } = await call(rig(service), { ...freshness, safe });
    expect([statusCode, body.success, body.data.result!.all_fresh]).toEqual([200, true, false]);
  });
});

describe('time', () => {
  const context = (ms: number) => ({ getRemainingTimeInMillis: () => ms });
  const http = { requestContext: { requestId: 'gw-1' }, body: JSON.stringify(freshness) };

  it('no attempt or pause runs past the remaining time less 1 s', async () => {
    service.behaviours = ['hang'];
    const r = rig(service);
    const before = r.now();
    const { body } = (await r.proxy(freshness, context(60_000))) as ProxyEnvelope;
    expect(r.timeouts).toEqual([30_000, 28_000]);
    expect(r.pauses).toEqual([1000]);
    expect(r.now() - before).toBe(59_000);
    expect(body.data.result!.error).toBe('Data collection did not respond within 28 s (2 attempts)');
  });

  it('API Gateway gets its answer within 27 s', async () => {
    service.behaviours = ['hang'];
    const r = rig(service);
    await r.proxy(http, context(60_000));
    expect(r.timeouts).toEqual([27_000]);
  });

  it('deadline_ms is kept, whatever the shape', async () => {
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
  ])('a part of a millisecond is no time that a timer takes: %d of %d', async (deadline_ms, left, first) => {
    service.behaviours = [ok(FRESH)];
    const r = rig(service);
    await r.proxy({ ...freshness, deadline_ms }, context(left));
    expect(r.timeouts[0]).toBe(first);
  });

  it('makes no attempt without time, and still answers', async () => {
    const r = rig(service);
    const { body } = (await r.proxy(freshness, context(900))) as ProxyEnvelope;
    expect(body.data.result!.error).toBe('No time is left to ask data collection');
    expect(service.requests).toHaveLength(0);
  });
});

describe('validation', () => {
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
  ])('fetch_ohlcv %j is 400 %s at %s', async (params, code, field) => {
    const { statusCode, body } = await call(rig(service), { operation: 'fetch_ohlcv', params });
    expect(statusCode).toBe(400);
    expect(body).toEqual({
      success: false,
      data: { operation: 'fetch_ohlcv', result: null },
      error: { code, message: expect.any(String), field },
    });
    expect(service.requests).toHaveLength(0);
  });

  it('accepts what is just allowed', async () => {
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
  ])('operation of %j is refused', async (event, operation, code) => {
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
    'check-freshness of symbols %j is safe, like a 4xx of the service',
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

describe('API Gateway', () => {
  const event = (body: string | null, extra: object = {}) => ({
    requestContext: { requestId: 'gw-1' },
    headers: { 'x-correlation-ID': 'caller-9' },
    body,
    ...extra,
  });

  it('reads operation and params from the body and answers with strings', async () => {
    service.behaviours = [ok(FRESH)];
    const response = (await rig(service).proxy(event(JSON.stringify(freshness)))) as ProxyHttpResponse;
    expect(response).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': 'caller-9' },
      body: JSON.stringify({ success: true, data: { operation: 'check-freshness', result: FRESH } }),
    });
    expect(service.requests[0]!.headers['x-correlation-id']).toBe('caller-9');
  });

  it('reads a base64 body, and takes the id of the gateway without one of the caller', async () => {
    service.behaviours = [ok({ status: 'healthy' })];
    const body = Buffer.from(JSON.stringify({ operation: 'health' })).toString('base64');
    const response = (await rig(service).proxy(
      event(body, { isBase64Encoded: true, headers: null }),
    )) as ProxyHttpResponse;
    expect([response.statusCode, response.headers['X-Correlation-ID']]).toEqual([200, 'gw-1']);
  });

  it.each([[null], [''], ['{'], ['[]'], ['"health"']])('body %j is 400', async (body) => {
    const response = (await rig(service).proxy(event(body))) as ProxyHttpResponse;
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ success: false, data: { result: null } });
  });

  it('does not take operation and params from outside the body', async () => {
    const response = (await rig(service).proxy(event(null, freshness))) as ProxyHttpResponse;
    expect(response.statusCode).toBe(400);
  });
});

it('never throws and always answers in its shape, whatever it is given', async () => {
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
