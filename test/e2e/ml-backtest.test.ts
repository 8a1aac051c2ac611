import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Backtests with models over HTTP: the training candles come from sim, and the task trains the models. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-09T00:00:00Z' };
const ML = { train_period_days: 10, backtest_period_days: 3, n_estimators: 10 };
const BTC = ['BTC/USDT:USDT'];
const strategies = mkdtempSync(join(tmpdir(), 'touchstone-ml-'));

/** Strategy with its own feature and label. */
function writeLearner(): void {
  writeFileSync(
    join(strategies, 'learner.ts'),
    `export default {
  name: 'learner', description: 'Learns.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 30, stoploss: -0.9,
  indicators: ({ close }) => ({ rise: close.map((price, row) => price / (close[row - 24] ?? price)) }),
  mlFeatures: (_candles, { rise }) => ({ rise }),
  mlLabel: ({ close }) => ({
    labels: Uint8Array.from(close, (price, row) => row + 2 < close.length ? Number(close[row + 2] > price) : 255),
    horizon: 2,
  }),
  mlEngine: ${JSON.stringify(ML)},
  signals: (_candles, { ml_probability, do_predict }) => ({
    enterLong: Uint8Array.from(do_predict, (set, row) => set && ml_probability[row] >= 0.5),
    exitLong: Uint8Array.from(do_predict, (set, row) => set && ml_probability[row] < 0.5),
  }),
};
`,
  );
}
writeLearner();

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ strategiesDirectory: strategies });
});
afterAll(async () => {
  await platform.stop();
  rmSync(strategies, { recursive: true, force: true });
});

const submit = (config: Record<string, unknown>) =>
  platform.post('/api/v1/backtests', { config: { pairs: BTC, date_range: RANGE, ...config } });

it('strategies report if they trade on predictions', async () => {
  const { body } = await platform.get('/api/v1/strategies/ml_classifier');
  expect(body.ml_engine).toEqual({ enabled: true, model_type: 'depthwise_gbdt' });
  expect(body.startup_candles).toBe(50 + 60 * 24);
  const { body: other } = await platform.get('/api/v1/strategies/ema_crossover');
  expect(other.ml_engine).toEqual({ enabled: false, model_type: 'none' });
});

describe('strategy with ml_engine.enabled', () => {
  let job: any;
  beforeAll(async () => {
    const { status, body } = await submit({
      strategy: 'ema_crossover',
      timeframe: '1h',
      ml_engine: { enabled: true, model_type: 'LightGBMClassifier', ...ML, n_estimator: 5 },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    job = await platform.until(body.job_id, 'completed');
  });

  it('job stores the request, every default and the ignored keys', () => {
    expect(job.config.ml_engine).toMatchObject({
      enabled: true,
      model_type: 'LightGBMClassifier',
      ...ML,
      learning_rate: 0.1,
      entry_threshold: 0.5,
    });
    expect(job.warnings).toContain(
      'Unknown key config.ml_engine.n_estimator was ignored; did you mean config.ml_engine.n_estimators?',
    );
  });

  it('job collects the candles of the training period', async () => {
    expect(job.collection).toMatchObject({ status: 'completed' });
    const { body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(body.settings.startup_candles).toBe(250 + 240);
    expect(body.data[0]).toMatchObject({ startup_candles: 490, candles: 192 });
  });

  it('report contains windows, quality and importances', async () => {
    const { body } = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(body.models).toMatchObject({ model_kind: 'leafwise_gbdt', trained: 3, horizon: 12 });
    expect(body.models.windows).toHaveLength(3);
    for (const window of body.models.windows) {
      expect(window.quality.auc).toBeGreaterThan(0);
      expect(window.quality.log_loss).toBeGreaterThan(0);
      expect(window.calibration.length).toBeGreaterThan(0);
    }
    expect(body.models.importances[0]).toMatchObject({ feature: expect.any(String) });
    expect(body.provenance.digest).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('touchstone backtest trains models by its options and prints their quality', async () => {
  const { code, out, err } = await runScript(strategies, 'bin/touchstone.ts', [
    '--url',
    platform.info.backend_url,
    'backtest',
    'ema_crossover',
    '--pairs',
    BTC[0]!,
    '--start',
    RANGE.start,
    '--end',
    RANGE.end,
    '--timeframe',
    '1h',
    '--ml',
    'model_type=logistic_regression',
    '--ml',
    'train_period_days=10',
  ]);
  expect(code, err).toBe(0);
  expect(out).toContain('ML models out of sample: logistic_regression, 22 features');
  expect(out).toMatch(/BTC\/USDT:USDT +│ +2 │ +0\.\d{3} │/);
  // Of seven days no Sharpe ratio is deflated.
  expect(out.replace('deflated Sharpe ratio undefined', '')).not.toMatch(/NaN|undefined/);
});

describe('version of a strategy that trades on predictions', () => {
  it('version passes the look-ahead analysis and is in the catalog with its models', async () => {
    const { body: submitted } = await submit({ strategy: 'learner' });
    const job = await platform.until(submitted.job_id, 'completed', 'failed');
    expect(job.status, job.error).toBe('completed');
    expect(job.config.ml_engine).toMatchObject({ ...ML, entry_threshold: null });
    const registered = await platform.strategy.post('/api/v1/strategies/learner/register', {
      backtest_run_id: job.job_id,
      container_image_uri: 'registry.example/touchstone:1.0.0',
      thresholds: { max_drawdown: 100 },
    });
    const { version } = registered.body;
    await platform.post('/api/v1/strategies/learner/stage', { version });
    const { checks } = await platform.validated('learner', version);
    expect(checks.find((each: any) => each.name === 'look_ahead')).toMatchObject({ status: 'passed' });
    const { body } = await platform.get('/api/v1/catalog/strategies?search=learner');
    expect(body.items[0].ml_engine).toEqual({ enabled: true, model_type: 'depthwise_gbdt' });
  });
});

describe('validation of ml_engine', () => {
  it.each<[string, unknown, string, string]>([
    ['an unknown model', { model_type: 'svm' }, 'VAL005', 'config.ml_engine.model_type'],
    ['too short a training period', { train_period_days: 0 }, 'VAL005', 'config.ml_engine.train_period_days'],
    ['too long a window', { backtest_period_days: 366 }, 'VAL005', 'config.ml_engine.backtest_period_days'],
    ['no trees', { n_estimators: 0 }, 'VAL005', 'config.ml_engine.n_estimators'],
    ['a learning rate above 1', { learning_rate: 1.5 }, 'VAL005', 'config.ml_engine.learning_rate'],
    ['an unknown class weight', { class_weight: 'fair' }, 'VAL005', 'config.ml_engine.class_weight'],
    ['an entry threshold above 1', { entry_threshold: 2 }, 'VAL005', 'config.ml_engine.entry_threshold'],
  ])('ml_engine rejects %s', async (_, ml_engine, code, field) => {
    const { status, body } = await submit({ strategy: 'ema_crossover', ml_engine });
    expect([status, body.detail.code, body.detail.field]).toEqual([400, code, field]);
  });

  it('error for an unknown model lists all models', async () => {
    const { body } = await submit({ strategy: 'ema_crossover', ml_engine: { model_type: 'svm' } });
    expect(body.detail.context.allowed).toEqual(
      expect.arrayContaining(['depthwise_gbdt', 'logistic_regression', 'xgboost', 'CatboostClassifier']),
    );
  });

  it('ml_engine rejects a training period with too few candles of a long timeframe', async () => {
    const { status, body } = await submit({
      strategy: 'ema_crossover',
      timeframe: '1d',
      ml_engine: { train_period_days: 30 },
    });
    expect([status, body.detail.code]).toEqual([400, 'VAL005']);
    expect(body.detail.message).toContain('gives 30 candles of 1d to learn from: a model needs at least 50');
  });

  it('ml_engine cannot be disabled for a strategy that trades on predictions', async () => {
    const { status, body } = await submit({ strategy: 'learner', ml_engine: { enabled: false } });
    expect([status, body.detail.code, body.detail.field]).toEqual([
      400,
      'VAL005',
      'config.ml_engine.enabled',
    ]);
  });

  it('ml_engine rejects a wrong JSON type', async () => {
    const { status, body } = await submit({ strategy: 'learner', ml_engine: { model_type: 5 } });
    expect([status, body.detail[0].type]).toEqual([400, 'string_type']);
    expect(body.detail[0].loc).toEqual(['body', 'config', 'ml_engine', 'model_type']);
  });

  it('job fails and states the required history when training starts before the first candle', async () => {
    const date_range = { start: '2017-01-03T00:00:00Z', end: '2017-01-05T00:00:00Z' };
    const { body } = await submit({ strategy: 'learner', date_range });
    const job = await platform.until(body.job_id, 'failed');
    expect(job.error_code).toBe('DATA001');
    expect(job.error).toContain('the ML engine needs 240 1h training candles (train_period_days 10)');
  });
});
