import { beforeEach, describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import { fileEngine } from '../support/file-engine.ts';
import { SOME_RESULT } from '../support/jobs.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();
let fixture: RegistryFixture;
beforeEach(async () => {
  fixture = await registryFixture(engine);
});

const catalog = (query = '') => fixture.get(`/api/v1/catalog/strategies${query}`);
const compare = (query: string, name = MODEL) =>
  fixture.get(`/api/v1/catalog/strategies/${name}/compare${query}`);

/** Registers the next version on a backtest with this result. */
async function register(number: number, changes: Partial<BacktestResult> = {}): Promise<void> {
  await fixture.backtest(`bt-v${number}`, MODEL, { ...SOME_RESULT, ...changes });
  const { status, body } = await fixture.register({ backtest_run_id: `bt-v${number}` });
  expect([status, body.version]).toEqual([201, String(number)]);
}

describe('model catalog', () => {
  const listed = async () => {
    const { status, body } = await catalog();
    expect(status).toBe(200);
    expect(body.total).toBe(body.items.length);
    return body.items.map(({ version, stage }: any) => `${version} ${stage}`);
  };

  it('catalog is empty before the first version is staged', async () => {
    await register(1);
    expect((await catalog()).body).toEqual({ items: [], total: 0, limit: 20, offset: 0, next_cursor: null });
  });

  it('catalog follows every transition', async () => {
    await register(1);
    await register(2);
    await fixture.stage('1');
    expect(await listed()).toEqual(['1 Staging']);
    await fixture.stage('2');
    await fixture.promote('1');
    expect(await listed()).toEqual(['1 Production', '2 Staging']);
    await fixture.promote('2');
    expect(await listed()).toEqual(['2 Production']);
    await fixture.rollback('1');
    expect(await listed()).toEqual(['1 Production']);
    // Repeated and rejected transitions change nothing.
    await fixture.rollback('1');
    await fixture.promote('2');
    await fixture.stage('2');
    expect(await listed()).toEqual(['1 Production']);
    expect((await catalog('?stage=Staging')).body).toMatchObject({ items: [], total: 0 });
  });

  it('catalog shows version and time of the promotion', async () => {
    await register(1);
    await fixture.stage('1');
    await fixture.promote('1');
    const [row] = (await catalog('?min_sharpe=1.1&max_drawdown=4.2&search=btc/')).body.items;
    expect(row).toMatchObject({
      name: MODEL,
      model_name: MODEL,
      version: '1',
      stage: 'Production',
      exchange: 'sim',
      pairs: ['BTC/USDT:USDT'],
      metrics: { sharpe_ratio: 1.1, total_trades: 10 },
      backtest_run_id: 'bt-v1',
      owner: 'anonymous',
    });
    expect(row.promoted_at).toMatch(/Z$/);
  });

  it('catalog pages by cursor and by offset', async () => {
    for (const number of [1, 2, 3]) {
      await register(number);
      await fixture.stage(String(number));
    }
    const first = (await catalog('?limit=2&sort_order=desc')).body;
    expect(first.items.map((row: any) => row.version)).toEqual(['3', '2']);
    const next = await catalog(`?limit=2&sort_order=desc&cursor=${first.next_cursor}`);
    expect(next.body).toMatchObject({ items: [{ version: '1' }], total: 3, offset: 2, next_cursor: null });
    expect((await catalog('?limit=2&sort_order=desc&offset=2')).body.items).toEqual(next.body.items);
    const foreign = await catalog(`?limit=2&cursor=${first.next_cursor}`);
    expect([foreign.status, foreign.body.detail.code]).toEqual([400, 'VAL006']);
    const both = await catalog(`?limit=2&sort_order=desc&offset=3&cursor=${first.next_cursor}`);
    expect(both.body.detail).toMatchObject({ code: 'VAL005', field: 'offset' });
  });

  it.each([
    [
      'sort_field=profit',
      'VAL005',
      'sort_field',
      { value: 'profit', allowed: ['name', 'sharpe', 'drawdown'] },
    ],
    ['sort_order=up', 'VAL005', 'sort_order', { allowed: ['asc', 'desc'] }],
    ['stage=None', 'VAL005', 'stage', { allowed: ['Production', 'Staging'] }],
    ['stage=production', 'VAL005', 'stage', {}],
    ['limit=0', 'VAL005', 'limit', { min: 1, max: 100 }],
    ['limit=101', 'VAL005', 'limit', {}],
    ['limit=1.5', 'VAL005', 'limit', {}],
    ['offset=-1', 'VAL005', 'offset', { min: 0 }],
    ['offset=1e3', 'VAL005', 'offset', {}],
    ['min_sharpe=high', 'VAL005', 'min_sharpe', { type: 'number' }],
    ['min_sharpe=1e999', 'VAL005', 'min_sharpe', {}],
    ['min_sharpe=NaN', 'VAL005', 'min_sharpe', {}],
    ['max_drawdown=Infinity', 'VAL005', 'max_drawdown', {}],
    ['timeframe=2h', 'VAL003', 'timeframe', {}],
    ['stage=Staging&stage=Production', 'VAL005', 'stage', { count: 2 }],
    ['cursor=nonsense', 'VAL006', 'cursor', {}],
  ])('catalog rejects ?%s with %s', async (query, code, field, context) => {
    const { status, body } = await catalog(`?${query}`);
    expect([status, body]).toMatchObject([400, { detail: { code, field, context } }]);
  });

  it('error of an invalid number states the valid range', async () => {
    const { body } = await catalog('?min_sharpe=high');
    expect(body.detail.message).toBe('min_sharpe must be a number');
    expect((await catalog('?limit=0')).body.detail.message).toBe('limit must be an integer from 1 to 100');
  });

  it.each([
    'min_sharpe=1e9',
    'min_sharpe=1e300',
    `min_sharpe=${1e20}`,
    'max_drawdown=1e9&offset=1',
    'offset=1',
    'offset=10001',
    'offset=999999999999999',
    'offset=10001&search=BTC',
    'min_sharpe=1e9&offset=10001',
  ])('catalog returns an empty page for ?%s', async (query) => {
    await register(1);
    await fixture.stage('1');
    const { status, body } = await catalog(`?${query}`);
    expect([status, body.items, body.next_cursor]).toEqual([200, [], null]);
    expect(body.total).toBe(query.startsWith('min_sharpe') ? 0 : 1);
  });

  it.each(['min_sharpe=1.1', 'min_sharpe=-.5', 'min_sharpe=1e-3', 'max_drawdown=-4.2', 'timeframe=5m'])(
    'catalog accepts ?%s',
    async (query) => {
      await register(1);
      await fixture.stage('1');
      expect((await catalog(`?${query}`)).body.total).toBe(1);
    },
  );
});

describe('version comparison', () => {
  it('comparison returns decision, confidence, metrics and recommendation', async () => {
    await register(1, { total_trades: 320, trade_stats: { n: 320, mean: 0.21, variance: 4 } });
    await register(2, {
      total_trades: 290,
      sharpe_ratio: 1.32,
      trade_stats: { n: 290, mean: 0.42, variance: 3.61 },
    });
    const { status, body } = await compare('?version_a=1&version_b=latest');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      decision: 'PROMOTE',
      comparable: true,
      version_a: '1',
      version_b: '2',
      metrics: { sharpe_ratio: { a: 1.1, b: 1.32, improvement: 20 } },
      recommendation: expect.stringContaining('Promote version 2'),
    });
    expect(body.confidence).toBeCloseTo(0.907913995435, 11);
  });

  it('comparison accepts an archived version', async () => {
    for (const number of [1, 2]) {
      await register(number);
      await fixture.stage(String(number));
      await fixture.promote(String(number));
    }
    const { status, body } = await compare('?version_a=champion&version_b=1');
    expect([status, body.version_a, body.decision]).toEqual([200, '2', 'INCONCLUSIVE']);
  });

  it.each([
    ['', 400, 'VAL004', 'version_a'],
    ['?version_a=1', 400, 'VAL004', 'version_b'],
    ['?version_b=1', 400, 'VAL004', 'version_a'],
    ['?version_a=&version_b=1', 400, 'VAL005', 'version_a'],
    ['?version_a=1&version_b=1', 400, 'VAL005', 'version_b'],
    ['?version_a=1&version_b=latest', 400, 'VAL005', 'version_b'],
    ['?version_a=1&version_b=2', 404, 'RES003', 'version_b'],
    ['?version_a=champion&version_b=1', 404, 'RES003', 'version_a'],
  ])('comparison rejects "%s" with %i %s', async (query, status, code, field) => {
    await register(1);
    expect(await compare(query)).toMatchObject({ status, body: { detail: { code, field } } });
  });

  it('comparison returns RES002 for a strategy without versions', async () => {
    const response = await compare('?version_a=1&version_b=2', 'supertrend');
    expect(response).toMatchObject({ status: 404, body: { detail: { code: 'RES002', field: 'name' } } });
  });
});

describe('catalog without a registry', () => {
  it('catalog and comparison return SVC005 when the registry is unreachable', async () => {
    // Nothing listens on port 1.
    const client = createDocumentClient({ endpoint: 'http://127.0.0.1:1', unavailable: 'SVC005' });
    fixture = await registryFixture(engine, { client });
    for (const { status, body } of [
      await catalog(),
      await catalog('?search=x'),
      await compare('?version_a=1&version_b=2'),
    ]) {
      expect([status, body.detail.code]).toEqual([503, 'SVC005']);
    }
  });
});
