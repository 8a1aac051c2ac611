import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { MODEL_KINDS, type ModelKind } from '#contract/values/model-limits.ts';
import {
  type Analysis,
  type AnalyzedSeries,
  type Computed,
  computeColumns,
  decide,
  noPredictions,
} from '../analysis/analyze.ts';
import { type Candles, indexAtOrAfter } from '../candles.ts';
import { hash32 } from '../random.ts';
import type { ParameterValues, PredictionColumns, StrategyDefinition } from '../strategy.ts';
import { type Classifier, trainClassifier } from './classifier.ts';
import { type BinnedMatrix, binFeatures, type FeatureMatrix } from './features.ts';
import { type ClassifierSettings, modelKindOf } from './settings.ts';
import {
  featureRows,
  type LabeledRows,
  labeledRows,
  type TrainingInputs,
  trainingInputsOf,
} from './training-inputs.ts';
import type { Window } from './windows.ts';

/** Minimum number of labeled training rows: a model of fewer rows does not generalize. */
export const MIN_TRAINING_ROWS = 50;
/** Minimum number of training rows to which trees are fitted. */
const MIN_FITTED_ROWS = 25;
/** Minimum share of the training period with labeled rows. */
const MIN_SHARE = 0.5;

/** A window of one pair in rows of its candles: trained on [trainFrom, trainTo), predicts [from, to). */
interface WindowRows {
  readonly window: Window;
  readonly trainFrom: number;
  /** `from` minus the horizon: labels of earlier rows are known when the window begins. */
  readonly trainTo: number;
  readonly from: number;
  readonly to: number;
}

/** A window of one pair with its model, or the reason why it has no model (`skipped`). */
export interface WindowFit extends WindowRows {
  readonly trainingRows: number;
  /** Number of training rows with label 1. */
  readonly positives: number;
  readonly model: Classifier | null;
  readonly skipped: string | null;
}

/** Settings of the models of one pair in a run. */
export interface MlRun extends AnalyzedSeries {
  readonly config: ResolvedMlEngine;
  readonly windows: readonly Window[];
  /** Seed of the run. The seed of a model is derived from it, the pair and the window. */
  readonly seed: number;
  /** Length of a candle, ms. */
  readonly stepMs: number;
  /** First row after the startup candles. Features of earlier rows are unreliable and not used for training. */
  readonly firstRow: number;
}

/** Keeps binned matrices for other runs over the same features; see {@link WindowCache}. */
type KeepBinned = (features: FeatureMatrix, make: () => BinnedMatrix) => BinnedMatrix;

/** Rows of a window in the candles of a pair; candles that do not exist are left out. */
function windowRows(timestamps: Float64Array, window: Window, horizon: number, firstRow: number): WindowRows {
  const rowAt = (time: number) => Math.max(firstRow, indexAtOrAfter(timestamps, time));
  const [trainFrom, from, to] = [rowAt(window.trainFrom), rowAt(window.from), rowAt(window.to)];
  return { window, trainFrom, trainTo: Math.max(trainFrom, from - horizon), from, to };
}

/** Training data of the model of one window. */
export interface TrainingSet extends LabeledRows {
  readonly rows: WindowRows;
}

/**
 * Labeled rows before a window. Excluded are the rows of the window and rows whose label is unknown at its first candle.
 */
export function trainingSet(
  trainingInputs: TrainingInputs,
  timestamps: Float64Array,
  window: Window,
  { firstRow }: Pick<MlRun, 'firstRow'>,
): TrainingSet {
  const rows = windowRows(timestamps, window, trainingInputs.horizon, firstRow);
  return { rows, ...labeledRows(trainingInputs, rows.trainFrom, rows.trainTo) };
}

/**
 * Trains the model of one window from its {@link trainingSet}. The validation rows of early stopping are the last training
 * rows; an embargo of the horizon separates them from the fitted rows.
 */
export function fitWindow(
  trainingInputs: TrainingInputs,
  timestamps: Float64Array,
  window: Window,
  run: MlRun,
  keep: KeepBinned = (_, make) => make(),
): WindowFit {
  const set = trainingSet(trainingInputs, timestamps, window, run);
  const base = { ...set.rows, trainingRows: set.labels.length, positives: set.positives };
  const skipped = skipReason(set, trainingInputs.horizon, run);
  if (skipped) return { ...base, model: null, skipped };
  const settings = classifierSettings(run, window);
  const isLinear = settings.kind === 'logistic_regression';
  const features = isLinear
    ? set.features
    : keep(set.features, () => binFeatures(set.features, settings.max_bins));
  const model = trainClassifier({ features, labels: set.labels }, settings, {
    embargoRows: trainingInputs.horizon,
  });
  return { ...base, model, skipped: null };
}

function skipReason(
  { labels, positives, rows: { from, to } }: TrainingSet,
  horizon: number,
  { config, stepMs }: MlRun,
): string | null {
  if (from === to) return 'the pair has no candles in the window';
  const expected = (config.train_period_days * DAY_MS) / stepMs - horizon;
  const min = Math.max(MIN_TRAINING_ROWS, Math.ceil(expected * MIN_SHARE));
  if (labels.length < min) {
    return `${labels.length} of ${Math.max(expected, 0)} training rows exist, at least ${min} are needed`;
  }
  if (positives === 0 || positives === labels.length) {
    return `all ${labels.length} training rows have the label ${labels[0]}`;
  }
  const fitted = fittedRows(labels.length, horizon, config);
  if (fitted < MIN_FITTED_ROWS) {
    return (
      `early stopping and the horizon of ${horizon} candles leave ${Math.max(fitted, 0)} of ` +
      `${labels.length} training rows to fit, at least ${MIN_FITTED_ROWS} are needed`
    );
  }
  if (labels.subarray(0, fitted).every((label) => label === labels[0])) {
    return `the first ${fitted} of ${labels.length} training rows, to which trees are fitted, all have the label ${labels[0]}`;
  }
  return null;
}

/** Number of training rows without the validation rows of early stopping and the horizon before them. */
function fittedRows(rows: number, horizon: number, config: ResolvedMlEngine): number {
  const { early_stopping_rounds, validation_fraction, model_type } = config;
  const isStopped = early_stopping_rounds > 0 && requireModelKind(model_type) !== 'logistic_regression';
  return isStopped ? Math.floor(rows * (1 - validation_fraction)) - horizon : rows;
}

/** @throws RangeError for an unknown model type */
export function requireModelKind(name: string): ModelKind {
  const kind = modelKindOf(name);
  if (!kind) {
    const names = MODEL_KINDS.join(', ');
    throw new RangeError(`${JSON.stringify(name)} is not a model type. Use one of ${names}.`);
  }
  return kind;
}

function classifierSettings({ config, seed, pair }: MlRun, window: Window): ClassifierSettings {
  const {
    enabled: _,
    model_type,
    train_period_days,
    backtest_period_days,
    entry_threshold,
    ...settings
  } = config;
  return {
    ...settings,
    kind: requireModelKind(model_type),
    seed: hash32(`${seed}#${pair}#${window.index}`),
  };
}

/** Writes the predictions of a window's model for the rows [from, to), by default the rows of the window. */
export function predictRows(
  { model, ...window }: WindowFit,
  trainingInputs: TrainingInputs,
  { ml_probability, do_predict }: PredictionColumns,
  from = window.from,
  to = window.to,
): void {
  if (!model || to <= from) return;
  model.predict(featureRows(trainingInputs.features, from, to), ml_probability.subarray(from, to));
  do_predict.fill(1, from, to);
}

/** Result of a strategy on one pair with the ML engine. */
export interface MlAnalysis extends Analysis {
  readonly trainingInputs: TrainingInputs;
  readonly predictions: PredictionColumns;
  readonly fits: readonly WindowFit[];
}

/** Trains the model of a window; look-ahead analysis passes a memoized version. */
export type FitWindow = typeof fitWindow;

/** Replaces what the strategy computed, before it is used. */
interface Settling {
  readonly columns: (computed: Computed) => Computed;
  readonly inputs: (inputs: TrainingInputs) => TrainingInputs;
}

/** Parts of an analysis that look-ahead analysis replaces. */
interface Replacements {
  readonly train?: FitWindow | undefined;
  readonly settling?: Settling;
}

/**
 * Runs a strategy over the candles of one pair with a model for each window. It computes columns, features and labels, then
 * predictions window by window, then signals. Yields the finished share after every window.
 *
 * @throws StrategyRunError as `analyze`, and when features or labels do not have one value per candle
 */
export function* predicting(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  run: MlRun,
  { train = fitWindow, settling }: Replacements = {},
): Generator<number, MlAnalysis> {
  const own = computeColumns(strategy, params, candles, candles.timestamp.length, run);
  const computed = settling?.columns(own) ?? own;
  const inputs = trainingInputsOf(strategy, params, candles, computed);
  const trainingInputs = settling?.inputs(inputs) ?? inputs;
  const predictions = noPredictions(candles.timestamp.length);
  const fits: WindowFit[] = [];
  for (const window of run.windows) {
    const fitted = train(trainingInputs, candles.timestamp, window, run);
    predictRows(fitted, trainingInputs, predictions);
    fits.push(fitted);
    yield fits.length / run.windows.length;
  }
  const gate = run.config.entry_threshold;
  const analysis = decide(strategy, params, candles, computed, { columns: predictions, gate });
  return { ...analysis, trainingInputs, predictions, fits };
}
