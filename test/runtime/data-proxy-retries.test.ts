import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ProxyEnvelope } from '#runtime/data-proxy/envelope.ts';
import { call, FRESH, fakeServiceFixture, freshness, ohlcv, ok } from './data-proxy-fixture.ts';
import { FakeService, type Rig, rig } from './data-proxy-server.ts';

const fixture = fakeServiceFixture();
const fault = { status: 503, body: { detail: { code: 'DATA005', message: 'Data storage unavailable' } } };

describe('data proxy retries', () => {
  it('5xx is retried after 1 s and 2 s', async () => {
    fixture.service.behaviours = [fault, fault, ok(FRESH)];
    const r = rig(fixture.service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    expect(r.pauses).toEqual([1000, 2000]);
    expect(r.outcomes).toEqual([{ operation: 'check-freshness', latencyMs: 3000, correlationId: 'made-1' }]);
  });

  it('backoff doubles up to MAX_RETRIES: 1 s, 2 s, 4 s with three retries', async () => {
    fixture.service.behaviours = [fault];
    const three = rig(fixture.service, { maxRetries: 3 });
    await call(three, freshness);
    expect(three.pauses).toEqual([1000, 2000, 4000]);
    expect(fixture.service.requests).toHaveLength(4);
    const none = rig(fixture.service, { maxRetries: 0 });
    await call(none, freshness);
    expect(none.pauses).toEqual([]);
    expect(fixture.service.requests).toHaveLength(5);
  });

  it('check-freshness returns 200, success and not fresh after the last failure', async () => {
    fixture.service.behaviours = [fault];
    const r = rig(fixture.service);
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
    fixture.service.behaviours = [{ status: 500, body: 'Internal Server Error', type: 'text/plain' }];
    expect(await call(rig(fixture.service), { operation, params })).toEqual({
      statusCode: 200,
      body: {
        success: true,
        data: { operation, result: { ...empty, error: 'Data collection failed: status 500 (3 attempts)' } },
      },
    });
  });

  it('response over the size limit of a function is a failure of the call only', async () => {
    fixture.service.behaviours = [ok({ series: ['x'.repeat(4_000_000)] })];
    const error = 'The response of data collection is longer than 4000000 bytes';
    const r = rig(fixture.service);
    expect((await call(r, { operation: 'status' })).body).toEqual({
      success: true,
      data: { operation: 'status', result: { status: 'unavailable', error } },
    });
    expect(r.outcomes[0]!.failure).toBe(error);
    fixture.service.behaviours = [ok({ series: ['x'.repeat(4_000_000)] })];
    expect(await call(r, { operation: 'status', safe: false })).toMatchObject({
      statusCode: 502,
      body: { success: false, error: { code: 'SVC002', message: error } },
    });
    const long = await call(r, { operation: 'x'.repeat(6_000_000) });
    expect(long.body.data.operation).toBe('x'.repeat(100));
  });

  it('response is read to the limit only, also when it is compressed', async () => {
    const bomb = gzipSync(`{"a":"${'0'.repeat(100_000_000)}"}`);
    fixture.service.behaviours = [{ status: 200, body: bomb, encoding: 'gzip' }];
    const before = process.resourceUsage().maxRSS;
    expect((await call(rig(fixture.service), { operation: 'status' })).body.data.result).toEqual({
      status: 'unavailable',
      error: 'The response of data collection is longer than 4000000 bytes',
    });
    // kB: whole, it would be 100 MB of text and more of parts.
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(90_000);
  });

  it.each([
    ['not JSON', { status: 200, body: '<html>', type: 'text/html' }],
    ['not an object', ok([])],
    ['without the fields of its result', ok({ all_fresh: 'true', stale_symbols: [] })],
    ['a dropped connection', 'drop' as const],
  ])('response counts as a 5xx: %s', async (_, behaviour) => {
    fixture.service.behaviours = [behaviour, ok(FRESH)];
    const r = rig(fixture.service);
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
    fixture.service.behaviours = ['hang', ok(FRESH)];
    const r = rig(fixture.service);
    expect((await call(r, freshness)).body.data.result).toEqual(FRESH);
    // 59 s in total, minus 30 s and a backoff of 1 s.
    expect(r.timeouts).toEqual([30_000, 28_000]);
  });

  it.each([400, 404, 422, 429])('%i is final without a retry', async (status) => {
    fixture.service.behaviours = [
      { status, body: { detail: { code: 'VAL003', message: 'Invalid timeframe' } } },
    ];
    const r = rig(fixture.service);
    const { statusCode, body } = await call(r, freshness);
    expect(fixture.service.requests).toHaveLength(1);
    expect([statusCode, body.success]).toEqual([200, true]);
    expect(body.data.result).toEqual({
      all_fresh: false,
      stale_symbols: [],
      error: `Data collection rejected the request: status ${status}, VAL003 Invalid timeframe`,
    });
  });

  it('4xx is final when its body never arrives', async () => {
    fixture.service.behaviours = ['hang-after-400'];
    const r = rig(fixture.service, {
      fetch: async (...request) => {
        const response = await fetch(...request);
        setImmediate(() => fixture.service.onHang());
        return response;
      },
    });
    expect((await call(r, freshness)).body.data.result!.error).toBe(
      'Data collection rejected the request: status 400',
    );
    expect(fixture.service.requests).toHaveLength(1);
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
    fixture.service.behaviours = [{ status, body }];
    const r = rig(fixture.service, { maxRetries: 0 });
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
    fixture.service.behaviours = ['drop'];
    const r = rig(fixture.service);
    expect((await unsafe(r)).body.error).toMatchObject({
      code: 'SVC004',
      message: expect.stringContaining('(3 attempts)'),
    });
    expect(r.pauses).toEqual([1000, 2000]);
  });

  it('missing time, missing address and invalid parameters are errors', async () => {
    const late = (await rig(fixture.service).proxy(
      { ...freshness, safe: false },
      { getRemainingTimeInMillis: () => 900 },
    )) as ProxyEnvelope;
    expect([late.statusCode, late.body.error!.code]).toEqual([503, 'SVC004']);
    const lost = await unsafe(rig(fixture.service, { baseUrl: null }));
    expect([lost.statusCode, lost.body.data.result]).toEqual([503, null]);
    const empty = await unsafe(rig(fixture.service), { ...freshness, params: { symbols: [] } });
    expect([empty.statusCode, empty.body.error]).toMatchObject([400, { code: 'VAL005', field: 'symbols' }]);
  });

  it.each([[true], [null], ['false'], [0]])(
    'only safe: false disables safe results, not %j',
    async (safe) => {
      fixture.service.behaviours = [fault];
      const { statusCode, body } = await call(rig(fixture.service), { ...freshness, safe });
      expect([statusCode, body.success, body.data.result!.all_fresh]).toEqual([200, true, false]);
    },
  );
});

describe('data proxy time limits', () => {
  const context = (ms: number) => ({ getRemainingTimeInMillis: () => ms });
  const http = { requestContext: { requestId: 'gw-1' }, body: JSON.stringify(freshness) };

  it('attempts and backoff end 1 s before the remaining time', async () => {
    fixture.service.behaviours = ['hang'];
    const r = rig(fixture.service);
    const before = r.now();
    const { body } = (await r.proxy(freshness, context(60_000))) as ProxyEnvelope;
    expect(r.timeouts).toEqual([30_000, 28_000]);
    expect(r.pauses).toEqual([1000]);
    expect(r.now() - before).toBe(59_000);
    expect(body.data.result!.error).toBe('Data collection did not respond within 28 s (2 attempts)');
  });

  it('API Gateway event is completed within 27 s', async () => {
    fixture.service.behaviours = ['hang'];
    const r = rig(fixture.service);
    await r.proxy(http, context(60_000));
    expect(r.timeouts).toEqual([27_000]);
  });

  it('deadline_ms is kept for every event shape', async () => {
    fixture.service.behaviours = [fault];
    const r = rig(fixture.service);
    await r.proxy({ ...freshness, deadline_ms: 2500 }, context(60_000));
    expect([r.timeouts, r.pauses]).toEqual([[2500, 1500], [1000]]);
    await r.proxy({ ...freshness, deadline_ms: 90_000 }, context(10_000));
    expect(r.timeouts.slice(2)).toEqual([9000, 8000, 6000]);
  });

  it.each([
    [2500.5, 60_000, 2500],
    [Number.MAX_VALUE, 10_000.7, 9000],
  ])('time limit is rounded down to whole milliseconds: %d of %d', async (deadline_ms, left, first) => {
    fixture.service.behaviours = [ok(FRESH)];
    const r = rig(fixture.service);
    await r.proxy({ ...freshness, deadline_ms }, context(left));
    expect(r.timeouts[0]).toBe(first);
  });

  it('proxy responds without an attempt when no time is left', async () => {
    const r = rig(fixture.service);
    const { body } = (await r.proxy(freshness, context(900))) as ProxyEnvelope;
    expect(body.data.result!.error).toBe('No time is left to ask data collection');
    expect(fixture.service.requests).toHaveLength(0);
  });
});
