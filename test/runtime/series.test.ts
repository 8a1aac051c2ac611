import { beforeEach, describe, expect, it } from 'vitest';
import { at, BTC, candlesAt, ETH, HOUR } from '../domain/data/market.ts';
import { memoryAudit } from '../support/audit.ts';
import { post } from '../support/backend.ts';
import { dataCollectionFixture, hours, usesFixture } from './data-collection-fixture.ts';

const fixture = dataCollectionFixture();
const { create, store, get } = fixture;

const DAY_1 = hours('2024-02-01T00:00', '2024-02-02T00:00');
const DAY_2 = hours('2024-02-02T00:00', '2024-02-03T00:00');
const KEY = { exchange: 'test', symbol: BTC, timeframe: '1h' } as const;
const query = (more = '') => `symbol=${encodeURIComponent(BTC)}&timeframe=1h${more}`;

async function change(path: string, body: object) {
  const response = await fixture.service.app.request(`/api/v1/series/${path}`, post(body));
  return { status: response.status, body: (await response.json()) as any };
}
const names = async () =>
  ((await get('/api/v1/series')).body as any).items.map((each: Record<string, string>) =>
    [each.exchange, each.symbol, each.timeframe].join(' '),
  );

beforeEach(async () => {
  await store(BTC, '1h', [...DAY_1, ...DAY_2], HOUR);
  await store(BTC, '4h', [at('2024-02-01T00:00')], 4 * HOUR);
});

describe('GET /api/v1/series', () => {
  it('series lists those of all exchanges, or of one', async () => {
    await fixture.market.candles.write({ ...KEY, exchange: 'other', symbol: ETH }, candlesAt(DAY_1, HOUR));
    expect(await names()).toEqual([`other ${ETH} 1h`, `test ${BTC} 1h`, `test ${BTC} 4h`]);
    expect((await get('/api/v1/series?exchange=other')).body).toMatchObject({
      count: 1,
      items: [
        { symbol: ETH, count: 24, first: '2024-02-01T00:00:00.000Z', last: '2024-02-01T23:00:00.000Z' },
      ],
    });
  });

  it('details have the uses, the funding and the import that can be undone', async () => {
    await fixture.market.candles.import(KEY, candlesAt([at('2024-02-03T00:00')], HOUR), 'A');
    fixture.uses = usesFixture({
      backtests: [{ exchange: 'test', pairs: [BTC], job_id: 'bt-1', owner: 'ada', status: 'running' }],
      versions: [
        { exchange: 'test', pairs: [BTC], model_name: 'm', version: '3', owner: 'ada', stage: 'Production' },
        { exchange: 'other', pairs: [BTC], model_name: 'm', version: '4', owner: 'ada', stage: 'Staging' },
      ],
    });
    fixture.service = create();
    expect((await get(`/api/v1/series/details?${query()}`)).body).toMatchObject({
      count: 49,
      funding: false,
      kept_import: { id: 'A', at: '2024-06-01T00:00:00.000Z' },
      used_by: [
        { kind: 'backtest', id: 'bt-1', status: 'running' },
        { kind: 'version', id: 'm/3', status: 'Production' },
      ],
    });
  });

  it.each([
    ['symbol=BTCUSDT&timeframe=1h', 400, 'VAL002'],
    [`symbol=${encodeURIComponent(BTC)}&timeframe=7m`, 400, 'VAL003'],
    [`symbol=${encodeURIComponent(ETH)}&timeframe=1h`, 404, 'DATA003'],
  ])('details and condition reject ?%s with %i %s', async (given, status, code) => {
    for (const path of ['details', 'condition'])
      expect(await get(`/api/v1/series/${path}?${given}`)).toMatchObject({
        status,
        body: { detail: { code } },
      });
  });
});

describe('GET /api/v1/series/condition', () => {
  it('condition of a day is complete, gap or revised, with the time of its last change', async () => {
    await store(BTC, '1h', hours('2024-02-03T00:00', '2024-02-03T12:00'), HOUR);
    await store(BTC, '1h', hours('2024-02-05T00:00', '2024-02-06T00:00'), HOUR);
    fixture.market.setNow(at('2024-06-02T00:00'));
    const revised = candlesAt([at('2024-02-02T05:00')], HOUR);
    revised.close[0] = 999;
    revised.low[0] = 900;
    await fixture.market.candles.write(KEY, revised);
    const [first, second] = ['2024-06-01T00:00:00.000Z', '2024-06-02T00:00:00.000Z'];
    const complete = { candles: 24, expected: 24, revised: false, changed_at: first };
    expect((await get(`/api/v1/series/condition?${query()}`)).body).toEqual({
      exchange: 'test',
      symbol: BTC,
      timeframe: '1h',
      items: [
        { ...complete, date: '2024-02-01', condition: 'complete' },
        { ...complete, date: '2024-02-02', condition: 'revised', revised: true, changed_at: second },
        { ...complete, date: '2024-02-03', condition: 'gap', candles: 12 },
        { ...complete, date: '2024-02-04', condition: 'gap', candles: 0, changed_at: null },
        { ...complete, date: '2024-02-05', condition: 'complete' },
      ],
      next_from: null,
    });
    expect((await get(`/api/v1/series/condition?${query('&from=2024-02-02&limit=1')}`)).body).toMatchObject({
      items: [{ date: '2024-02-02' }],
      next_from: '2024-02-03',
    });
  });
});

describe('POST /api/v1/series/delete', () => {
  it('delete removes the series of a timeframe, or all of a symbol with its funding rates', async () => {
    const events = {
      timestamp: Float64Array.of(at('2024-02-01')),
      rate: Float64Array.of(0),
      markPrice: Float64Array.of(1),
    };
    await fixture.market.candles.writeFunding('test', BTC, events);
    expect(await change('delete', { symbol: BTC, timeframe: '4h' })).toEqual({
      status: 200,
      body: { exchange: 'test', symbol: BTC, timeframes: ['4h'], funding: false },
    });
    expect(await names()).toEqual([`test ${BTC} 1h`]);
    expect((await change('delete', { symbol: BTC })).body).toMatchObject({
      timeframes: ['1h'],
      funding: true,
    });
    expect(await names()).toEqual([]);
    expect(await change('delete', { symbol: BTC })).toMatchObject({
      status: 404,
      body: { detail: { code: 'DATA003' } },
    });
  });

  it('delete rejects a series that a job or a version reads for a strategy of other pairs', async () => {
    fixture.uses = usesFixture({
      backtests: [
        { exchange: 'test', pairs: [ETH], job_id: 'bt-2', owner: 'ada', status: 'running' },
        { exchange: 'test', pairs: [ETH], job_id: 'bt-3', owner: 'ada', status: 'running' },
      ],
      versions: [
        {
          exchange: 'test',
          pairs: [ETH],
          model_name: 'm',
          version: '3',
          owner: 'ada',
          stage: 'Production',
          backtest_run_id: 'bt-1',
        },
      ],
      informative: { 'bt-1': [BTC], 'bt-2': [BTC] },
    });
    fixture.service = create();
    expect(await change('delete', { symbol: BTC })).toMatchObject({
      status: 409,
      body: {
        detail: {
          code: 'RES005',
          context: {
            used_by: [
              { kind: 'backtest', id: 'bt-2', status: 'running' },
              { kind: 'version', id: 'm/3', status: 'Production' },
            ],
          },
        },
      },
    });
  });

  it('delete rejects a series in use, names what uses it, and deletes it with force', async () => {
    fixture.uses = usesFixture({
      backtests: [{ exchange: 'test', pairs: [ETH, BTC], job_id: 'bt-1', owner: 'ada', status: 'pending' }],
    });
    fixture.service = create();
    expect(await change('delete', { symbol: BTC })).toMatchObject({
      status: 409,
      body: {
        detail: {
          code: 'RES005',
          message: expect.stringContaining('backtest bt-1 (pending)'),
          context: { used_by: [{ kind: 'backtest', id: 'bt-1', status: 'pending' }] },
        },
      },
    });
    expect((await change('rename', { symbol: BTC, to_symbol: ETH })).status).toBe(409);
    expect(await names()).toHaveLength(2);
    expect((await change('delete', { symbol: BTC, force: true })).status).toBe(200);
  });

  it('audit trail names the symbol', async () => {
    const { audit, calls } = memoryAudit();
    fixture.service = create({}, { audit });
    await change('delete', { symbol: BTC });
    expect(calls).toMatchObject([{ operation: 'deleteSeries', resource: { kind: 'series', id: BTC } }]);
  });
});

it.each(['delete', 'rename', 'copy', 'undo'])('%s needs an admin: the data have no owner', async (what) => {
  const authenticate = async () => ({ id: 'ada', roles: ['approver' as const], groups: [] });
  fixture.service = create({}, { authenticate });
  expect((await change(what, { symbol: BTC, to_exchange: 'other' })).body.detail).toMatchObject({
    code: 'AUTH004',
    context: { required: 'admin' },
  });
});

describe('POST /api/v1/series/rename and copy', () => {
  it('rename moves all series of a symbol with funding rates and instrument', async () => {
    const events = {
      timestamp: Float64Array.of(at('2024-02-01')),
      rate: Float64Array.of(0),
      markPrice: Float64Array.of(1),
    };
    await fixture.market.candles.writeFunding('test', BTC, events);
    expect((await change('rename', { symbol: BTC, to_symbol: ETH, to_exchange: 'other' })).body).toEqual({
      exchange: 'other',
      symbol: ETH,
      timeframes: ['1h', '4h'],
      funding: true,
    });
    expect(await names()).toEqual([`other ${ETH} 1h`, `other ${ETH} 4h`]);
    expect(await fixture.market.candles.hasFunding('test', BTC)).toBe(false);
    expect(await fixture.market.candles.hasFunding('other', ETH)).toBe(true);
  });

  it.each([
    ['a simulated series to an exchange', { exchange: 'sim', symbol: BTC, to_exchange: 'other' }, 'exchange'],
    ['to the simulated market', { symbol: BTC, to_exchange: 'sim' }, 'to_exchange'],
    ['a contract as spot', { symbol: BTC, to_symbol: 'BTC/USDT' }, 'to_symbol'],
  ])('neither takes %s', async (_, body, field) => {
    for (const what of ['copy', 'rename'])
      expect((await change(what, body)).body.detail).toMatchObject({ code: 'VAL005', field });
  });

  it('copy leaves the series, and rejects what exists, the same name, and sim', async () => {
    expect((await change('copy', { symbol: BTC, to_exchange: 'other' })).status).toBe(200);
    expect(await names()).toHaveLength(4);
    const copied = await fixture.market.candles.read({ ...KEY, exchange: 'other' }, 0, at('2025-01-01'));
    expect([...copied.timestamp]).toEqual([...DAY_1, ...DAY_2]);
    expect(await change('copy', { symbol: BTC, to_exchange: 'other' })).toMatchObject({
      status: 409,
      body: { detail: { message: `${BTC} 1h, 4h of other exists already. Delete or rename it first.` } },
    });
    expect((await change('copy', { symbol: BTC })).body.detail).toMatchObject({ code: 'VAL005' });
    expect((await change('copy', { symbol: BTC, to_exchange: 'sim' })).body.detail).toMatchObject({
      code: 'VAL005',
      field: 'to_exchange',
    });
    expect((await change('copy', { symbol: BTC, to_exchange: 'a/../b' })).body.detail.code).toBe('VAL005');
    expect((await change('copy', { symbol: ETH, to_exchange: 'other' })).body.detail.code).toBe('DATA003');
  });
});

describe('POST /api/v1/series/undo', () => {
  it('undo takes the last import of a symbol back, of all its timeframes', async () => {
    const more = candlesAt([at('2024-02-03T00:00')], HOUR);
    await fixture.market.candles.import(KEY, more, 'A');
    await fixture.market.candles.import(
      { ...KEY, timeframe: '8h' },
      candlesAt([at('2024-02-01')], 8 * HOUR),
      'A',
    );
    expect((await change('undo', { symbol: BTC })).body).toEqual({
      exchange: 'test',
      symbol: BTC,
      items: [
        { timeframe: '1h', import: { id: 'A', at: '2024-06-01T00:00:00.000Z' }, count: 48 },
        { timeframe: '8h', import: { id: 'A', at: '2024-06-01T00:00:00.000Z' }, count: 0 },
      ],
    });
    expect(await change('undo', { symbol: BTC })).toMatchObject({
      status: 409,
      body: { detail: { code: 'RES005' } },
    });
  });
});
