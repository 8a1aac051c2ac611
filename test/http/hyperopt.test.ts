import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoInstrumentStore } from '#adapters/dynamo/series-stores.ts';
import { DynamoTrialLedger } from '#adapters/dynamo/trial-ledger.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { fixedStrategies, inProcess, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import type { HyperoptExecutionInput } from '#contract/hyperopt/hyperopt.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { SeriesStore } from '#domain/ports.ts';
import { defineStrategy } from '#engine/strategy.ts';
import { createService, type ServiceApp } from '#runtime/service.ts';
import { type StrategyDeps, strategyHandlers } from '#runtime/services/strategy.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, post } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';

/** Resolution and rejection of hyperopt requests. No worker runs. */

const RANGE_BEFORE = '2024-12-01T00:00:00.000Z';
const NOW = Date.parse('2026-02-10T12:34:56Z');
let engine: TestEngine;
let app: ServiceApp;
let newest: string | null = null;
let instruments: DynamoInstrumentStore;
const started: HyperoptExecutionInput[] = [];

/** Startup is longest for the largest `slow`, the smallest `fast` and the middle choice. */
const slowByChoice = inProcess({
  digest: sha256('slow_by_choice'),
  definition: defineStrategy({
    name: 'slow_by_choice',
    description: 'Test',
    timeframe: '1h',
    pairs: ['BTC/USDT:USDT'],
    stakeAmount: 100,
    stoploss: -0.1,
    parameters: {
      unit: {
        kind: 'choice',
        default: 'hour',
        choices: ['hour', 'week', 'day'],
        description: 'Hours a step has',
      },
      slow: { kind: 'integer', default: 5, min: 5, max: 10, description: 'Steps' },
      fast: { kind: 'integer', default: 4, min: 1, max: 4, description: 'Steps that are left out' },
    },
    startupCandles: ({ unit, slow, fast }) => ({ hour: 1, day: 24, week: 168 })[unit]! * (slow - fast),
    indicators: () => ({}),
    signals: () => ({}),
  }),
});

beforeAll(async () => {
  engine = await startEngine();
  const { client, tables } = engine;
  const hyperoptJobs = new DynamoHyperoptStore(client, tables.jobs);
  instruments = new DynamoInstrumentStore(client, tables.series);
  const { log } = memoryLog();
  const series = {
    getMany: async (_: string, keys: readonly { symbol: string; timeframe: string }[]) => {
      const stored = newest === null ? [] : keys.filter(({ timeframe }) => timeframe === '1h');
      return new Map(
        stored.map((key) => [`${key.symbol}#1h`, { timeframe: '1h', first: '2025-01-01', last: newest }]),
      );
    },
  } as unknown as SeriesStore;
  const deps = {
    jobs: new DynamoJobStore(client, tables.jobs),
    registry: { sharing: {} },
    challenges: { read: async () => undefined },
    probes: {},
    log,
    hyperoptJobs,
    series,
    instruments,
    ledger: new DynamoTrialLedger(client, tables.jobs),
    strategies: fixedStrategies([...knownBuiltIns(), slowByChoice]),
    hyperoptExecutions: {
      start: async (input: HyperoptExecutionInput) => void started.push(input),
      stop: async () => undefined,
      state: async () => undefined,
    },
    queue: new DynamoJobQueue(client, tables.jobs),
    maxRunning: { backtest: 1, fast: 1, hyperopt: 100 },
    retention: KEEP_FOREVER,
    tasks: { stop: async () => undefined },
    defaultExchange: 'sim',
    clock: { now: () => NOW },
    ids: ulids,
    digest: sha256,
  } as unknown as StrategyDeps;
  app = createService('strategy', strategyHandlers(deps), {
    log,
    ownership: ownershipOf(deps),
    audit: memoryAudit().audit,
    cursorKey,
    checkResponses: true,
    authenticate: async (token) => ({ id: token ?? 'ada', roles: ['researcher'], groups: [] }),
  });
});
afterAll(() => engine.stop());

async function call(path: string, init?: RequestInit): Promise<{ status: number; body: any }> {
  const response = await app.request(`/api/v1/hyperopt${path}`, init);
  return { status: response.status, body: await response.json() };
}

const strategy = 'ml_classifier';
const submit = (body: object) => call('', post({ strategy, ...body }));
async function accepted(body: object): Promise<any> {
  const { status, body: reply } = await submit(body);
  expect(status, JSON.stringify(reply)).toBe(200);
  expect(reply).toMatchObject({ status: 'pending', strategy });
  return (await call(`/${reply.job_id}`)).body;
}

describe('hyperopt request', () => {
  afterEach(() => {
    newest = null;
  });

  it('request requires only a strategy', async () => {
    const job = await accepted({});
    expect(job).toMatchObject({
      status: 'pending',
      started_at: null,
      progress: 0,
      current_trial: 0,
      total_trials: 100,
      best_value: null,
      exchange: 'sim',
      config: {
        n_trials: 100,
        train_period_days: 30,
        backtest_period_days: 7,
        objective_metric: 'sharpe_ratio',
        direction: 'maximize',
        sampler: 'tpe',
        pruner: 'wilcoxon',
        n_estimators_range: [50, 500],
        learning_rate_range: [0.01, 0.3],
        workers: 1,
        seed: 0,
        model_types: ['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'],
      },
    });
    const { start, end } = job.config.date_range;
    // 4 x 7 days up to the newest possible closed candle, preceded by the training period.
    expect((Date.parse(end) - Date.parse(start)) / 86_400_000).toBe(28);
    expect(Date.parse(end)).toBeLessThanOrEqual(NOW);
    const input = started.at(-1)!;
    expect(input).toMatchObject({ job_id: job.job_id, workers: [0], end, symbols: job.pairs });
    // 30 days of training, preceded by the startup of the default features: 50 candles of 1h.
    expect(Date.parse(start) - Date.parse(input.start)).toBe((30 * 24 + 50) * 3_600_000);
  });

  it('default date range ends at the newest stored candle', async () => {
    newest = '2026-01-20T00:00:00.000Z';
    const { config, timeframe } = await accepted({
      timeframe: '1h',
      train_period_days: 10,
      backtest_period_days: 2,
    });
    expect(timeframe).toBe('1h');
    expect(config.date_range).toEqual({
      start: '2026-01-12T01:00:00.000Z',
      end: '2026-01-20T01:00:00.000Z',
    });
  });

  it('request accepts every field', async () => {
    const body = {
      pairs: ['ETH/USDT:USDT'],
      timeframe: '4h',
      n_trials: 20,
      train_period_days: 60,
      backtest_period_days: 14,
      objective_metric: 'max_drawdown_pct',
      n_estimators_range: [7, 7],
      learning_rate_range: [0.1, 0.1],
      model_types: ['CatboostClassifier', 'lightgbm'],
      date_range: { start: '2025-01-01', end: '2025-06-01T00:00:00+00:00' },
      sampler: 'random',
      pruner: 'none',
      seed: 4_294_967_295,
      workers: 2,
      experiment_name: 'all',
      precision: 'none',
    };
    const account = {
      stake_amount: 250,
      dry_run_wallet: 5_000,
      max_open_trades: 3,
      fee: 0.0005,
      slippage: 0.0002,
      leverage: 2,
    };
    const job = await accepted({ ...body, ...account });
    const { pairs, experiment_name, timeframe, date_range, precision, ...config } = body;
    expect(job.account).toEqual(account);
    expect(job).toMatchObject({ pairs, timeframe, experiment_name, precision, warnings: [], config });
    // The direction follows from the metric.
    expect(job.config.direction).toBe('minimize');
    expect(job.config.date_range).toEqual({
      start: '2025-01-01T00:00:00.000Z',
      end: '2025-06-01T00:00:00.000Z',
    });
  });

  it.each([
    [
      'by other names',
      ['lightgbm', 'XGBoostClassifier'],
      /^model_types: XGBoostClassifier and lightgbm train the same model here, since a tree of max_depth 3 has at most 8 leaves and max_leaves is 31/,
    ],
    ['one of them', ['leafwise_gbdt', 'symmetric_gbdt'], undefined],
  ])(
    'response warns of two kinds of models that are the same one: %s',
    async (_name, model_types, warning) => {
      const { warnings } = await accepted({ model_types });
      expect(warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
    },
  );

  it('trials run with the precision of their backtest', async () => {
    const asked = { exchange: 'binanceusdm', pairs: ['BTC/USDT:USDT'], model_types: ['xgboost'] };
    expect(await accepted(asked)).toMatchObject({ precision: 'none', warnings: [] });
    expect((await submit({ ...asked, precision: 'exchange' })).body.detail).toMatchObject({
      code: 'VAL005',
      field: 'precision',
      message: expect.stringMatching(
        /^precision exchange needs the instruments of BTC.*set precision to none$/,
      ),
      context: { missing: ['BTC/USDT:USDT'] },
    });
    const record = {
      amount_step: 0.001,
      min_amount: null,
      max_amount: null,
      min_cost: 5,
      max_cost: null,
      contract_size: 1,
      price_tick: null,
      collected_at: '2026-01-01T00:00:00.000Z',
    };
    await instruments.record('binanceusdm', 'BTC/USDT:USDT', record);
    const exact = await accepted(asked);
    expect(exact).toMatchObject({ precision: 'exchange' });
    // The precision applies to all trials.
    const stored = await new DynamoHyperoptStore(engine.client, engine.tables.jobs).get(exact.job_id);
    expect(stored!.instruments).toEqual({ 'BTC/USDT:USDT': record });
    expect(await accepted({ ...asked, precision: 'none' })).toMatchObject({ precision: 'none' });
    expect(
      await accepted({ exchange: 'sim', precision: 'exchange', model_types: ['xgboost'] }),
    ).toMatchObject({
      precision: 'none',
      warnings: [expect.stringMatching(/^precision is none: sim has no price ticks/)],
    });
  });

  it('search of strategy parameters includes candles for the longest startup', async () => {
    const date_range = { start: '2025-01-01', end: '2025-06-01' };
    await submit({ strategy: 'ema_crossover', date_range });
    const before = started.at(-1)!;
    const { body } = await submit({
      strategy: 'ema_crossover',
      date_range,
      search: { slow: {}, fast: { max: 9 } },
    });
    const job = (await call(`/${body.job_id}`)).body;
    expect(job.config.search).toMatchObject({ fast: { kind: 'integer', max: 9 }, slow: { kind: 'integer' } });
    expect(Date.parse(started.at(-1)!.start)).toBeLessThan(Date.parse(before.start));
  });

  it.each<[string, object, number]>([
    ['of every choice', { models: 'none' }, 168 * (10 - 1)],
    ['of the choices that are searched', { search: { unit: { choices: ['day', 'hour'] } } }, 24],
    [
      'when one parameter shortens and another lengthens them',
      { search: { slow: {}, fast: { min: 2 } } },
      10 - 2,
    ],
  ])('collection includes the startup candles %s', async (_, request, candles) => {
    const range = { date_range: { start: '2025-01-01', end: '2025-02-01' } };
    const asked = { strategy: 'slow_by_choice', models: 'none', ...range, ...request };
    expect((await submit(asked)).status).toBe(200);
    const before = Date.parse('2025-01-01') - Date.parse(started.at(-1)!.start);
    expect(before / 3_600_000).toBe(candles);
  });

  it('job without models searches strategy parameters over the range of a backtest', async () => {
    newest = '2026-01-20T00:00:00.000Z';
    const { body } = await submit({ strategy: 'ema_crossover', models: 'none', train_period_days: 9 });
    expect(body.warnings).toEqual(['train_period_days was ignored: no models are trained']);
    const job = (await call(`/${body.job_id}`)).body;
    const { config } = job;
    expect(config).toMatchObject({
      model_types: ['none'],
      spaces: ['params'],
      date_range: { start: '2025-10-22T01:00:00.000Z', end: '2026-01-20T01:00:00.000Z' },
      search: {
        fast: { kind: 'integer', min: 5, max: 45 },
        slow: { kind: 'integer', min: 50, max: 200 },
      },
    });
    for (const name of ['train_period_days', 'n_estimators_range', 'learning_rate_range'])
      expect(config).not.toHaveProperty(name);
    // Startup is 5 times the longest searched average; there is no training period.
    const start = Date.parse(config.date_range.start);
    expect(start - Date.parse(started.at(-1)!.start)).toBe(1_000 * 3_600_000);
    // A range shorter than a window is one window.
    const short = { date_range: { start: '2025-01-01', end: '2025-01-03' } };
    expect((await submit({ strategy: 'ema_crossover', models: 'none', ...short })).status).toBe(200);
    const same = await submit({ strategy: 'ema_crossover', model_types: ['none'], search: { fast: {} } });
    const other = (await call(`/${same.body.job_id}`)).body.config;
    expect(other).toEqual({ ...config, search: { fast: config.search.fast } });
  });

  it('spaces are stored in canonical order; an unsearched model keeps its settings', async () => {
    const { config } = await accepted({ spaces: ['trailing', 'params', 'stoploss'] });
    expect(config).toMatchObject({
      spaces: ['params', 'stoploss', 'trailing'],
      model_types: ['depthwise_gbdt'],
      n_estimators_range: [60, 60],
      learning_rate_range: [0.05, 0.05],
      train_period_days: 30,
    });
    const all = await accepted({ spaces: ['trailing', 'ml', 'roi', 'params', 'stoploss'] });
    expect(all.config.spaces).toEqual(['params', 'stoploss', 'roi', 'trailing', 'ml']);
    // A strategy without a declared model then has no model, as in a backtest.
    const { body } = await submit({ strategy: 'ema_crossover', spaces: ['roi'] });
    const own = (await call(`/${body.job_id}`)).body.config;
    expect(own).toMatchObject({ spaces: ['roi'], model_types: ['none'], search: {} });
    const { body: asked } = await submit({
      strategy: 'ema_crossover',
      spaces: ['roi', 'ml'],
      model_types: ['xgboost'],
    });
    const withModels = (await call(`/${asked.job_id}`)).body.config;
    expect(withModels).toMatchObject({ spaces: ['roi', 'ml'], n_estimators_range: [50, 500] });
  });

  it('response warns of ignored fields and of more workers than a tenth of the trials', async () => {
    const { config, warnings } = await accepted({ n_trail: 3, n_trials: 25, workers: 8 });
    expect(config.workers).toBe(2);
    expect(warnings).toEqual([
      'Unknown key n_trail was ignored; did you mean n_trials?',
      expect.stringMatching(/^model_types: depthwise_gbdt and leafwise_gbdt train the same model/),
      expect.stringMatching(/^workers is 2 instead of 8/),
    ]);
    const misspelt = await submit({
      strategy: 'ema_crossover',
      model_types: ['none'],
      search: { fast: { mni: 5 } },
    });
    expect(misspelt.body.warnings).toEqual([
      'Unknown key search.fast.mni was ignored; did you mean search.fast.min?',
    ]);
  });

  const plain = { strategy: 'ema_crossover', models: 'none' };
  const days = (start: string, end: string) => ({ date_range: { start, end } });
  it.each<[string, object, string, string]>([
    ['no trials', { n_trials: 0 }, 'VAL005', 'n_trials'],
    ['too many trials', { n_trials: 10_001 }, 'VAL005', 'n_trials'],
    ['no training days', { train_period_days: 0 }, 'VAL005', 'train_period_days'],
    ['too many training days', { train_period_days: 731 }, 'VAL005', 'train_period_days'],
    ['no days to trade', { backtest_period_days: 0 }, 'VAL005', 'backtest_period_days'],
    ['too many days to trade', { backtest_period_days: 366 }, 'VAL005', 'backtest_period_days'],
    ['too few training candles', { timeframe: '1d', train_period_days: 3 }, 'VAL005', 'train_period_days'],
    ['an unknown metric', { objective_metric: 'sharp_ratio' }, 'VAL005', 'objective_metric'],
    [
      'a metric that is equal for all trials',
      { objective_metric: 'market_change_pct' },
      'VAL005',
      'objective_metric',
    ],
    ['an unknown direction', { direction: 'up' }, 'VAL005', 'direction'],
    ['no models', { model_types: [] }, 'VAL005', 'model_types'],
    ['an unknown model', { model_types: ['xgboost', 'prophet'] }, 'VAL005', 'model_types.1'],
    ['one model under two names', { model_types: ['xgboost', 'depthwise_gbdt'] }, 'VAL005', 'model_types.1'],
    ['a range of one value', { n_estimators_range: [5] }, 'VAL005', 'n_estimators_range'],
    ['a range of three values', { learning_rate_range: [0.1, 0.2, 0.3] }, 'VAL005', 'learning_rate_range'],
    ['a descending range', { n_estimators_range: [9, 5] }, 'VAL005', 'n_estimators_range'],
    ['no trees', { n_estimators_range: [0, 5] }, 'VAL005', 'n_estimators_range.0'],
    ['too many trees', { n_estimators_range: [1, 5001] }, 'VAL005', 'n_estimators_range.1'],
    ['a learning rate of 0', { learning_rate_range: [0, 0.1] }, 'VAL005', 'learning_rate_range.0'],
    ['a learning rate above 1', { learning_rate_range: [0.1, 1.5] }, 'VAL005', 'learning_rate_range.1'],
    ['an unknown sampler', { sampler: 'bayes' }, 'VAL005', 'sampler'],
    ['an unknown pruner', { pruner: 'hyperband' }, 'VAL005', 'pruner'],
    ['a negative seed', { seed: -1 }, 'VAL005', 'seed'],
    ['no workers', { workers: 0 }, 'VAL005', 'workers'],
    ['too many workers', { workers: 41 }, 'VAL005', 'workers'],
    ['an empty name', { experiment_name: '' }, 'VAL005', 'experiment_name'],
    ['an unknown parameter', { search: { fats: {} } }, 'VAL005', 'search.fats'],
    ['a malformed symbol', { pairs: ['BTCUSDT'] }, 'VAL002', 'pairs.0'],
    ['no pairs', { pairs: [] }, 'VAL005', 'pairs'],
    ['an unknown timeframe', { timeframe: '2h' }, 'VAL003', 'timeframe'],
    ['a malformed exchange name', { exchange: 'A B' }, 'VAL005', 'exchange'],
    ['a date range that ends before it starts', days('2025-06-01', '2025-01-01'), 'VAL001', 'date_range'],
    ['an invalid time', days('soon', '2025-01-01'), 'VAL001', 'date_range'],
    ['a date range without room for a window', days('2025-01-01', '2025-01-07'), 'VAL005', 'date_range'],
    [
      'more than a thousand windows',
      { ...days('2020-01-01', '2024-01-01'), backtest_period_days: 1 },
      'VAL005',
      'date_range',
    ],
    ['an unknown strategy', { strategy: 'unknown' }, 'RES002', 'strategy'],
    ['models none for a strategy that needs models', { models: 'none' }, 'VAL005', 'models'],
    ['an unknown value of models', { models: 'all' }, 'VAL005', 'models'],
    ['model type none with another', { model_types: ['none', 'xgboost'] }, 'VAL005', 'model_types'],
    ['model type none twice', { ...plain, model_types: ['none', 'none'] }, 'VAL005', 'model_types'],
    ['models none with a model type', { ...plain, model_types: ['xgboost'] }, 'VAL005', 'model_types'],
    ['models none with the ml space', { ...plain, spaces: ['ml'] }, 'VAL005', 'spaces'],
    ['no spaces', { spaces: [] }, 'VAL005', 'spaces'],
    ['an unknown space', { spaces: ['params', 'sell'] }, 'VAL005', 'spaces.1'],
    ['a space twice', { spaces: ['roi', 'params', 'roi'] }, 'VAL005', 'spaces.2'],
    ['search and spaces', { spaces: ['params'], search: { horizon: {} } }, 'VAL005', 'search'],
    ['nothing to search', { ...plain, strategy: 'buy_and_hold' }, 'VAL005', 'spaces'],
    ['nothing in search', { ...plain, search: {} }, 'VAL005', 'search'],
    [
      'models to choose from, outside spaces',
      { spaces: ['roi'], model_types: ['xgboost', 'lightgbm'] },
      'VAL005',
      'model_types',
    ],
    [
      'trees to choose, outside spaces',
      { spaces: ['roi'], n_estimators_range: [5, 9] },
      'VAL005',
      'n_estimators_range',
    ],
    ['an empty wallet', { dry_run_wallet: 0 }, 'VAL005', 'dry_run_wallet'],
    ['a stake above the wallet', { stake_amount: 50, dry_run_wallet: 40 }, 'VAL005', 'stake_amount'],
    ['a fee above the limit', { fee: 0.11 }, 'VAL005', 'fee'],
    ['a negative slippage', { slippage: -0.001 }, 'VAL005', 'slippage'],
    ['too much leverage', { leverage: 126 }, 'VAL005', 'leverage'],
    ['max_open_trades of 0', { max_open_trades: 0 }, 'VAL005', 'max_open_trades'],
  ])('request with %s is rejected', async (_, body, code, field) => {
    const { status, body: rejection } = await submit(body);
    expect(rejection.detail).toMatchObject({ code, field });
    expect(status).toBe(code === 'RES002' ? 404 : 400);
    expect(rejection.detail.message).not.toMatch(/config\.|ml_engine/);
  });

  it('unknown model or metric is rejected with the valid ones', async () => {
    const { body } = await submit({ model_types: ['prophet'] });
    expect(body.detail.context.allowed).toEqual(
      expect.arrayContaining(['depthwise_gbdt', 'XGBoostClassifier']),
    );
    const metric = await submit({ objective_metric: 'sharp_ratio' });
    expect(metric.body.detail.message).toContain('did you mean sharpe_ratio?');
    expect(metric.body.detail.context.allowed).toContain('sortino_ratio');
  });
});

describe('objective as an expression', () => {
  const none = { strategy: 'ema_crossover', models: 'none' };
  const expression = { ...none, objective_metric: 'sharpe_ratio - max(0, max_drawdown_pct - 20) / 10' };

  it('is kept with its direction, which it needs', async () => {
    const { config } = (
      await call(`/${(await submit({ ...expression, direction: 'maximize' })).body.job_id}`)
    ).body;
    expect(config).toMatchObject({ objective_metric: expression.objective_metric, direction: 'maximize' });
    const { body } = await submit(expression);
    expect(body.detail).toMatchObject({ code: 'VAL004', field: 'direction' });
    const wrong = await submit({ ...expression, direction: 'up' });
    expect(wrong.body.detail).toMatchObject({ code: 'VAL005', field: 'direction' });
  });

  it.each([
    ['sharpe_ratio + sharp_ratio', 15],
    ['sharpe_ratio +', 14],
    ['sharpe_ratio / market_change_pct', 15],
    ['process.exit()', 0],
    ['1 + 1', 0],
    ['', 0],
    ['('.repeat(500), 500],
    [`sharpe_ratio${' '.repeat(1_000_000)}`, 500],
  ])('%.40j is rejected with the position', async (objective_metric, position) => {
    const { status, body } = await submit({ ...none, objective_metric, direction: 'maximize' });
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'objective_metric', context: { position } });
  });

  it('names the nearest metric', async () => {
    const { body } = await submit({
      ...none,
      objective_metric: 'log(1 + sharp_ratio)',
      direction: 'maximize',
    });
    expect(body.detail.message).toContain(
      'Unknown metric sharp_ratio at position 8; did you mean sharpe_ratio?',
    );
  });
});

describe('constraints', () => {
  const none = { strategy: 'ema_crossover', models: 'none' };

  it('of an object count relative to their limits, those of a list to at least 1', async () => {
    const constraints = { min_trades: 30, max_drawdown_pct: 0.5 };
    const job = (await call(`/${(await submit({ ...none, constraints })).body.job_id}`)).body;
    expect(job.config.constraints).toEqual([
      { metric: 'total_trades', bound: 'min', limit: 30, divisor: 30 },
      { metric: 'max_drawdown_pct', bound: 'max', limit: 0.5, divisor: 0.5 },
    ]);
    const list = [
      { metric: 'sortino_ratio', min: -4, max: 0.5 },
      { metric: 'funding', min: 0 },
    ];
    const listed = (await call(`/${(await submit({ ...none, constraints: list })).body.job_id}`)).body;
    expect(listed.config.constraints).toEqual([
      { metric: 'sortino_ratio', bound: 'min', limit: -4, divisor: 4 },
      { metric: 'sortino_ratio', bound: 'max', limit: 0.5, divisor: 1 },
      { metric: 'funding', bound: 'min', limit: 0, divisor: 1 },
    ]);
    const empty = (await call(`/${(await submit({ ...none, constraints: {} })).body.job_id}`)).body;
    expect(empty.config.constraints).toBeUndefined();
  });

  it.each([
    [{ min_trades: 0 }, 'constraints.min_trades'],
    [{ max_drawdown_pct: -5 }, 'constraints.max_drawdown_pct'],
    [{ min_profit_factor: 1e-300 }, 'constraints.min_profit_factor'],
    [{ min_trade: 5 }, 'constraints.min_trade'],
    [{ constructor: 5 }, 'constraints.constructor'],
    [[{ metric: 'sharp', min: 1 }], 'constraints.0.metric'],
    [[{ metric: 'sharpe_ratio' }], 'constraints.0'],
    [[{ min: 1 }], 'constraints.0.metric'],
    [[{ metric: 'sharpe_ratio', min: '1' }], 'constraints.0.min'],
    [[{ metric: 'sharpe_ratio', min: 2, max: 1 }], 'constraints.0'],
    [[{ metric: 'sharpe_ratio', mim: 2, max: 1 }], 'constraints.0.mim'],
    [Array(21).fill({ metric: 'sharpe_ratio', min: 0 }), 'constraints'],
  ])('%j are rejected', async (constraints, field) => {
    const { status, body } = await submit({ ...none, constraints });
    expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', field]);
  });

  it.each([[[1]], ['5'], [{ min_trades: '5' }], [{ min_trades: null }]])(
    '%j do not fit the schema',
    async (constraints) => {
      expect((await submit({ ...none, constraints })).status).toBe(400);
    },
  );
});

describe('grid', () => {
  const none = { strategy: 'ema_crossover', models: 'none', sampler: 'grid' };
  const grid = async (body: object) => {
    const { status, body: reply } = await submit({ ...none, ...body });
    expect(status, JSON.stringify(reply)).toBe(200);
    return (await call(`/${reply.job_id}`)).body;
  };

  it('has as many trials as points, in the order of the request', async () => {
    const search = { slow: { min: 50, max: 61, step: 5 }, fast: { min: 5, max: 8 } };
    const job = await grid({ search });
    expect(job.total_trials).toBe(12);
    expect(job.config).toMatchObject({ sampler: 'grid', grid_order: ['slow', 'fast'] });
    expect((await grid({ search, n_trials: 5 })).total_trials).toBe(5);
    expect((await grid({ search: { fast: {} } })).total_trials).toBe(41);
  });

  it.each<[string, object, string, string, object]>([
    [
      'more trials than points',
      { search: { fast: { min: 5, max: 8 } }, n_trials: 5 },
      'VAL005',
      'n_trials',
      { size: 4 },
    ],
    [
      'more than 10,000 points of a number',
      { strategy: 'macd_momentum', search: { adx_least: { min: 0, max: 1, step: 1e-9 } } },
      'VAL005',
      'search',
      { size: 1_000_000_001, max: 10_000 },
    ],
    [
      'a number without a step',
      { strategy: 'macd_momentum', search: { adx_least: {} } },
      'VAL004',
      'search.adx_least.step',
      {},
    ],
    [
      'a number without a step by spaces',
      { strategy: 'macd_momentum', spaces: ['params'] },
      'VAL004',
      'search.adx_least.step',
      {},
    ],
    [
      'a step of 1e-300',
      { strategy: 'macd_momentum', search: { adx_least: { step: 1e-300 } } },
      'VAL005',
      'search.adx_least.step',
      {},
    ],
    ['a step of 0', { search: { fast: { step: 0 } } }, 'VAL005', 'search.fast.step', {}],
    ['a negative step', { search: { fast: { step: -1 } } }, 'VAL005', 'search.fast.step', {}],
    [
      'a fraction as the step of an integer',
      { search: { fast: { step: 0.5 } } },
      'VAL005',
      'search.fast.step',
      {},
    ],
    ['the stop', { spaces: ['params', 'stoploss'] }, 'VAL005', 'spaces', { value: 'stoploss' }],
    [
      'a range of trees',
      { strategy: 'ml_classifier', models: undefined, search: {} },
      'VAL005',
      'n_estimators_range',
      {},
    ],
    [
      'a step without the grid',
      { sampler: 'tpe', search: { fast: { step: 5 } } },
      'VAL005',
      'search.fast',
      {},
    ],
  ])('with %s is rejected', async (_, body, code, field, context) => {
    const { status, body: reply } = await submit({ ...none, ...body });
    expect([status, reply.detail?.code, reply.detail?.field]).toEqual([400, code, field]);
    expect(reply.detail.context).toMatchObject(context);
  });
});

describe('hyperopt job', () => {
  it('job is visible only to its owner until it is shared', async () => {
    const { job_id } = await accepted({ experiment_name: 'mine' });
    const as = (who: string, init: RequestInit = {}) => ({
      ...init,
      headers: { ...init.headers, Authorization: who },
    });
    const rejections = [
      await call(`/${job_id}`, as('bob')),
      await call(`/${job_id}/trials`, as('bob')),
      await call(`/${job_id}/result`, as('bob')),
      await call(`/${job_id}/cancel`, as('bob', { method: 'POST' })),
    ];
    for (const { status, body } of rejections) {
      expect([status, body.detail.code]).toEqual([403, 'AUTH005']);
    }
    const listed = async (who: string) => (await call('?experiment_name=mine', as(who))).body.items.length;
    expect([await listed('ada'), await listed('bob')]).toEqual([1, 0]);
    const share = post({ shared_with: [{ principal: 'user:bob' }] });
    expect((await call(`/${job_id}/sharing`, { ...share, method: 'PUT' })).status).toBe(200);
    expect((await call(`/${job_id}`, as('bob'))).status).toBe(200);
    expect(await listed('bob')).toBe(1);
    expect((await call(`/${job_id}/cancel`, as('bob', { method: 'POST' }))).status).toBe(403);
    expect((await call('/ho-unknown', as('bob'))).body.detail.code).toBe('OPT001');
  });

  it('only a cancelled job resumes as a new one', async () => {
    const { job_id } = await accepted({ n_trials: 7 });
    const resume = (headers = {}) => call(`/${job_id}/resume`, { method: 'POST', headers });
    const early = await resume();
    expect([early.status, early.body.detail.code]).toEqual([409, 'RES005']);
    expect((await call(`/${job_id}/cancel`, { method: 'POST' })).status).toBe(200);
    const { status, body } = await resume({ 'Idempotency-Key': 'again', 'Touchstone-Session': 'monday' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'pending', n_trials: 7 });
    expect(body.job_id).not.toBe(job_id);
    expect(started.at(-1)!.job_id).toBe(body.job_id);
    expect((await resume({ 'Idempotency-Key': 'again' })).body.job_id).toBe(body.job_id);
    const [old, next] = [(await call(`/${job_id}`)).body, (await call(`/${body.job_id}`)).body];
    expect(next).toMatchObject({ resumed_from: job_id, config: old.config, current_trial: 0 });
    expect([old.session, next.session]).toEqual([null, 'monday']);
    expect(old.status).toBe('cancelled');
  });

  it('job of the previous version, whose range includes training data, is read and continues', async () => {
    // Its dates included training; the traded range was stored separately and is kept.
    const old = pendingHyperopt('ho-before', {
      date_range: { start: RANGE_BEFORE, end: '2025-01-02T00:00:00.000Z' },
    });
    await new DynamoHyperoptStore(engine.client, engine.tables.jobs).create({ ...old, owner: 'ada' });
    const { status, body } = await call('/ho-before');
    expect(status).toBe(200);
    expect(body.config.date_range).toEqual(old.base.date_range);
    expect(body.config).not.toHaveProperty('spaces');
    await call('/ho-before/cancel', { method: 'POST' });
    const resumed = (await call('/ho-before/resume', { method: 'POST' })).body.job_id;
    const stored = await new DynamoHyperoptStore(engine.client, engine.tables.jobs).get(resumed);
    expect(stored).toMatchObject({ base: old.base, config: old.config });
    expect(started.at(-1)).toEqual({
      ...old.execution_input,
      job_id: resumed,
      correlation_id: expect.any(String),
    });
  });
});
