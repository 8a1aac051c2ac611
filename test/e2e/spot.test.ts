import { describe, expect, it } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { expectNoLookAhead } from '../support/look-ahead.ts';
import { PAIRS, SPOT, spotFixture } from './spot-fixture.ts';
import { weekOf } from './strategy-files-fixture.ts';

/** Spot runs over HTTP. */

const fixture = spotFixture();
const submit = (config: object) =>
  fixture.platform.post('/api/v1/backtests', { config: { ...weekOf('my_rotation'), ...config } });
const readData = async (path: string) => {
  const response = await fetch(`${fixture.platform.info.data_collection_url}${path}`);
  return { status: response.status, body: (await response.json()) as any };
};

describe('format of a symbol', () => {
  const message = 'Invalid symbol format: BASE/QUOTE:SETTLE';
  const detail = (format: string) => ({ code: 'VAL002', message, context: { format } });
  const perpetual = detail('BASE/QUOTE:SETTLE');
  const spot = detail('BASE/QUOTE');

  it.each([
    [{ pairs: ['BTC/USDT'] }, perpetual],
    [{ pairs: ['BTC/USDT'], trading_mode: 'futures' }, perpetual],
    [{ pairs: ['BTC/USDT:USDT'], trading_mode: 'spot' }, spot],
    [{ pairs: ['ETH/BTC', 'BTCUSDT'], trading_mode: 'spot' }, spot],
  ])('backtest with %j is rejected with VAL002', async (config, expected) => {
    const { status, body } = await submit(config);
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ ...expected, field: `config.pairs.${config.pairs.length - 1}` });
  });

  it('hyperopt request is rejected with VAL002 for a pair of the other mode', async () => {
    const start = (fields: object) =>
      fixture.platform.strategy.post('/api/v1/hyperopt', { strategy: 'my_rotation', ...fields });
    expect((await start({ pairs: PAIRS })).body.detail).toMatchObject({ ...perpetual, field: 'pairs.0' });
    expect((await start({ pairs: ['BTC/USDT:USDT'], ...SPOT })).body.detail).toMatchObject(spot);
  });

  it.each([
    '/api/v1/ohlcv?timeframe=1h&symbol=',
    '/api/v1/candles?timeframe=1h&symbol=',
    '/api/v1/coverage?symbol=',
    '/api/v1/freshness?symbols=',
  ])('GET %s is rejected with VAL002 for a symbol of the other mode', async (path) => {
    const refused = async (url: string, expected: object) => {
      const { status, body } = await readData(url);
      expect(status).toBe(400);
      expect(body.detail).toMatchObject(expected);
    };
    await refused(`${path}BTC/USDT`, perpetual);
    await refused(`${path}BTC/USDT:USDT&trading_mode=spot`, spot);
    const other = await readData(`${path}BTC/USDT&trading_mode=spot`);
    expect(other.body.detail?.code).not.toBe('VAL002');
  });

  it('collection and freshness of the gateway are rejected with VAL002 without the mode', async () => {
    const { platform } = fixture;
    const collect = async (body: object) => {
      const response = await fetch(`${platform.info.data_collection_url}/api/v1/collections`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ timeframe: '1h', ...body }),
      });
      return (await response.json()) as any;
    };
    expect((await collect({ symbols: PAIRS })).detail).toMatchObject({ ...perpetual, field: 'symbols.0' });
    expect((await collect({ symbols: ['BTC/USDT:USDT'], ...SPOT })).detail).toMatchObject(spot);
    expect((await collect({ symbols: PAIRS, trading_mode: 'margin' })).detail).toMatchObject({
      code: 'VAL005',
      field: 'trading_mode',
    });
    const gateway = await platform.get('/api/v1/data/freshness?symbols=BTC/USDT');
    expect(gateway.body.detail).toMatchObject(perpetual);
    const fresh = await platform.get('/api/v1/data/freshness?symbols=XLM/USDT&trading_mode=spot');
    expect(fresh).toMatchObject({ status: 200, body: { stale_symbols: ['XLM/USDT'] } });
  });
});

it('spot run has no shorts, leverage, funding and liquidation, and its report states the mode', async () => {
  const { platform } = fixture;
  const config = { ...weekOf('my_rotation'), ...SPOT };
  const job = await platform.run(config);
  expect(job.status, job.error).toBe('completed');
  expect(job.config).toMatchObject({ trading_mode: 'spot', pairs: PAIRS, leverage: 1 });
  expect(job.warnings).toContain(
    'config.leverage is 1 instead of the 2 of my_rotation: spot has no leverage',
  );
  const { body: report } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
  expect(report.settings).toMatchObject({ trading_mode: 'spot', can_short: false, leverage: 1 });
  expect(Object.keys(report.settings).join()).not.toMatch(/margin|liquidation/);
  expect(report.warnings).toContainEqual(
    expect.stringMatching(/^\d+ short signals were ignored: spot has no shorts\.$/),
  );
  expect(report.biases).toContainEqual({ effect: 'neutral', text: expect.stringMatching(/^Spot: /) });
  expect(report.data.map(({ funding_events }: any) => funding_events)).toEqual([0, 0]);
  expect(report.trades.items.length).toBeGreaterThan(0);
  for (const trade of report.trades.items) {
    expect(trade).toMatchObject({ side: 'long', leverage: 1, funding: 0, liquidation_price: null });
  }
  expectNoLookAhead(report.look_ahead, PAIRS);

  // The candles are stored under the spot symbol, fresh for the next run, and without funding rates.
  const range = `start=${config.date_range.start}&end=${config.date_range.end}`;
  const { body: fresh } = await readData(
    `/api/v1/freshness?symbols=${PAIRS.join()}&trading_mode=spot&timeframe=1h&${range}`,
  );
  expect(fresh).toMatchObject({ all_fresh: true, missing_candles: 0 });
  const again = await platform.run(config);
  expect(again).toMatchObject({ status: 'completed', collection: null, result: job.result });
  const { candles } = openMarketStores(platform.info.storage);
  expect((await candles.readFunding('sim', 'BTC/USDT', 0, Date.UTC(2027, 0))).timestamp).toHaveLength(0);

  // The same prices as perpetuals: what differs is funding, shorts and leverage.
  const futures = await platform.run(weekOf('my_rotation'));
  expect(futures.config).toMatchObject({ pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], leverage: 2 });
  expect(futures.config).not.toHaveProperty('trading_mode');
  const other = (await platform.get(`/api/v1/backtests/${futures.job_id}/report-data`)).body;
  expect(other.provenance.config_digest).not.toBe(report.provenance.config_digest);
  const opens = (trades: any[]) =>
    trades.filter(({ side }) => side === 'long').map((each) => [each.opened_at, each.entry_price]);
  expect(opens(other.trades.items)).toEqual(expect.arrayContaining(opens(report.trades.items)));
});

it('spot run reads the spot pair of an informative perpetual', async () => {
  const job = await fixture.platform.run({ ...weekOf('reader'), ...SPOT });
  expect(job.status, job.error).toBe('completed');
  const { body } = await fixture.platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
  expect(body.informative).toMatchObject([{ pair: 'BTC/USDT', timeframe: '4h', read_by: ['ETH/USDT'] }]);
  expect(body.trades.items.length).toBeGreaterThan(0);
  for (const { leverage } of body.trades.items) expect(leverage).toBe(1);
  expectNoLookAhead(body.look_ahead);
});

it('exchange without spot markets is rejected when the run is submitted', async () => {
  const { status, body } = await submit({ ...SPOT, exchange: 'binanceusdm' });
  expect(status).toBe(400);
  expect(body.detail).toMatchObject({
    code: 'VAL005',
    field: 'config.exchange',
    message: expect.stringContaining('binanceusdm has perpetuals only, set it to binance'),
  });
  expect((await submit({ ...SPOT, exchange: 'binance', collect: 'never' })).status).toBe(201);
});

it('leverage in spot is rejected with VAL005', async () => {
  const { status, body } = await submit({ ...SPOT, leverage: 3 });
  expect(status).toBe(400);
  expect(body.detail).toMatchObject({
    code: 'VAL005',
    field: 'config.leverage',
    context: { value: 3, trading_mode: 'spot' },
  });
  expect((await submit({ trading_mode: 'margin' })).body.detail).toMatchObject({
    code: 'VAL005',
    field: 'config.trading_mode',
    context: { allowed: ['futures', 'spot'] },
  });
});
