import { beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import { at, BTC, ETH, HOUR, type Market, untilAborted } from '../domain/data/market.ts';
import { post } from '../support/backend.ts';
import { COLLECTION, dataCollectionFixture, hours } from './data-collection-fixture.ts';

const fixture = dataCollectionFixture();
const { lines, create, store, get, ohlcv, times, start, cancel, ended } = fixture;

describe('GET /api/v1/ohlcv', () => {
  beforeEach(() => store(BTC, '1h', hours('2024-01-31T20:00', '2024-02-01T04:00'), HOUR));

  it('ohlcv returns candles with ISO times', async () => {
    expect((await ohlcv('&limit=1')).body).toEqual({
      exchange: 'test',
      symbol: BTC,
      timeframe: '1h',
      data: [
        // 19,754 days and 3 hours since the epoch are 474,099 hours.
        { timestamp: '2024-02-01T03:00:00.000Z', open: 1099, high: 1101, low: 1097, close: 1100, volume: 5 },
      ],
      count: 1,
    });
  });

  it('ohlcv returns the newest candles without a start and the first with one, ascending', async () => {
    expect(await times('&limit=3')).toEqual(['2024-02-01T01:00', '2024-02-01T02:00', '2024-02-01T03:00']);
    expect(await times('&limit=2&end=2024-02-01')).toEqual(['2024-01-31T22:00', '2024-01-31T23:00']);
    expect(await times('&limit=2&start=2024-01-31T23:00:00Z')).toEqual([
      '2024-01-31T23:00',
      '2024-02-01T00:00',
    ]);
    expect(await times('&start=2024-01-31T23:30&end=2024-02-01T02:00')).toEqual([
      '2024-02-01T00:00',
      '2024-02-01T01:00',
    ]);
    expect(await times('')).toHaveLength(8);
  });

  it('ohlcv returns no candles outside the stored range', async () => {
    expect(await times('&start=2024-03-01')).toEqual([]);
    expect(await times('&end=2024-01-01')).toEqual([]);
    expect(await times('&start=2020-01-01&end=2020-02-01')).toEqual([]);
    // Within a month with stored candles.
    expect(await times('&start=2024-02-01T12:00')).toEqual([]);
    expect(await times('&start=2024-01-02&end=2024-01-03')).toEqual([]);
  });

  it('ohlcv spans a gap from either side', async () => {
    await store(BTC, '1h', hours('2024-05-01T00:00', '2024-05-01T02:00'), HOUR);
    expect(await times('&limit=4')).toEqual([
      '2024-02-01T02:00',
      '2024-02-01T03:00',
      '2024-05-01T00:00',
      '2024-05-01T01:00',
    ]);
    expect(await times('&limit=3&start=2024-02-01T03:00')).toEqual([
      '2024-02-01T03:00',
      '2024-05-01T00:00',
      '2024-05-01T01:00',
    ]);
  });

  const encoded = encodeURIComponent(BTC);
  it.each([
    ['timeframe=1h', 400, 'VAL004', 'symbol'],
    [`symbol=${encoded}`, 400, 'VAL004', 'timeframe'],
    ['symbol=BTCUSDT&timeframe=1h', 400, 'VAL002', 'symbol'],
    [`symbol=${encoded}&timeframe=2h`, 400, 'VAL003', 'timeframe'],
    [`symbol=${encoded}&timeframe=1h&exchange=%23collections`, 400, 'VAL005', 'exchange'],
    [`symbol=${encoded}&timeframe=1h&limit=0`, 400, 'VAL005', 'limit'],
    [`symbol=${encoded}&timeframe=1h&limit=10001`, 400, 'VAL005', 'limit'],
    [`symbol=${encoded}&timeframe=1h&limit=ten`, 400, 'VAL005', 'limit'],
    [`symbol=${encoded}&timeframe=1h&start=2024-13-01`, 400, 'VAL001', 'start'],
    [`symbol=${encoded}&timeframe=1h&start=2024-02-02&end=2024-02-01`, 400, 'VAL001', 'start'],
    [`symbol=${encoded}&timeframe=5m`, 404, 'DATA003', 'symbol'],
    [`symbol=${encoded}&timeframe=1h&exchange=other`, 404, 'DATA003', 'symbol'],
  ])('ohlcv rejects ?%s with %i %s', async (query, status, code, field) => {
    expect(await get(`/api/v1/ohlcv?${query}`)).toMatchObject({ status, body: { detail: { code, field } } });
  });
});

describe('stored market data', () => {
  beforeEach(async () => {
    await store(ETH, '1h', hours('2024-02-01T00:00', '2024-02-02T00:00'), HOUR);
    await store(BTC, '1h', [...hours('2024-02-01T00:00', '2024-02-01T05:00'), at('2024-02-01T07:00')], HOUR);
    await store(BTC, '1d', [at('2024-03-01')], 24 * HOUR);
  });

  it('symbols lists each symbol once', async () => {
    expect(await get('/api/v1/symbols')).toEqual({
      status: 200,
      body: { exchange: 'test', symbols: [BTC, ETH], count: 2 },
    });
    expect((await get('/api/v1/symbols?exchange=other')).body).toEqual({
      exchange: 'other',
      symbols: [],
      count: 0,
    });
  });

  it('instruments keep the rules of before, and are returned as of a time', async () => {
    const record = (collected_at: string, price_tick: number) =>
      fixture.market.instruments.record('test', BTC, {
        amount_step: 0.001,
        min_amount: null,
        max_amount: null,
        min_cost: 100,
        max_cost: null,
        contract_size: 1,
        price_tick,
        collected_at,
      });
    const [first, same, changed] = ['2024-03-01', '2024-03-02', '2024-03-03'].map(
      (day) => `${day}T00:00:00.000Z`,
    );
    await record(first!, 0.1);
    await record(same!, 0.1);
    await record(changed!, 0.5);
    expect((await get(`/api/v1/instruments/history?symbol=${encodeURIComponent(BTC)}`)).body).toMatchObject({
      symbol: BTC,
      items: [
        { valid_from: first, price_tick: 0.1 },
        { valid_from: changed, price_tick: 0.5 },
      ],
    });
    const ticks = async (query: string) => {
      const { instruments } = (await get(`/api/v1/instruments${query}`)).body as unknown as {
        instruments: { price_tick: number }[];
      };
      return instruments.map(({ price_tick }) => price_tick);
    };
    expect(await ticks('')).toEqual([0.5]);
    expect(await ticks('?at=2024-03-02T12:00:00Z')).toEqual([0.1]);
    expect(await ticks('?at=2024-02-01')).toEqual([]);
  });

  it('instruments of an earlier release are the first entry of the history', async () => {
    const rules = { amount_step: 0.001, min_amount: null, max_amount: null, min_cost: 100, max_cost: null };
    const before = { ...rules, contract_size: 1, price_tick: 0.1, collected_at: '2024-03-01T00:00:00.000Z' };
    await fixture.market.putInstrument('test', BTC, before);
    await fixture.market.instruments.record('test', BTC, {
      ...before,
      price_tick: 1,
      collected_at: '2024-03-05T00:00:00.000Z',
    });
    const history = await fixture.market.instruments.history('test', BTC);
    expect(history.map(({ valid_from, record }) => [valid_from.slice(0, 10), record.price_tick])).toEqual([
      ['2024-03-01', 0.1],
      ['2024-03-05', 1],
    ]);
  });

  it('instruments are in the order of the symbols', async () => {
    const record = {
      amount_step: 0.001,
      min_amount: null,
      max_amount: 1000,
      min_cost: 100,
      max_cost: null,
      contract_size: 1,
      price_tick: 0.1,
      collected_at: '2024-06-01T00:00:00.000Z',
    };
    await fixture.market.instruments.record('test', ETH, { ...record, min_amount: 0.01 });
    await fixture.market.instruments.record('test', BTC, record);
    expect(await get('/api/v1/instruments')).toEqual({
      status: 200,
      body: {
        exchange: 'test',
        instruments: [
          { symbol: BTC, ...record },
          { symbol: ETH, ...record, min_amount: 0.01 },
        ],
        count: 2,
      },
    });
    expect((await get('/api/v1/instruments?exchange=other')).body).toEqual({
      exchange: 'other',
      instruments: [],
      count: 0,
    });
    expect((await get('/api/v1/symbols')).body.count).toBe(2);
    expect((await get('/api/v1/status')).body.count).toBe(3);
  });

  it('status lists every series', async () => {
    const { status, body } = await get('/api/v1/status');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      exchange: 'test',
      count: 3,
      candles: 31,
      newest: '2024-03-01T00:00:00.000Z',
    });
    const series = body.series as unknown as { symbol: string; timeframe: string }[];
    expect(series.map((each) => `${each.symbol} ${each.timeframe}`)).toEqual([
      `${BTC} 1h`,
      `${BTC} 1d`,
      `${ETH} 1h`,
    ]);
    expect(series[0]).toEqual({
      symbol: BTC,
      timeframe: '1h',
      first: '2024-02-01T00:00:00.000Z',
      last: '2024-02-01T07:00:00.000Z',
      count: 6,
      gap_count: 1,
      gaps: [{ start: '2024-02-01T05:00:00.000Z', missing: 2 }],
      complete_from: null,
      corrupt: [],
      updated_at: '2024-06-01T00:00:00.000Z',
    });
    expect((await get('/api/v1/status?exchange=other')).body).toMatchObject({
      count: 0,
      candles: 0,
      newest: null,
    });
  });

  it('freshness checks age and range for repeated and comma-separated symbols', async () => {
    fixture.market.setNow(at('2024-02-02T12:00'));
    const both = `symbols=${encodeURIComponent(`${ETH},${BTC}`)}&timeframe=1h`;
    expect(await get(`/api/v1/freshness?${both}`)).toEqual({
      status: 200,
      body: {
        all_fresh: false,
        stale_symbols: [BTC],
        exchange: 'test',
        stale_threshold_hours: 24,
        symbols: [
          {
            symbol: ETH,
            timeframe: '1h',
            first: '2024-02-01T00:00:00.000Z',
            last: '2024-02-01T23:00:00.000Z',
            age_hours: 12,
            fresh: true,
          },
          {
            symbol: BTC,
            timeframe: '1h',
            first: '2024-02-01T00:00:00.000Z',
            last: '2024-02-01T07:00:00.000Z',
            age_hours: 28,
            fresh: false,
          },
        ],
      },
    });
    const repeated = `symbols=${encodeURIComponent(ETH)}&symbols=${encodeURIComponent(BTC)}&timeframe=1h`;
    expect((await get(`/api/v1/freshness?${repeated}&stale_threshold_hours=28`)).body.all_fresh).toBe(true);
    expect(
      (await get(`/api/v1/freshness?${repeated}&start=2024-02-01&end=2024-02-01T08:00`)).body.all_fresh,
    ).toBe(true);
    expect(
      (await get(`/api/v1/freshness?${repeated}&start=2024-01-31&end=2024-02-01T08:00`)).body.stale_symbols,
    ).toEqual([ETH, BTC]);
  });

  it('freshness accepts 200 symbols', async () => {
    const symbols = Array.from({ length: 200 }, (_, i) => `S${i}/USDT:USDT`);
    const query = [ETH, ...symbols].map((symbol) => `symbols=${encodeURIComponent(symbol)}`).join('&');
    const { body } = await get(`/api/v1/freshness?${query}&start=2024-02-01&end=2024-02-02`);
    expect(body.stale_symbols).toEqual(symbols);
  });

  it.each([
    ['', 'VAL004', 'symbols'],
    ['symbols=', 'VAL004', 'symbols'],
    ['symbols=BTC', 'VAL002', 'symbols'],
    ['symbols=A/B:B&stale_threshold_hours=0', 'VAL005', 'stale_threshold_hours'],
    ['symbols=A/B:B&stale_threshold_hours=-5', 'VAL005', 'stale_threshold_hours'],
    ['symbols=A/B:B&stale_threshold_hours=1.5', 'VAL005', 'stale_threshold_hours'],
    ['symbols=A/B:B&timeframe=7m', 'VAL003', 'timeframe'],
    ['symbols=A/B:B&start=x', 'VAL001', 'start'],
  ])('freshness rejects ?%s with 400 %s', async (query, code, field) => {
    expect(await get(`/api/v1/freshness?${query}`)).toMatchObject({
      status: 400,
      body: { detail: { code, field } },
    });
  });
});

describe('health of data collection', () => {
  it('health is healthy when storage responds and degraded otherwise', async () => {
    expect(await get('/api/v1/health')).toEqual({
      status: 200,
      body: {
        status: 'healthy',
        service: 'data-collection',
        version: expect.any(String),
        dependencies: { storage: 'healthy' },
      },
    });
    const down: Market['series'] = {
      ...fixture.market.series,
      getMany: () => Promise.reject(new CodedError('DATA005')),
    };
    expect((await get('/api/v1/health', create({ series: down }))).body).toMatchObject({
      status: 'degraded',
      dependencies: { storage: 'unavailable' },
    });
  });

  it('other operations return 503 DATA005 when storage is down', async () => {
    const down: Market['series'] = {
      ...fixture.market.series,
      list: () => Promise.reject(new CodedError('DATA005')),
    };
    const list = () => Promise.reject(new CodedError('DATA005'));
    const instruments: InstrumentStore = { ...fixture.market.instruments, list };
    const stores = create({ series: down, instruments });
    for (const path of ['/api/v1/symbols', '/api/v1/instruments']) {
      expect(await get(path, stores)).toMatchObject({
        status: 503,
        body: { detail: { code: 'DATA005' } },
      });
    }
  });
});

describe('collections', () => {
  it('collection stores missing candles and reports its progress', async () => {
    const { response, status, body } = await start(COLLECTION);
    expect(status).toBe(201);
    expect(body).toEqual({
      collection_id: expect.stringMatching(/^co-[0-9A-Z]{26}$/),
      status: 'pending',
      exchange: 'test',
      symbols: [BTC],
      timeframe: '1h',
      start: '2024-02-01T00:00:00.000Z',
      end: '2024-02-02T00:00:00.000Z',
      progress: 0,
      candles: 0,
      error: null,
      created_at: '2024-06-01T00:00:00.000Z',
      updated_at: '2024-06-01T00:00:00.000Z',
    });
    expect(response.headers.get('Location')).toBe(`collections/${body.collection_id}`);
    expect(await ended(body.collection_id!)).toMatchObject({
      status: 'completed',
      progress: 1,
      candles: 24,
      error: null,
    });
    expect((await get(`/api/v1/ohlcv?symbol=${encodeURIComponent(BTC)}&timeframe=1h`)).body.count).toBe(24);
  });

  it('collection without dates covers the last 90 days', async () => {
    const { body } = await start({ symbols: [BTC], timeframe: '1d' });
    expect([body.start, body.end]).toEqual(['2024-03-03T00:00:00.000Z', '2024-06-01T00:00:00.000Z']);
    expect((await ended(body.collection_id!)).candles).toBe(90);
  });

  it('failed collection lists the failed symbols', async () => {
    fixture.exchange.before = ({ symbol }) => {
      if (symbol === ETH) throw new CodedError('DATA003', { message: 'not listed' });
    };
    const { body } = await start({ ...COLLECTION, symbols: [BTC, ETH] });
    expect(await ended(body.collection_id!)).toMatchObject({
      status: 'failed',
      candles: 24,
      error: `1 of 2 series failed: ${ETH} 1h: DATA003 not listed. 24 candles stored.`,
    });
  });

  it('unexpected error is logged and reported without its message', async () => {
    fixture.exchange.before = () => {
      throw new Error('password=1234');
    };
    const { body } = await start(COLLECTION);
    expect(await ended(body.collection_id!)).toMatchObject({
      status: 'failed',
      error: 'SVC001 Internal server error',
    });
    expect(
      lines.at(-1)!.message === 'collection failed' ||
        lines.some((line) => line.message === 'collection failed'),
    ).toBe(true);
  });

  it('same Idempotency-Key returns the same collection; another body returns 409', async () => {
    const first = await start(COLLECTION, { 'Idempotency-Key': 'k-1' });
    const again = await start(COLLECTION, { 'Idempotency-Key': 'k-1' });
    const other = await start(COLLECTION, { 'Idempotency-Key': 'k-2' });
    expect(again.body.collection_id).toBe(first.body.collection_id);
    expect(other.body.collection_id).not.toBe(first.body.collection_id);
    const changed = await start({ ...COLLECTION, timeframe: '1d' }, { 'Idempotency-Key': 'k-1' });
    expect([changed.status, changed.body.detail]).toMatchObject([409, { code: 'RES005' }]);
    await fixture.service.stop();
  });

  it('next process resumes unfinished collections', async () => {
    fixture.exchange.during = untilAborted;
    const running = await start(COLLECTION);
    const waiting = await start({ ...COLLECTION, timeframe: '1d' });
    await fixture.service.stop();
    fixture.exchange.during = async () => {};
    fixture.service = create();
    for (const { body } of [running, waiting]) {
      const id = body.collection_id!;
      expect((await get(`/api/v1/collections/${id}`)).body).toMatchObject({ status: 'pending', error: null });
    }
    fixture.service.resume();
    expect(await ended(running.body.collection_id!)).toMatchObject({ status: 'completed', candles: 24 });
    expect(await ended(waiting.body.collection_id!)).toMatchObject({ status: 'completed', candles: 1 });
  });

  it.each([
    [{ ...COLLECTION, symbols: [] }, 'VAL005', 'symbols'],
    [{ ...COLLECTION, symbols: Array(201).fill(BTC) }, 'VAL005', 'symbols'],
    [{ ...COLLECTION, symbols: [BTC, 'btc'] }, 'VAL002', 'symbols.1'],
    [{ ...COLLECTION, timeframe: '2m' }, 'VAL003', 'timeframe'],
    [{ ...COLLECTION, start: '2024-02-02' }, 'VAL001', 'start'],
    [{ ...COLLECTION, start: '2025-01-01', end: undefined }, 'VAL001', 'start'],
    [{ ...COLLECTION, end: 'now' }, 'VAL001', 'end'],
    [{ ...COLLECTION, exchange: 'mtgox' }, 'VAL005', 'exchange'],
  ])('collection request %j is rejected', async (body, code, field) => {
    expect(await start(body)).toMatchObject({ status: 400, body: { detail: { code, field } } });
    expect(fixture.exchange.calls).toEqual([]);
  });

  it('rejection of an invalid body names each location', async () => {
    const { status, body } = await start({ timeframe: 5 });
    expect(status).toBe(400);
    expect(
      (body.detail as unknown as { type: string; loc: string[] }[]).map(({ type, loc }) => [type, loc]),
    ).toEqual([
      ['missing', ['body', 'symbols']],
      ['string_type', ['body', 'timeframe']],
    ]);
  });

  it('list is newest first, in pages, and by status', async () => {
    const started: string[] = [];
    for (let i = 0; i < 5; i++) {
      fixture.market.setNow(at('2024-06-01') + i);
      // Ids from a key are not in the order of creation.
      const { body } = await start(
        { ...COLLECTION, end: `2024-02-0${i + 2}` },
        { 'Idempotency-Key': `k${i}` },
      );
      started.unshift(body.collection_id!);
      await ended(body.collection_id!);
    }
    fixture.market.setNow(at('2024-06-01') + 5);
    fixture.exchange.during = untilAborted;
    const { body: last } = await start({ ...COLLECTION, timeframe: '1d' });
    await cancel(last.collection_id!);
    const list = async (query: string) => {
      const { status, body } = await get(`/api/v1/collections?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body as unknown as { items: { collection_id: string }[]; next_cursor: string | null };
    };
    const ids = async (query: string) => {
      const seen: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(query + (cursor && `&cursor=${cursor}`));
        seen.push(page.items.map(({ collection_id }) => collection_id));
        cursor = page.next_cursor;
      }
      return seen;
    };
    const [a, b, c, d, e] = started;
    expect(await ids('limit=2')).toEqual([
      [last.collection_id, a],
      [b, c],
      [d, e],
    ]);
    expect(await ids('limit=4&status=completed')).toEqual([[a, b, c, d], [e]]);
    expect(await ids('status=cancelled')).toEqual([[last.collection_id]]);
    expect(await ids('status=running')).toEqual([[]]);
    expect((await list('limit=1')).items[0]).toEqual(
      (await get(`/api/v1/collections/${last.collection_id}`)).body,
    );
    const { next_cursor } = await list('limit=1');
    expect(await get(`/api/v1/collections?status=failed&cursor=${next_cursor}`)).toMatchObject({
      status: 400,
      body: { detail: { code: 'VAL006' } },
    });
    expect((await get('/api/v1/collections?status=done')).status).toBe(400);
  });

  it('cancel ends a running collection and frees its position in the queue', async () => {
    fixture.exchange.during = untilAborted;
    const running = await start(COLLECTION);
    const waiting = await start({ ...COLLECTION, timeframe: '1d' });
    const id = running.body.collection_id!;
    expect(await cancel(id)).toMatchObject({ status: 200, body: { collection_id: id, status: 'cancelled' } });
    fixture.exchange.during = async () => {};
    expect(await ended(waiting.body.collection_id!)).toMatchObject({ status: 'completed', candles: 1 });
    expect(await cancel(id)).toMatchObject({
      status: 409,
      body: { detail: { code: 'RES005', field: 'collection_id', context: { status: 'cancelled' } } },
    });
    expect(await cancel('co-0')).toMatchObject({ status: 404, body: { detail: { code: 'COL001' } } });
  });

  it('unknown collection returns 404 COL001; malformed ID returns 400', async () => {
    expect(await get('/api/v1/collections/co-0')).toMatchObject({
      status: 404,
      body: { detail: { code: 'COL001' } },
    });
    expect(await get('/api/v1/collections/x')).toMatchObject({
      status: 400,
      body: { detail: { code: 'VAL005' } },
    });
  });
});

describe('service token', () => {
  const token = 'a-secret-of-the-platform';
  const authenticate = withServiceTokens([token], withoutIdentityProvider({ enforced: true }));
  const status = async (authorization?: string) => {
    const headers: Record<string, string> = authorization ? { Authorization: authorization } : {};
    const response = await create({}, { authenticate }).app.request('/api/v1/symbols', { headers });
    return response.status;
  };

  it('enforced service accepts only the service token', async () => {
    expect(await status(`Bearer ${token}`)).toBe(200);
    expect(await status(`Bearer ${token}x`)).toBe(401);
    expect(await status(token)).toBe(401);
    expect(await status()).toBe(401);
  });

  it('health requires no token', async () => {
    expect((await create({}, { authenticate }).app.request('/api/v1/health')).status).toBe(200);
  });
});

it('host that receives no files lists none, and says how candles get there', async () => {
  expect((await get('/api/v1/imports')).body).toEqual({ items: [], count: 0 });
  const response = await fixture.service.app.request('/api/v1/imports', post({ files: 1, bytes: 1 }));
  const { detail } = (await response.json()) as { detail: { code: string; message: string } };
  expect([response.status, detail.code]).toEqual([409, 'RES005']);
  expect(detail.message).toContain('touchstone import');
  expect((await get('/api/v1/imports/im-1')).status).toBe(404);
});

it('service serves its documentation', async () => {
  expect((await fixture.service.app.request('/docs')).status).toBe(200);
  const { body } = await get('/openapi.json');
  expect(Object.keys(body.paths!)).toContain('/api/v1/collections/{collection_id}');
});
