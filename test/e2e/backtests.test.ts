import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Backtest from POST to report over HTTP: state machine, collection, task, engine and storage are real. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-04-15T00:00:00Z' };
const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

describe('backtest from request to report', () => {
  let job: any;
  beforeAll(async () => {
    const submitted = await platform.post('/api/v1/backtests', {
      config: {
        strategy: 'ema_crossover',
        pairs: PAIRS,
        timeframe: '1h',
        date_range: RANGE,
        // stakeamount occurs together with stake_amount, so it is not a misspelling; notify resembles no key.
        stake_amount: 100,
        stakeamount: 5,
        notify: true,
        // Names from the best parameters of a hyperopt job.
        model_type: 'none',
        fast: 9,
        n_estimators: 70,
      },
      experiment_name: 'from post to report',
      priority: 9,
    });
    expect(submitted.status).toBe(201);
    expect(submitted.body).toMatchObject({
      status: 'pending',
      job_id: expect.stringMatching(/^bt-[0-9A-Z]{26}$/),
    });
    expect(Date.parse(submitted.body.created_at)).toBeGreaterThan(0);
    job = await platform.until(submitted.body.job_id, 'completed');
  });

  it('backtest completes with its nine metrics', () => {
    expect(job.error).toBeNull();
    for (const field of [
      'total_trades',
      'winning_trades',
      'losing_trades',
      'total_profit',
      'total_profit_pct',
      'sharpe_ratio',
      'profit_factor',
      'win_rate',
      'max_drawdown_pct',
    ]) {
      expect(Number.isFinite(job.result[field]), field).toBe(true);
    }
    expect(job.result.total_trades).toBeGreaterThan(10);
    expect(job.progress).toBe(1);
    expect(job.attempt).toBe(1);
  });

  it('durations of queue, start and run add up to the life of the job', () => {
    // On one machine every task has the same cores.
    expect(job.lane).toBe('backtest');
    const { queue_ms, start_ms, run_ms } = job.durations;
    expect(queue_ms + start_ms + run_ms).toBe(Date.parse(job.finished_at) - Date.parse(job.created_at));
    expect(start_ms).toBeGreaterThan(0);
    expect(run_ms).toBe(Date.parse(job.finished_at) - Date.parse(job.started_at));
  });

  it('backtest stores every default and warns of the ignored key', () => {
    expect(job.config).toMatchObject({
      strategy: 'ema_crossover',
      exchange: 'sim',
      pairs: PAIRS,
      dry_run_wallet: 1000,
      max_open_trades: 2,
      fee: 0.0005,
      slippage: 0,
      date_range: { start: '2026-03-01T00:00:00.000Z', end: '2026-04-15T00:00:00.000Z' },
    });
    expect(job.warnings.slice(0, 5)).toEqual([
      'Unknown key config.stakeamount was ignored; did you mean config.stake_amount?',
      'Unknown key config.notify was ignored',
      'Unknown key config.model_type was ignored',
      'Unknown key config.fast was ignored; did you mean config.params.fast?',
      'Unknown key config.n_estimators was ignored; did you mean config.ml_engine.n_estimators?',
    ]);
  });

  it('backtest collects its candles first', () => {
    expect(job.collection).toMatchObject({ status: 'completed' });
  });

  it('equity curve agrees with the result', async () => {
    const { status, body } = await platform.get(`/api/v1/backtests/${job.job_id}/equity`);
    expect(status).toBe(200);
    expect(body.dates).toHaveLength(45);
    expect(body.dates[0]).toBe('2026-03-01');
    expect(body.dates.at(-1)).toBe('2026-04-14');
    expect(body.equity).toHaveLength(45);
    expect(body.drawdown).toHaveLength(45);
    expect(body.equity.at(-1)).toBeCloseTo(1000 + job.result.total_profit, 6);
    expect(-Math.min(...body.drawdown)).toBeCloseTo(job.result.max_drawdown_pct, 9);
    expect(Math.max(...body.drawdown)).toBeLessThanOrEqual(0);
    expect(Object.keys(body.monthly_returns)).toEqual(['2026-03', '2026-04']);
    const compounded = Object.values<number>(body.monthly_returns).reduce(
      (total, each) => total * (1 + each / 100),
      1,
    );
    expect((compounded - 1) * 100).toBeCloseTo(job.result.total_profit_pct, 6);
  });

  it('trades and tables of the report add up to the result', async () => {
    const { status, body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(status).toBe(200);
    expect(body.trades).toMatchObject({ page: 1, pages: 1, total: job.result.total_trades });
    const trades: any[] = body.trades.items;
    expect(trades).toHaveLength(job.result.total_trades);
    const profit = trades.reduce((sum, trade) => sum + trade.profit, 0);
    expect(profit).toBeCloseTo(job.result.total_profit, 6);
    expect(trades.filter((trade) => trade.profit > 0)).toHaveLength(job.result.winning_trades);
    const pairs = body.tables.per_pair;
    expect(pairs.map((row: any) => row.key).sort()).toEqual(['TOTAL', ...PAIRS].sort());
    expect(body.costs.fees.amount).toBeCloseTo(
      trades.reduce((sum, trade) => sum + trade.fees, 0),
      6,
    );
    expect(JSON.stringify(body)).toContain('sim');
    expect(body.provenance).toBeDefined();
    expect(body.settings.fill_model).toBe('freqtrade');
    expect(body.timing.total_ms).toBeGreaterThan(0);
    expect(body.timing.processor_ms.robustness).toBeGreaterThan(0);
    expect(body.timing.processor_ms.total).toBeGreaterThan(body.timing.processor_ms.robustness);
  });

  it('report rejects a page of trades beyond the last', async () => {
    const { status, body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data?page=2`);
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'page' });
  });

  it('curve of candles ends with the account and the market of the result', async () => {
    const path = `/api/v1/backtests/${job.job_id}/curve?resolution=candle`;
    const { body } = await platform.get(path);
    // 45 days of hours, less the first candle.
    expect(body).toMatchObject({ resolution: 'candle', step_seconds: 3_600, total: 45 * 24 - 1 });
    expect(body.equity.at(-1)).toBeCloseTo(1000 + job.result.total_profit, 2);
    expect(body.market.at(-1)).toBeCloseTo(1000 * (1 + job.result.market_change_pct / 100), 1);
    expect(new Date(body.times.at(-1) * 1_000).toISOString()).toBe('2026-04-14T23:00:00.000Z');
  });

  it('export offers the Parquet file at an address of the platform', async () => {
    const { status, body } = await platform.get(`/api/v1/backtests/${job.job_id}/export?format=parquet`);
    expect(status).toBe(201);
    const opened = await platform.request(body.url);
    expect(opened.headers.get('Content-Disposition')).toBe(`attachment; filename="${body.file_name}"`);
    expect((await opened.text()).slice(0, 4)).toBe('PAR1');
  });

  it('export says why there is no page while the dashboard is not built', async () => {
    const { status, body } = await platform.get(`/api/v1/backtests/${job.job_id}/export?format=html`);
    expect(status).toBe(503);
    expect(body.detail).toMatchObject({
      code: 'HTTP503',
      message: expect.stringMatching(/runs without it, start one/),
    });
  });

  it('trades have their own list, and the report is available without them', async () => {
    const path = `/api/v1/backtests/${job.job_id}`;
    const { body: full } = await platform.get(`${path}/report-data`);
    expect((await platform.get(`${path}/trades`)).body.items).toEqual(full.trades.items);
    const trades = { items: [], page: 1, pages: 1, total: job.result.total_trades };
    expect((await platform.get(`${path}/report-data?trades=false`)).body).toEqual({ ...full, trades });
  });

  it('equal requests give byte-identical results', async () => {
    const again = await platform.run({
      strategy: 'ema_crossover',
      pairs: PAIRS,
      timeframe: '1h',
      date_range: RANGE,
    });
    const texts = await Promise.all(
      [job.job_id, again.job_id].flatMap((id) => [
        platform.request(`/api/v1/backtests/${id}/equity`).then((response) => response.text()),
      ]),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(again.result).toEqual(job.result);
    const [first, second] = await Promise.all(
      [job.job_id, again.job_id].map(
        async (id) => (await platform.get(`/api/v1/backtests/${id}/report-data`)).body,
      ),
    );
    expect(second.provenance).toEqual(first.provenance);
    expect(second.trades).toEqual(first.trades);
    expect(again.collection).toBeNull();
  });
});

describe('default configuration', () => {
  it('backtest defaults to pairs, timeframe and stake of the strategy, and 90 days', async () => {
    const job = await platform.run({ strategy: 'buy_and_hold' });
    expect(job.status).toBe('completed');
    const { start, end } = job.config.date_range;
    expect(Date.parse(end) - Date.parse(start)).toBe(90 * 86_400_000);
    const { body } = await platform.get('/api/v1/strategies/buy_and_hold');
    expect(job.config).toMatchObject({
      pairs: body.pairs,
      timeframe: body.timeframe,
      stake_amount: body.stake_amount,
    });
  });
});

describe('detail timeframe', () => {
  it('detail timeframe is collected and decides the order within a candle', async () => {
    const config = {
      strategy: 'ema_crossover',
      pairs: ['SOL/USDT:USDT'],
      timeframe: '1h',
      date_range: RANGE,
    };
    await platform.run(config);
    const job = await platform.run({ ...config, timeframe_detail: '5m' });
    expect(job.status).toBe('completed');
    const { body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(body.data[0].detail_candles).toBe(45 * 288);
  });
});

describe('backtest list', () => {
  const experiment = 'listed';
  const ids: string[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 5; i++) {
      const { body } = await platform.post('/api/v1/backtests', {
        config: { strategy: 'buy_and_hold', pairs: PAIRS, timeframe: '1h', date_range: RANGE },
        experiment_name: experiment,
      });
      ids.push(body.job_id);
    }
    for (const id of ids) await platform.until(id, 'completed');
  });

  it('list pages newest first until the cursor is null', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const { status, body } = await platform.get(
        `/api/v1/backtests?limit=2&experiment_name=${experiment}${query}`,
      );
      expect(status).toBe(200);
      expect(body.items.length).toBeLessThanOrEqual(2);
      seen.push(...body.items.map((item: any) => item.job_id));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual([...ids].reverse());
  });

  it('list item ends its sparkline with the final equity of the report', async () => {
    const { body } = await platform.get(`/api/v1/backtests?limit=1&experiment_name=${experiment}`);
    const [item] = body.items;
    const { body: equity } = await platform.get(`/api/v1/backtests/${item.job_id}/equity`);
    const { config } = (await platform.get(`/api/v1/backtests/${item.job_id}`)).body;
    const rounded = (value: number) => Number(value.toPrecision(6));
    expect(item.sparkline).toHaveLength(32);
    expect([item.sparkline[0], item.sparkline[31]]).toEqual([
      rounded(config.dry_run_wallet),
      rounded(equity.equity.at(-1)),
    ]);
    expect(item).toMatchObject({ pairs: config.pairs, date_range: config.date_range, progress: 1 });
  });

  it('list filters by status', async () => {
    const completed = await platform.get('/api/v1/backtests?status=completed&limit=100');
    expect(completed.body.items.length).toBeGreaterThanOrEqual(5);
    expect(completed.body.items.every((item: any) => item.status === 'completed' && item.result)).toBe(true);
    const failed = await platform.get('/api/v1/backtests?status=failed');
    expect(failed.body).toEqual({ items: [], next_cursor: null, searched: null, count: null });
  });

  it('list rejects an invalid cursor and one of other filters', async () => {
    const { body } = await platform.get(`/api/v1/backtests?limit=1&experiment_name=${experiment}`);
    for (const query of [
      `cursor=${body.next_cursor}`,
      'cursor=broken',
      `status=failed&cursor=${body.next_cursor}`,
    ]) {
      const { status, body: rejected } = await platform.get(`/api/v1/backtests?${query}`);
      expect(status).toBe(400);
      expect(rejected.detail).toMatchObject({ code: 'VAL006', field: 'cursor' });
    }
  });
});

describe('Idempotency-Key', () => {
  const body = { config: { strategy: 'buy_and_hold', pairs: PAIRS, timeframe: '1h', date_range: RANGE } };

  it('idempotency key returns the same job for the same request', async () => {
    const key = { 'Idempotency-Key': 'one-and-the-same' };
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => platform.post('/api/v1/backtests', body, key)),
    );
    expect(new Set(responses.map((answer) => answer.body.job_id)).size).toBe(1);
    expect(responses.every((answer) => answer.status === 201)).toBe(true);
    await platform.until(responses[0]!.body.job_id, 'completed');
  });

  it('idempotency key with another request is rejected', async () => {
    const key = { 'Idempotency-Key': 'reused' };
    await platform.post('/api/v1/backtests', body, key);
    const { status, body: rejected } = await platform.post(
      '/api/v1/backtests',
      { ...body, priority: 1 },
      key,
    );
    expect(status).toBe(409);
    expect(rejected.detail).toMatchObject({ code: 'RES005', field: 'Idempotency-Key' });
  });
});

describe('trials', () => {
  // Candles of these tests only.
  const date_range = { start: '2025-11-01T00:00:00Z', end: '2025-12-01T00:00:00Z' };
  const config = { strategy: 'ema_crossover', pairs: ['BTC/USDT:USDT'], timeframe: '1h', date_range };
  const run = async (params: object, session = 'monday') => {
    const { body } = await platform.post(
      '/api/v1/backtests',
      { config: { ...config, params } },
      { 'Touchstone-Session': session },
    );
    return platform.until(body.job_id, 'completed');
  };
  /** The exported report without what measures the machine, and the sample of cuts. */
  const reportOf = async ({ job_id }: { job_id: string }) => {
    const { body } = await platform.get(`/api/v1/backtests/${job_id}/export?format=json`);
    const { job_id: _, timing: __, look_ahead: ___, ...report } = body;
    return JSON.stringify(report);
  };

  it('each different run counts once and deflates, while its result stays the same bytes', async () => {
    const first = await run({ fast: 9 });
    expect(first.trials).toMatchObject({ owner: 1, strategy: 1, session: 1 });
    expect(first.trials.deflated_sharpe_ratio).toBe(first.trials.probabilistic_sharpe_ratio);
    const second = await run({ fast: 11 });
    expect(second.trials).toMatchObject({ owner: 2, strategy: 2, session: 2 });
    expect(second.trials.expected_max_sharpe_daily).toBeGreaterThan(0);
    expect(second.trials.deflated_sharpe_ratio).toBeLessThan(second.trials.probabilistic_sharpe_ratio);

    expect((await platform.request(`/api/v1/backtests/${second.job_id}`, { method: 'DELETE' })).status).toBe(
      204,
    );
    const again = await run({ fast: 9 }, 'tuesday');
    expect(again.trials).toMatchObject({ owner: 2, strategy: 2, session: 1 });
    // What the first one showed is frozen.
    expect((await platform.get(`/api/v1/backtests/${first.job_id}`)).body.trials).toEqual(first.trials);
    expect(again.result).toEqual(first.result);
    const report = await reportOf(again);
    expect(report === (await reportOf(first))).toBe(true);
    expect(report).not.toContain('deflated');
  });
});

describe('strategy configurations', () => {
  it('strategies lists all configurations and returns each by name', async () => {
    const { body } = await platform.get('/api/v1/strategies');
    const names = body.items.map((item: any) => item.strategy);
    expect(names).toEqual(
      expect.arrayContaining([
        'bollinger_breakout',
        'buy_and_hold',
        'donchian_trend',
        'ema_crossover',
        'macd_momentum',
        'ml_classifier',
        'rsi_mean_reversion',
        'supertrend',
      ]),
    );
    for (const item of body.items) {
      const one = await platform.get(`/api/v1/strategies/${item.strategy}`);
      expect(one.body).toEqual(item);
      const learns = item.strategy === 'ml_classifier';
      expect(one.body.ml_engine).toEqual({
        enabled: learns,
        model_type: learns ? 'depthwise_gbdt' : 'none',
      });
    }
  });

  it('unknown configuration returns RES004', async () => {
    const { status, body } = await platform.get('/api/v1/strategies/nothing');
    expect(status).toBe(404);
    expect(body.detail.code).toBe('RES004');
  });
});

describe('slippage model', () => {
  /** The example of docs/slippage.md. */
  const config = JSON.parse(
    /```json\n([^`]+)```/.exec(readFileSync(new URL('../../docs/slippage.md', import.meta.url), 'utf8'))![1]!,
  );
  const reportOf = async (changes: object) => {
    const { job_id } = await platform.run({ ...config, ...changes });
    return (await platform.get(`/api/v1/backtests/${job_id}/report-data`)).body;
  };

  it('the example of the guide reports its model, its estimates and its costs', async () => {
    const [report, constant] = await Promise.all([reportOf({}), reportOf({ slippage_model: {} })]);
    expect(report.settings.slippage_model).toEqual({
      spread: 'edge',
      spread_days: 30,
      impact: 1,
      participation: 0.025,
    });
    expect(report.slippage.pairs.map(({ pair }: { pair: string }) => pair)).toEqual(config.pairs);
    for (const pair of report.slippage.pairs) {
      expect(pair).toMatchObject({ days_without_estimate: 0, capped_entries: 0 });
      expect(pair.mean_spread_pct).toBeGreaterThanOrEqual(0);
    }
    expect(report.costs.slippage.amount).toBeGreaterThan(0);
    expect(report.biases.map(({ text }: { text: string }) => text).join()).toContain('(edge, 30 days');
    expect(report.trades.items.every((trade: any) => trade.slippage_cost > 0)).toBe(true);
    // The same signals: the strategy does not see the days that the model reads.
    expect(report.data.map((pair: any) => pair.enter_long_signals)).toEqual(
      constant.data.map((pair: any) => pair.enter_long_signals),
    );
    expect(report.provenance.slippage_model).toEqual(report.settings.slippage_model);
    expect(constant.settings).not.toHaveProperty('slippage_model');
    expect(constant.provenance).not.toHaveProperty('slippage_model');
    expect(constant).not.toHaveProperty('slippage');
    expect(constant.costs.slippage.amount).toBe(0);
    expect(report.provenance.config_digest).not.toBe(constant.provenance.config_digest);
  });

  it('a limit of participation makes positions smaller and exits slower', async () => {
    const report = await reportOf({
      stake_amount: 1e9,
      dry_run_wallet: 1e10,
      slippage_model: { participation: 1e-4 },
    });
    const [first] = report.slippage.pairs;
    expect(first.capped_entries).toBeGreaterThan(0);
    expect(first.dropped_value).toBeGreaterThan(0);
    expect(first.capped_exits).toBeGreaterThan(0);
    expect(report.slippage.large_trades).toBe(0);
    expect(report.trades.items.some((trade: any) => trade.orders?.length > 2)).toBe(true);
  });

  it('a part of the model that is out of bounds is VAL005 with its field', async () => {
    const { status, body } = await platform.post('/api/v1/backtests', {
      config: { ...config, slippage_model: { participation: 2 } },
    });
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'config.slippage_model.participation' });
  });
});

describe('health and documentation', () => {
  it('health lists the dependencies', async () => {
    const { body } = await platform.get('/api/v1/health');
    expect(body).toMatchObject({
      status: 'healthy',
      service: 'backend',
      version: expect.any(String),
      dependencies: { strategy_service: 'healthy', data_collection: 'healthy', registry: 'healthy' },
    });
  });

  it('backend serves the documentation page, its assets and the OpenAPI document', async () => {
    const page = await platform.request('/docs');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('swagger-ui-bundle.js');
    const document = await platform.get('/openapi.json');
    expect(document.body.openapi).toBe('3.1.0');
    expect(document.body.paths['/api/v1/backtests']).toBeDefined();
  });
});
