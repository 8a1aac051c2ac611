import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runInProcess, runScript } from '../support/command.ts';
import { pasted, runHyperopt } from '../support/hyperopt-jobs.ts';
import { expectNoLookAhead } from '../support/look-ahead.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** The strategy of the section "Other pairs" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_filter'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Strategy that trades when its 4h, weekly and Bitcoin columns are defined. */
const TIMED = `
export default {
  name: 'timed', description: 'Trades 2h candles.', timeframe: '2h', pairs: ['ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, stoploss: -0.5,
  informativeTimeframes: ['6h'], informative: [{ pair: 'BTC/USDT:USDT', timeframe: '12h' }],
  indicators: ({ close }) => ({ close }),
  signals({ timestamp }, columns, params, informative) {
    const six = informative['6h'].close;
    const btc = informative['BTC/USDT:USDT 12h'].close;
    const enterLong = Uint8Array.from(timestamp, (_, row) => Number(six[row] > 0 && btc[row] > 0 && row % 8 === 0));
    return { enterLong, exitLong: Uint8Array.from(timestamp, (_, row) => Number(row % 8 === 4)) };
  },
};
`;

/** Strategy that needs other numbers of candles for its timeframes. */
const NAMED = `
export default {
  name: 'named', description: 'Startup by timeframe.', timeframe: '1h', pairs: ['ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: { '1h': 40, '4h': 2 }, stoploss: -0.5,
  informative: [{ pair: 'BTC/{stake}', timeframe: '4h' }, { pair: 'SOL/{stake}', timeframe: '1d' }],
  indicators: ({ close }) => ({ close }),
  signals({ timestamp }, columns, params, informative) {
    const btc = informative['BTC/{stake} 4h'].close;
    const enterLong = Uint8Array.from(timestamp, (_, row) => Number(btc[row] > 0 && row % 8 === 0));
    return { enterLong, exitLong: Uint8Array.from(timestamp, (_, row) => Number(row % 8 === 4)) };
  },
};
`;

/** Strategy whose startup, and so the informative candles that it reads, depends on a searched parameter. */
const SEARCHED = `
export default {
  name: 'searched', description: 'Compares with the average of Bitcoin.', timeframe: '4h', pairs: ['ETH/USDT:USDT'],
  stakeAmount: 100, stoploss: -0.5, startupCandles: ({ lag }) => lag,
  parameters: { lag: { kind: 'integer', default: 5, min: 2, max: 20, description: 'Candles' } },
  informativeTimeframes: ['12h'], informative: [{ pair: 'BTC/{stake}', timeframe: '1d' }],
  indicators: ({ close }, { lag }) => ({ change: close.map((price, row) => price / close[row - lag] - 1) }),
  signals({ close }, { change }, params, informative) {
    const btc = informative['BTC/{stake} 1d'].change;
    const half = informative['12h'].change;
    const of = (test) => Uint8Array.from(close, (_, row) => Number(test(row)));
    return {
      enterLong: of((row) => change[row] > btc[row] && half[row] > 0),
      exitLong: of((row) => change[row] < btc[row]),
    };
  },
};
`;

/** Strategy that declares what runs of it do beyond its signals. */
const DECLARED = `
export default {
  name: 'declared', description: 'Declares its options.', timeframe: '1h', pairs: ['ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, stoploss: -0.5, exitProfitOnly: true, exitProfitOffset: 0.01, maxAdjustments: 2,
  informativeTimeframes: ['4h'], informative: [{ pair: 'BTC/{stake}', timeframe: '1d' }],
  orderTypes: { entry: 'market' }, unfilledTimeoutMinutes: 20, unfilledTimeout: { exit: 30 }, ignoreEntryAfterCandles: 3,
  indicators: () => ({}), signals: () => ({}),
  callbacks: { customExit: () => null, adjustPosition: () => null },
};
`;

describe('informative series', () => {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-informative-'));
  const fixture = strategyFilesFixture({
    'my_filter.ts': SOURCE,
    'timed.ts': TIMED,
    'named.ts': NAMED,
    'searched.ts': SEARCHED,
    'declared.ts': DECLARED,
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const coverage = async (exchange: string) => {
    const url = `${fixture.platform.info.data_collection_url}/api/v1/coverage?exchange=${exchange}`;
    const { items } = await (await fetch(url)).json();
    const series = items as { symbol: string; timeframe: string; first: string }[];
    return new Map(series.map(({ symbol, timeframe, first }) => [`${symbol} ${timeframe}`, first]));
  };
  const report = async (jobId: string) =>
    (await fixture.platform.get(`/api/v1/backtests/${jobId}/report-data`)).body;

  it('configuration of a strategy states its series, callbacks and order options, with their defaults', async () => {
    const { body } = await fixture.platform.get('/api/v1/strategies/declared');
    expect(body).toMatchObject({
      informative_timeframes: ['4h'],
      informative: [{ pair: 'BTC/{stake}', timeframe: '1d' }],
      callbacks: ['adjustPosition', 'customExit'],
      max_adjustments: 2,
      order_types: { entry: 'market', exit: 'limit' },
      unfilled_timeout: { entry: 20, exit: 30 },
      ignore_entry_after_candles: 3,
      use_exit_signal: true,
      exit_profit_only: true,
      exit_profit_offset: 0.01,
      ignore_roi_if_entry_signal: false,
    });
    expect((await fixture.platform.get('/api/v1/strategies/timed')).body).toMatchObject({
      callbacks: [],
      max_adjustments: null,
      order_types: { entry: 'limit', exit: 'limit' },
      unfilled_timeout: { entry: 10, exit: 10 },
      ignore_entry_after_candles: null,
    });
  });

  it('backtest collects another pair with its own startup, and no more candles of its own timeframe', async () => {
    const { job_id } = await fixture.platform.run(weekOf('my_filter'));
    const { settings, informative, metrics } = await report(job_id);
    expect(settings.startup_candles).toBe(60);
    expect(informative).toEqual([
      {
        pair: 'BTC/USDT:USDT',
        timeframe: '1d',
        origin: 'stored',
        source_timeframe: '1d',
        // 60 days of startup, the day before the start, and the seven days of the range.
        candles: 68,
        filled_candles: 0,
        first: '2025-12-30T00:00:00.000Z',
        last: '2026-03-07T00:00:00.000Z',
        read_by: ['ETH/USDT:USDT', 'SOL/USDT:USDT'],
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(metrics.closed_trades.total_trades).toBeGreaterThan(0);
    const { home } = fixture.platform;
    const shown = await runInProcess(home, ['show', job_id]);
    expect(shown.out, shown.err).toMatch(/BTC\/USDT:USDT +│ 1d +│ +68 │ 2025-12-30 00:00 │ stored/);
    const stored = await coverage('sim');
    expect(stored.get('ETH/USDT:USDT 1h')).toBe('2026-02-26T12:00:00.000Z');
    expect(stored.get('BTC/USDT:USDT 1d')).toBe('2025-12-30T00:00:00.000Z');
    expect(stored.has('BTC/USDT:USDT 1h')).toBe(false);
  });

  it('backtest reads the startup candles that a strategy names by timeframe', async () => {
    const { job_id, error } = await fixture.platform.run(weekOf('named'));
    expect(error).toBe(null);
    const { settings, data, informative, metrics } = await report(job_id);
    expect(settings.startup_candles).toEqual({ '1h': 40, '4h': 2 });
    expect(data[0].startup_candles).toBe(40);
    // Startup, the candle before the start, and the seven days: 1d is not named.
    expect(informative.map(({ pair, timeframe, candles }: any) => [pair, timeframe, candles])).toEqual([
      ['BTC/USDT:USDT', '4h', 2 + 1 + 42],
      ['SOL/USDT:USDT', '1d', 40 + 1 + 7],
    ]);
    expect(metrics.closed_trades.total_trades).toBeGreaterThan(5);
  });

  it('backtest runs at the further timeframe of its strategy, computed from the collected hours', async () => {
    const { job_id } = await fixture.platform.run({ ...weekOf('timed'), timeframe: '2h' });
    const { settings, data, informative, metrics } = await report(job_id);
    expect(settings.timeframe).toBe('2h');
    expect(data[0]).toMatchObject({ candles: 84, source_timeframe: '1h' });
    expect(informative.map((each: object) => ({ ...each, digest: '', first: '', last: '' }))).toMatchObject([
      { pair: 'ETH/USDT:USDT', timeframe: '6h', origin: 'computed', source_timeframe: '1h' },
      { pair: 'BTC/USDT:USDT', timeframe: '12h', origin: 'computed', source_timeframe: '4h' },
    ]);
    expect(metrics.closed_trades.total_trades).toBeGreaterThan(5);
    const other = await fixture.platform.post('/api/v1/backtests', {
      config: { ...weekOf('my_filter'), timeframe: '2h' },
    });
    expect(other.body.detail).toMatchObject({ code: 'VAL003', field: 'config.timeframe' });
  });

  const market = {
    strategy: 'searched',
    pairs: ['ETH/USDT:USDT'],
    timeframe: '4h',
    date_range: { start: '2026-01-01T00:00:00Z', end: '2026-03-02T00:00:00Z' },
  };

  it('best value of a hyperopt job equals the backtest of its parameters', async () => {
    const request = { ...market, models: 'none', n_trials: 8, seed: 5, backtest_period_days: 20 };
    const { result, trials } = await runHyperopt(fixture.platform, request);
    expect(new Set(trials.map(({ params }) => params.lag)).size).toBeGreaterThan(2);
    const { config, ...job } = await fixture.platform.run({ ...market, ...pasted(result.best_params) });
    expect(job.result.total_trades).toBeGreaterThan(0);
    expect(job.result.sharpe_ratio).toBe(result.best_value);
    const { informative } = await report(job.job_id);
    const from = Date.parse(config.date_range.start) - (config.params.lag + 1) * DAY;
    expect(informative.at(-1)).toMatchObject({ pair: 'BTC/USDT:USDT', first: new Date(from).toISOString() });
  });

  it('models are trained on rows whose informative candles are warm', async () => {
    const ml_engine = { enabled: true, model_type: 'logistic_regression', train_period_days: 30 };
    const { job_id, status, error } = await fixture.platform.run({ ...market, ml_engine });
    expect(status, error).toBe('completed');
    const { informative, look_ahead } = await report(job_id);
    const from = Date.parse(market.date_range.start) - (30 + 5 + 1) * DAY;
    expect(informative.at(-1)).toMatchObject({ pair: 'BTC/USDT:USDT', first: new Date(from).toISOString() });
    expectNoLookAhead(look_ahead);
  });

  it('backtest reads imported candles of further timeframes instead of computing them', async () => {
    const folder = join(root, 'binance', 'futures');
    mkdirSync(folder, { recursive: true });
    const start = Date.UTC(2026, 1, 20);
    const write = (pair: string, timeframe: string, hours: number) => {
      const rows = Array.from({ length: (20 * 24) / hours }, (_, row) => {
        const price = 100 + ((row * hours) % 50);
        return [start + row * hours * HOUR, price, price + 3, price - 3, price + 1, 10].join(',');
      });
      writeFileSync(
        join(folder, `${pair}_USDT_USDT-${timeframe}-futures.csv`),
        ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'),
      );
    };
    write('ETH', '2h', 2);
    write('BTC', '4h', 4);
    write('BTC', '12h', 12);
    const { home } = fixture.platform;
    const imported = await runScript(home, 'bin/touchstone.ts', ['import', root]);
    expect(imported.code, imported.out + imported.err).toBe(0);
    const config = { ...weekOf('timed'), exchange: 'binanceusdm', collect: 'never' };
    const { job_id } = await fixture.platform.run(config);
    const { data, informative, settings } = await report(job_id);
    expect(data[0].source_timeframe).toBeUndefined();
    // Two candles of 2h. Those of 6h are computed from the imported 2h candles: three of them cover three times as much.
    expect(settings.startup_candles).toBe(9);
    expect(informative).toMatchObject([
      {
        pair: 'BTC/USDT:USDT',
        timeframe: '12h',
        origin: 'stored',
        candles: 2 + 1 + 14,
        first: new Date(Date.UTC(2026, 2, 1) - (3 * DAY) / 2).toISOString(),
      },
    ]);
  });
});
