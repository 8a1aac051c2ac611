import { describe, expect, it } from 'vitest';
import { BacktestReport as ReportSchema } from '#contract/backtests/report.ts';
import { runBacktest } from '#engine/backtest.ts';
import { sliceCandles } from '#engine/candles.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { sha256 } from '../backtest-sample.ts';
import { walk } from '../run/candles.ts';
import { learningInput, type SampleOptions } from './sample.ts';

const run = (options?: SampleOptions) => runBacktest(learningInput(options), { digest: sha256 });

/** Always in the market, alternating sides, regardless of predictions. */
const always: StrategyDefinition = {
  ...emaCrossover,
  name: 'always',
  parameters: {},
  startupCandles: () => 0,
  indicators: () => ({}),
  signals: ({ close }, columns) => {
    seen.push(columns);
    const all = new Uint8Array(close.length).fill(1);
    const odd = all.map((_, row) => row % 2);
    return {
      enterLong: odd,
      exitLong: odd.map((value) => 1 - value),
      enterShort: odd.map((value) => 1 - value),
      exitShort: odd,
    };
  },
};
const seen: Readonly<Record<string, Float64Array | undefined>>[] = [];

describe('backtest with models', () => {
  const outcome = run();
  const models = outcome.report.models!;

  it('backtest with models learns a predictable market', () => {
    expect(models.quality.auc).toBeGreaterThan(0.9);
    expect(models.quality.log_loss).toBeLessThan(models.quality.base_log_loss!);
    expect(outcome.result.total_trades).toBeGreaterThan(10);
    expect(outcome.result.total_profit).toBeGreaterThan(0);
  });

  it('models report contains every window and matches the contract', () => {
    expect(ReportSchema.parse(outcome.report)).toEqual(outcome.report);
    expect(models).toMatchObject({ model_kind: 'depthwise_gbdt', horizon: 12, trained: 8 });
    expect(models.windows.map(({ pair, index }) => `${pair} ${index}`)).toEqual(
      ['BTC/USDT:USDT', 'ETH/USDT:USDT'].flatMap((pair) => [0, 1, 2, 3].map((i) => `${pair} ${i}`)),
    );
    expect(models.windows[1]).toMatchObject({
      train_from: '2023-12-25T00:00:00.000Z',
      train_to: '2024-01-04T00:00:00.000Z',
      test_from: '2024-01-04T00:00:00.000Z',
      test_to: '2024-01-07T00:00:00.000Z',
      training_rows: 228,
      skipped: null,
      quality: { rows: 72 },
    });
    // The last 12 labels are unknown at the end of the data.
    expect(models.windows[3]!.quality.rows).toBe(24 - 12);
    expect(models.quality.rows).toBe(2 * (240 - 12));
    const shown = models.windows[1]!.calibration.reduce((rows, bin) => rows + bin.rows, 0);
    expect(shown).toBe(72);
  });

  it('models are not evaluated on labels beyond the end of the data', () => {
    const mlLabel: StrategyDefinition['mlLabel'] = (candles, params) => {
      const { labels, horizon } = mlClassifier.mlLabel!(candles, params);
      return { labels: labels.map((label) => label % 255), horizon };
    };
    const { report } = run({ strategy: { ...mlClassifier, mlLabel } });
    expect(report.models!.quality).toEqual(models.quality);
  });

  it('feature importances sum to 1 in descending order', () => {
    const gains = models.importances.map(({ gain }) => gain);
    expect(models.importances).toHaveLength(models.features);
    expect(gains.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
    expect(gains).toEqual(gains.toSorted((a, b) => b - a));
    expect(Math.max(...models.importances.map(({ permutation }) => permutation!))).toBeGreaterThan(0.01);
  });

  it('backtest with models is reproducible and changes with the model type', () => {
    expect(JSON.stringify(run().report)).toBe(JSON.stringify(outcome.report));
    const other = run({ ml: { model_type: 'logistic_regression' } });
    expect(other.report.models).toMatchObject({ model_kind: 'logistic_regression', trained: 8 });
    expect(other.report.provenance.digest).not.toBe(outcome.report.provenance.digest);
  });

  it('report states the requested model type and the model kind it maps to', () => {
    const { report } = run({ ml: { model_type: 'LightGBMClassifier' }, days: 3 });
    expect(report.settings.ml_engine).toMatchObject({ model_type: 'LightGBMClassifier' });
    expect(report.models!.model_kind).toBe('leafwise_gbdt');
  });

  it('backtest with models includes the first training period in its startup candles', () => {
    expect(outcome.report.settings.startup_candles).toBe(50 + 10 * 24);
    expect(outcome.report.warnings).toEqual([expect.stringContaining('too few trades')]);
  });
});

it('report warns when models predict no better than the base rate', () => {
  const input = learningInput();
  const pairs = input.pairs.map((pair, i) => {
    const rows = pair.candles.timestamp.length;
    return { ...pair, candles: walk(rows, 3_600_000, i + 1, pair.candles.timestamp[0]!) };
  });
  const { report } = runBacktest({ ...input, pairs }, { digest: sha256 });
  expect(report.models!.quality.auc).toBeLessThan(0.6);
  expect(report.warnings).toContainEqual(
    expect.stringMatching(/^Out of sample the models predict no better than the base rate/),
  );
});

describe('strategy that does not read predictions', () => {
  const entries = (threshold: number, ml = {}) => {
    const { report, trades } = run({ strategy: always, ml: { ...ml, entry_threshold: threshold } });
    return { report, trades };
  };

  it('strategy trades without models when ml_engine is absent', () => {
    const input = learningInput({ strategy: always });
    const { ml_engine: _, ...config } = input.config;
    const { report } = runBacktest({ ...input, config }, { digest: sha256 });
    expect(report.models).toBeUndefined();
    expect(report.data[0]!.enter_long_signals).toBe(120);
  });

  it('entry_threshold gates long entries by high and short entries by low probability', () => {
    const loose = entries(0).report.data[0]!;
    const even = entries(0.5).report.data[0]!;
    const strict = entries(0.7).report.data[0]!;
    expect([loose.enter_long_signals, loose.enter_short_signals]).toEqual([120, 120]);
    expect(even.enter_long_signals).toBeGreaterThan(strict.enter_long_signals);
    expect(even.enter_short_signals).toBeGreaterThan(strict.enter_short_signals);
    expect(strict.enter_long_signals).toBeGreaterThan(0);
    expect(entries(1).trades).toEqual([]);
  });

  it('entry_threshold gates both sides by the same probability', () => {
    seen.length = 0;
    const { report } = entries(0.6);
    const { ml_probability: p } = seen[0]!;
    const count = (remainder: number, holds: (probability: number) => boolean) =>
      [...p!].filter((value, row) => row % 2 === remainder && holds(value)).length;
    expect(report.data[0]).toMatchObject({
      enter_long_signals: count(1, (value) => value >= 0.6),
      enter_short_signals: count(0, (value) => value <= 0.4),
    });
  });

  it('prediction columns are passed to a strategy that does not read them', () => {
    seen.length = 0;
    run({ strategy: always });
    const { ml_probability, do_predict } = seen[0]!;
    const first = do_predict!.indexOf(1);
    expect(first).toBe(290);
    expect(ml_probability!.subarray(0, first).every(Number.isNaN)).toBe(true);
    expect(do_predict!.subarray(first).every((value) => value === 1)).toBe(true);
  });
});

describe('short history with models', () => {
  it('backtest rejects history too short for any training window and states the required start', () => {
    expect(() => run({ history: 1, days: 3 })).toThrow(
      /^BTC\/USDT:USDT has no window with a trained model \(0 of 228 training rows exist, at least 114 are needed\)\. Before the first prediction the ML engine needs 240 1h training candles \(train_period_days 10\) and 50 startup candles\. Candles from 2023-12-19T22:00:00\.000Z are needed; the stored candles begin at 2023-12-31T00:00:00\.000Z\./,
    );
  });

  it('windows without enough history have no predictions and are warned about', () => {
    const { report } = run({ history: 1 });
    expect(report.models!.windows.map(({ skipped }) => skipped !== null).slice(0, 4)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(report.warnings).toContainEqual(
      expect.stringMatching(
        /^3 of 4 windows of ETH\/USDT:USDT have no model and no predictions\. Reason in the window from 2024-01-01T/,
      ),
    );
  });

  it('pair with too little training history is left out with a warning', () => {
    const input = learningInput();
    const short = input.pairs.map((pair, i) => {
      const rows = pair.candles.timestamp.length;
      return i === 0 ? pair : { ...pair, candles: sliceCandles(pair.candles, rows - 60, rows) };
    });
    const { report } = runBacktest({ ...input, pairs: short }, { digest: sha256 });
    expect(report.data.map(({ pair }) => pair)).toEqual(['BTC/USDT:USDT']);
    expect(report.warnings[0]).toMatch(/^Pair excluded: ETH\/USDT:USDT has no window/);
  });
});
