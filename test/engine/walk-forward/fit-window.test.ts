import { describe, expect, it } from 'vitest';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { trainClassifier } from '#engine/ml/classifier.ts';
import { type FitWindow, fitWindow, type MlRun, predicting, trainingSet } from '#engine/ml/fit-window.ts';
import { type TrainingInputs, trainingInputsOf } from '#engine/ml/training-inputs.ts';
import { mlEngineOf, planWindows } from '#engine/ml/windows.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import { type StrategyDefinition, UNKNOWN_LABEL } from '#engine/strategy.ts';
import { START } from '../run/candles.ts';
import { SMALL, swinging } from './sample.ts';

const STARTUP = 50;
const HORIZON = 12;
const PARAMS = { horizon: HORIZON, enter_probability: 0.55, exit_probability: 0.45 };
/** Row of the first window: ten days of training after the startup candles. */
const FIRST = STARTUP + 240;
const CANDLES = swinging(STARTUP + 240 + 9 * 24, START);
const run: MlRun = {
  config: mlEngineOf(mlClassifier, SMALL),
  windows: planWindows(CANDLES.timestamp[FIRST]!, CANDLES.timestamp.at(-1)! + 3_600_000, {
    train_period_days: 10,
    backtest_period_days: 3,
  }),
  seed: 1,
  pair: 'BTC/USDT:USDT',
  informative: [],
  stepMs: 3_600_000,
  firstRow: STARTUP,
};

const computedOf = ({ timestamp }: Candles, columns = {}) => ({
  columns,
  informative: {},
  pair: run.pair,
  rows: timestamp.length,
});

const learn = (candles: Candles = CANDLES, strategy: StrategyDefinition = mlClassifier) =>
  trainingInputsOf(strategy, PARAMS, candles, computedOf(candles));

describe('training set of a window', () => {
  it('training set ends one horizon before the window', () => {
    const set = trainingSet(learn(), CANDLES.timestamp, run.windows[1]!, run);
    const first = FIRST + 72;
    expect(set.rows).toMatchObject({ trainFrom: first - 240, trainTo: first - HORIZON, from: first });
    expect(set.labels).toHaveLength(240 - HORIZON);
    expect(set.features.columns[0]![0]).toBe(learn().features.columns[0]![first - 240]);
  });

  it('training set excludes startup candles and rows without a label', () => {
    const trainingInputs = learn();
    const labels = trainingInputs.labels.slice();
    labels[STARTUP + 100] = UNKNOWN_LABEL;
    const set = trainingSet({ ...trainingInputs, labels }, CANDLES.timestamp, run.windows[0]!, run);
    expect(set.rows.trainFrom).toBe(STARTUP);
    expect(set.labels).toHaveLength(240 - HORIZON - 1);
    expect(set.features).toMatchObject({ rows: set.labels.length });
    expect(set.features.columns[0]![100]).toBe(trainingInputs.features.columns[0]![STARTUP + 101]);
    expect(set.positives).toBe(set.labels.reduce((a, b) => a + b, 0));
  });

  it.each<[string, (trainingInputs: TrainingInputs) => TrainingInputs, string]>([
    [
      'only one class',
      (each) => ({ ...each, labels: each.labels.map(() => 1) }),
      'all 228 training rows have the label 1',
    ],
    [
      'few labels',
      (each) => ({
        ...each,
        labels: each.labels.map((label, row) => (row < FIRST - 80 ? UNKNOWN_LABEL : label)),
      }),
      '68 of 228 training rows exist, at least 114 are needed',
    ],
    [
      'a horizon that leaves no rows before the tail',
      (each) => ({ ...each, horizon: 180, labels: each.labels.map((_, row) => row % 2) }),
      'early stopping and the horizon of 180 candles leave 0 of 60 training rows to fit, at least 25 are needed',
    ],
    [
      'the second class only in the tail',
      (each) => ({ ...each, labels: each.labels.map((_, row) => (row < FIRST - 60 ? 0 : 1)) }),
      'the first 170 of 228 training rows, to which trees are fitted, all have the label 0',
    ],
  ])('fitWindow skips a window with %s', (_, change, reason) => {
    const fit = fitWindow(change(learn()), CANDLES.timestamp, run.windows[0]!, run);
    expect(fit).toMatchObject({ model: null, skipped: reason });
  });
});

/** All predictions for the candles. */
function predictions(candles: Candles, train?: FitWindow): Float64Array {
  const steps = predicting(mlClassifier, PARAMS, candles, run, { train });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value.predictions.ml_probability;
  }
}

/** First row at which two runs differ. */
function firstDifference(full: Float64Array, part: Float64Array): number {
  return part.findIndex((value, row) => !Object.is(value, full[row]));
}

describe('predictions have no look-ahead bias', () => {
  const full = predictions(CANDLES);
  /** Rows inside windows, just after their first row, and between. */
  const cuts = [FIRST + 1, FIRST + 30, FIRST + 73, FIRST + 75, FIRST + 145];

  it('predictions start with the first window and do not change when later candles are removed', () => {
    expect(full.findIndex((value) => !Number.isNaN(value))).toBe(FIRST);
    expect(full.subarray(FIRST).every((value) => value > 0 && value < 1)).toBe(true);
    for (const known of cuts) {
      expect(firstDifference(full, predictions(sliceCandles(CANDLES, 0, known)))).toBe(-1);
    }
  });

  it('predictions without the embargo depend on later candles (negative control)', () => {
    const withoutEmbargo: FitWindow = (trainingInputs, ...rest) =>
      fitWindow({ ...trainingInputs, horizon: 1 }, ...rest);
    const cheating = predictions(CANDLES, withoutEmbargo);
    const differences = cuts.map((known) =>
      firstDifference(cheating, predictions(sliceCandles(CANDLES, 0, known), withoutEmbargo)),
    );
    expect(differences).toContain(FIRST);
  });

  it('early stopping uses rows separated by the horizon', () => {
    const config = { ...run.config, n_estimators: 60, early_stopping_rounds: 3 };
    const stopped = { ...run, config };
    const [window] = run.windows;
    const { features, labels } = trainingSet(learn(), CANDLES.timestamp, window!, stopped);
    const {
      enabled: _,
      model_type,
      train_period_days,
      backtest_period_days,
      entry_threshold,
      ...settings
    } = config;
    const losses = (embargoRows: number) =>
      trainClassifier({ features, labels }, { ...settings, kind: 'depthwise_gbdt', seed: 1 }, { embargoRows })
        .validationLoss;
    const { model } = fitWindow(learn(), CANDLES.timestamp, window!, stopped);
    expect(model!.validationLoss).toEqual(losses(HORIZON));
    expect(model!.validationLoss).not.toEqual(losses(0));
  });

  it('models depend only on seed, pair and window', () => {
    const subsampled = { ...run, config: { ...run.config, subsample: 0.5 } };
    const probabilities = (changes: Partial<MlRun>) => {
      const fit = fitWindow(learn(), CANDLES.timestamp, run.windows[0]!, { ...subsampled, ...changes });
      return [...fit.model!.predict(learn().features)];
    };
    expect(probabilities({})).toEqual(probabilities({}));
    expect(probabilities({ seed: 2 })).not.toEqual(probabilities({}));
    expect(probabilities({ pair: 'ETH/USDT:USDT' })).not.toEqual(probabilities({}));
  });
});

describe('features and labels', () => {
  const answering = (changes: Partial<StrategyDefinition>) => () =>
    learn(CANDLES, { ...mlClassifier, ...changes });
  const label = (labels: unknown, horizon: unknown) => ({ mlLabel: () => ({ labels, horizon }) as never });
  const rows = CANDLES.close.length;

  it('features are independent of the price level and defined after 50 candles', () => {
    const { features } = learn();
    const scaled = { ...CANDLES };
    for (const name of ['open', 'high', 'low', 'close'] as const) {
      scaled[name] = CANDLES[name].map((price) => price * 1024);
    }
    const other = learn(scaled).features;
    for (const [index, column] of features.columns.entries()) {
      for (let row = STARTUP; row < rows; row++) {
        expect(other.columns[index]![row], features.names[index]).toBeCloseTo(column[row]!, 9);
      }
    }
  });

  it.each<[string, Partial<StrategyDefinition>, string]>([
    ['no features', { mlFeatures: () => ({}) }, 'mlFeatures() returned 0 features: return 1 to 500'],
    ['an array', { mlFeatures: () => [] as never }, 'mlFeatures() returned 0 features: return 1 to 500'],
    ['nothing', { mlFeatures: () => null as never }, 'mlFeatures() must return an object of columns'],
    ['no label', { mlLabel: () => undefined as never }, 'mlLabel() must return labels and their horizon'],
    [
      'a short feature',
      { mlFeatures: () => ({ x: new Float64Array(3) }) },
      `feature "x" must be a Float64Array of ${rows} values`,
    ],
    ['short labels', label(new Uint8Array(2), 1), `labels as a Uint8Array of ${rows} values`],
    ['labels of 2', label(new Uint8Array(rows).fill(2), 1), 'returned the label 2 in row 0'],
    ['no horizon', label(new Uint8Array(rows), 0), 'returned the horizon 0'],
  ])('fitWindow rejects %s', (_, changes, message) => {
    expect(answering(changes)).toThrow(message);
  });

  it('training inputs reject a column reserved for the ML engine', () => {
    const columns = { do_predict: new Float64Array(rows) };
    expect(() => trainingInputsOf(mlClassifier, PARAMS, CANDLES, computedOf(CANDLES, columns))).toThrow(
      'Strategy ml_classifier: do_predict is a column of the ML engine',
    );
  });

  it('error of mlLabel() states the function', () => {
    const mlLabel = () => {
      throw new Error('no label');
    };
    expect(answering({ mlLabel })).toThrow('mlLabel() threw: no label');
  });
});
