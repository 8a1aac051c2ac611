import type { ModelKind } from '#contract/limits.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import { type Candles, indexAtOrAfter } from '../candles.ts';
import { type Classifier, trainClassifier } from '../ml/classifier.ts';
import { type BinnedMatrix, binFeatures, type FeatureMatrix } from '../ml/features.ts';
import { type ClassifierSettings, modelKindOf } from '../ml/settings.ts';
import { hash32 } from '../random.ts';
import { type Analysis, computeColumns, decide, noPredictions } from '../strategies/analyze.ts';
import type { ParameterValues, PredictionColumns, StrategyDefinition } from '../strategy.ts';
import { DAY_MS } from '../timeframe.ts';
import {
  featureRows,
  type LabelledRows,
  labelledRows,
  type TrainingInputs,
  trainingInputsOf,
} from './training-inputs.ts';
import type { Window } from './windows.ts';

/** Fewer labelled rows say nothing about the next ones. */
export const MIN_TRAINING_ROWS = 50;
/** Of them, those that trees are fitted to. */
const MIN_FITTED_ROWS = 25;
/** Share of the training period that must be there. */
const MIN_SHARE = 0.5;

/** A window of one pair, as rows of its candles: it learns from [trainFrom, trainTo), predicts [from, to). */
interface WindowRows {
  readonly window: Window;
  readonly trainFrom: number;
  /** The horizon before `from`: the label of a row before it is known when the window begins. */
  readonly trainTo: number;
  readonly from: number;
  readonly to: number;
}

/** A window of one pair with its model, or why it has none. */
export interface WindowFit extends WindowRows {
  readonly trainingRows: number;
  /** Of the training rows, those with label 1. */
  readonly positives: number;
  readonly model: Classifier | null;
  readonly skipped: string | null;
}

/** What is trained in a run: everything but the data. */
export interface MlRun {
  readonly config: ResolvedMlEngine;
  readonly windows: readonly Window[];
  /** Of the run; each model has one of its own from this, its pair and its window. */
  readonly seed: number;
  readonly pair: string;
  /** Length of a candle, ms. */
  readonly stepMs: number;
  /** Rows before this are startup: their features are not to be trusted, and nothing is learned from them. */
  readonly firstRow: number;
}

/** Keeps binned matrices for other runs over the same features; see {@link WindowCache}. */
type KeepBinned = (features: FeatureMatrix, make: () => BinnedMatrix) => BinnedMatrix;

/** Where a window lies in the candles of a pair; rows that are not there are left out. */
function windowRows(timestamps: Float64Array, window: Window, horizon: number, firstRow: number): WindowRows {
  const rowAt = (time: number) => Math.max(firstRow, indexAtOrAfter(timestamps, time));
  const [trainFrom, from, to] = [rowAt(window.trainFrom), rowAt(window.from), rowAt(window.to)];
  return { window, trainFrom, trainTo: Math.max(trainFrom, from - horizon), from, to };
}

/** What the model of a window learns from. */
export interface TrainingSet extends LabelledRows {
  readonly rows: WindowRows;
}

/**
 * The labelled rows before a window: none of the window itself, and none whose label its first candle would not have known.
 */
export function trainingSet(
  learning: TrainingInputs,
  timestamps: Float64Array,
  window: Window,
  { firstRow }: Pick<MlRun, 'firstRow'>,
): TrainingSet {
  const rows = windowRows(timestamps, window, learning.horizon, firstRow);
  return { rows, ...labelledRows(learning, rows.trainFrom, rows.trainTo) };
}

/**
 * Trains the model of one window from its {@link trainingSet}. The tail by which boosting is stopped lies at the end of the
 * training rows, the horizon away from the others.
 */
export function fitWindow(
  learning: TrainingInputs,
  timestamps: Float64Array,
  window: Window,
  run: MlRun,
  keep: KeepBinned = (_, make) => make(),
): WindowFit {
  const set = trainingSet(learning, timestamps, window, run);
  const base = { ...set.rows, trainingRows: set.labels.length, positives: set.positives };
  const skipped = whyNot(set, learning.horizon, run);
  if (skipped) return { ...base, model: null, skipped };
  const settings = classifierSettings(run, window);
  const isLinear = settings.kind === 'logistic_regression';
  const features = isLinear
    ? set.features
    : keep(set.features, () => binFeatures(set.features, settings.max_bins));
  const model = trainClassifier({ features, labels: set.labels }, settings, {
    embargoRows: learning.horizon,
  });
  return { ...base, model, skipped: null };
}

function whyNot(
  { labels, positives, rows: { from, to } }: TrainingSet,
  horizon: number,
  { config, stepMs }: MlRun,
): string | null {
  if (from === to) return 'the pair has no candles in it';
  const wanted = (config.train_period_days * DAY_MS) / stepMs - horizon;
  const least = Math.max(MIN_TRAINING_ROWS, Math.ceil(wanted * MIN_SHARE));
  if (labels.length < least) {
    return `${labels.length} of ${Math.max(wanted, 0)} training rows are there, at least ${least} are needed`;
  }
  if (positives === 0 || positives === labels.length) {
    return `all ${labels.length} training rows have the label ${labels[0]}`;
  }
  const fitted = fittedRows(labels.length, horizon, config);
  if (fitted < MIN_FITTED_ROWS) {
    return (
      `the tail that stops boosting and the horizon of ${horizon} candles leave ${Math.max(fitted, 0)} of ` +
      `${labels.length} training rows to fit, at least ${MIN_FITTED_ROWS} are needed`
    );
  }
  if (labels.subarray(0, fitted).every((label) => label === labels[0])) {
    return `the first ${fitted} of ${labels.length} training rows, which trees are fitted to, all have the label ${labels[0]}`;
  }
  return null;
}

/** Training rows less the tail by which boosting is stopped and the horizon before it. */
function fittedRows(rows: number, horizon: number, config: ResolvedMlEngine): number {
  const { early_stopping_rounds, validation_fraction, model_type } = config;
  const isStopped = early_stopping_rounds > 0 && requireModelKind(model_type) !== 'logistic_regression';
  return isStopped ? Math.floor(rows * (1 - validation_fraction)) - horizon : rows;
}

/** @throws RangeError for a model type that is not known */
export function requireModelKind(name: string): ModelKind {
  const kind = modelKindOf(name);
  if (!kind) throw new RangeError(`${JSON.stringify(name)} is no model type.`);
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

/** Writes what a window's model says of the rows [from, to), by default those of the window. */
export function predictRows(
  { model, ...window }: WindowFit,
  learning: TrainingInputs,
  { ml_probability, do_predict }: PredictionColumns,
  from = window.from,
  to = window.to,
): void {
  if (!model || to <= from) return;
  model.predict(featureRows(learning.features, from, to), ml_probability.subarray(from, to));
  do_predict.fill(1, from, to);
}

/** What a strategy computes of one pair with the ML engine. */
export interface LearnedAnalysis extends Analysis {
  readonly learning: TrainingInputs;
  readonly predictions: PredictionColumns;
  readonly fits: readonly WindowFit[];
}

/** Trains the model of a window; a memo may answer for it. */
export type FitWindow = typeof fitWindow;

/**
 * Runs a strategy over the candles of one pair with a model for each window: columns, features and labels, predictions
 * window by window, signals. Pauses after every window, with the share that is done.
 *
 * @throws StrategyRunError as `analyze`, and when features or labels are not one value per candle
 */
export function* predicting(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  run: MlRun,
  train: FitWindow = fitWindow,
): Generator<number, LearnedAnalysis> {
  const computed = computeColumns(strategy, params, candles);
  const learning = trainingInputsOf(strategy, params, candles, computed.columns);
  const predictions = noPredictions(candles.timestamp.length);
  const fits: WindowFit[] = [];
  for (const window of run.windows) {
    const fitted = train(learning, candles.timestamp, window, run);
    predictRows(fitted, learning, predictions);
    fits.push(fitted);
    yield fits.length / run.windows.length;
  }
  const gate = run.config.entry_threshold;
  const analysis = decide(strategy, params, candles, computed, { columns: predictions, gate });
  return { ...analysis, learning, predictions, fits };
}
