import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ModelQuality, ReportModels, ReportWindow } from '#contract/backtests/report-models.ts';
import { hash32 } from '../random.ts';
import { permutationImportance } from './classifier.ts';
import { type MlAnalysis, requireModelKind, type WindowFit } from './fit-window.ts';
import { logLoss } from './model.ts';
import { labeledRows, type TrainingInputs } from './training-inputs.ts';

/** Importance of one feature over all models. */
interface FeatureImportance {
  readonly feature: string;
  /** Mean share of the reduction of the training loss. */
  readonly gain: number;
  /** Mean rise of the out-of-sample log loss when the feature is shuffled; null when no window was measured. */
  readonly permutation: number | null;
}

/** Measurements of the models of one pair. Models and features are not kept. */
export interface PairModels {
  readonly names: readonly string[];
  readonly horizon: number;
  readonly windows: readonly ReportWindow[];
  readonly predictions: LabeledPredictions;
  /** Per feature, a column for each model. */
  readonly gains: readonly Float64Array[];
  /** Per feature, a column for each window whose features were shuffled. */
  readonly permutations: readonly Float64Array[];
}

/** Number of windows whose features are shuffled, spread over pairs and windows. Each costs one prediction per feature. */
const MEASURED_WINDOWS = 12;
const REPEATS = 2;

const MAX_WINDOWS = 1_000;

/** Measures the models of one pair. */
export function pairModels(
  { pairs, seed }: Pick<ResolvedBacktestConfig, 'pairs' | 'seed'>,
  pair: string,
  analysis: MlAnalysis,
): PairModels {
  const { trainingInputs, fits } = analysis;
  const measured = fits.map((fit) => ({ fit, predictions: labeledPredictions(analysis, fit) }));
  const measurable = measured
    .filter(({ predictions }) => predictions.labels.length > 0)
    .map(({ fit }) => fit);
  return {
    names: trainingInputs.features.names,
    horizon: trainingInputs.horizon,
    windows: measured.map(({ fit, predictions }) => reportWindow(pair, fit, predictions)),
    predictions: joinPredictions(measured.map(({ predictions }) => predictions)),
    gains: fits.flatMap(({ model }) => (model ? [model.gainImportance()] : [])),
    permutations: spread(measurable, measuredOf(pairs, pair)).map((fit) => {
      const own = hash32(`${seed}#${pair}#${fit.window.index}#permutation`);
      return permuted(trainingInputs, fit, own);
    }),
  };
}

/** Number of measured windows of a pair: equal shares; with more pairs than windows, one window of some pairs. */
function measuredOf(pairs: readonly string[], pair: string): number {
  const index = pairs.indexOf(pair);
  const upTo = (count: number) => Math.floor((count * MEASURED_WINDOWS) / pairs.length);
  return upTo(index + 1) - upTo(index);
}

/** At most `max` of the values, evenly spread. */
function spread<T>(values: readonly T[], max: number): T[] {
  const every = Math.max(1, values.length / max);
  const count = Math.min(max, values.length);
  return Array.from({ length: count }, (_, i) => values[Math.floor(i * every)]!);
}

/** @param pairs at least one */
export function buildModels(config: ResolvedBacktestConfig, pairs: readonly PairModels[]): ReportModels {
  const { names, horizon } = pairs[0]!;
  const windows = pairs.flatMap((pair) => pair.windows);
  const all = joinPredictions(pairs.map(({ predictions }) => predictions));
  return {
    model_kind: requireModelKind(config.ml_engine!.model_type),
    features: names.length,
    horizon,
    trained: windows.filter(({ skipped }) => skipped === null).length,
    windows_total: windows.length,
    windows: spread(windows, MAX_WINDOWS),
    quality: modelQuality(all.probabilities, all.labels),
    calibration: calibrationBins(all.probabilities, all.labels),
    importances: importancesOf(pairs),
  };
}

/** Predictions with their known labels. */
interface LabeledPredictions {
  readonly probabilities: Float64Array;
  readonly labels: Uint8Array;
}

function labeledPredictions({ trainingInputs, predictions }: MlAnalysis, fit: WindowFit): LabeledPredictions {
  if (!fit.model) return { probabilities: new Float64Array(0), labels: new Uint8Array(0) };
  const { from } = fit;
  const to = knownUntil(trainingInputs, fit);
  const kept = labeledRows(
    { ...trainingInputs, features: { names: ['p'], columns: [predictions.ml_probability], rows: to } },
    from,
    to,
  );
  return { probabilities: kept.features.columns[0]!, labels: kept.labels };
}

/** End of the rows with a known label: the data must reach the horizon, regardless of the strategy's label. */
function knownUntil({ labels, horizon }: TrainingInputs, { from, to }: WindowFit): number {
  return Math.max(from, Math.min(to, labels.length - horizon));
}

function joinPredictions(predictions: readonly LabeledPredictions[]): LabeledPredictions {
  const rows = predictions.reduce((total, { labels }) => total + labels.length, 0);
  const probabilities = new Float64Array(rows);
  const labels = new Uint8Array(rows);
  let row = 0;
  for (const each of predictions) {
    probabilities.set(each.probabilities, row);
    labels.set(each.labels, row);
    row += each.labels.length;
  }
  return { probabilities, labels };
}

function reportWindow(pair: string, fit: WindowFit, predictions: LabeledPredictions): ReportWindow {
  const { window, trainingRows, positives, model, skipped } = fit;
  return {
    pair,
    index: window.index,
    train_from: iso(window.trainFrom),
    train_to: iso(window.from),
    test_from: iso(window.from),
    test_to: iso(window.to),
    training_rows: trainingRows,
    training_positives_pct: trainingRows > 0 ? (positives / trainingRows) * 100 : null,
    iterations: model?.bestIteration ?? null,
    skipped,
    quality: modelQuality(predictions.probabilities, predictions.labels),
    calibration: calibrationBins(predictions.probabilities, predictions.labels),
  };
}

function importancesOf(pairs: readonly PairModels[]): FeatureImportance[] {
  const gains = pairs.flatMap((pair) => pair.gains);
  const permutations = pairs.flatMap((pair) => pair.permutations);
  const meanOf = (columns: readonly Float64Array[], feature: number) =>
    columns.reduce((total, column) => total + column[feature]!, 0) / columns.length;
  return pairs[0]!.names
    .map((feature, index) => ({
      feature,
      gain: meanOf(gains, index),
      permutation: permutations.length > 0 ? meanOf(permutations, index) : null,
    }))
    .sort((a, b) => b.gain - a.gain || (a.feature < b.feature ? -1 : 1));
}

function permuted(trainingInputs: TrainingInputs, fit: WindowFit, seed: number): Float64Array {
  const known = labeledRows(trainingInputs, fit.from, knownUntil(trainingInputs, fit));
  return permutationImportance(fit.model!, known.features, known.labels, seed, REPEATS);
}

const iso = (time: number) => new Date(time).toISOString();

/** Predictions in one interval of probability, with the observed labels. */
interface CalibrationBin {
  /** Probabilities in [low, high); the last bin holds 1 too. */
  readonly low: number;
  readonly high: number;
  readonly rows: number;
  /** Mean of the probabilities, and share of the labels that are 1. */
  readonly mean_probability: number;
  readonly positive_share: number;
}

const BINS = 10;

/** @param labels 0 or 1 for each probability */
export function modelQuality(probabilities: Float64Array, labels: Uint8Array): ModelQuality {
  const rows = labels.length;
  if (rows === 0) {
    return { rows, positives_pct: null, auc: null, log_loss: null, base_log_loss: null, brier: null };
  }
  let positives = 0;
  let squares = 0;
  for (let row = 0; row < rows; row++) {
    positives += labels[row]!;
    squares += (probabilities[row]! - labels[row]!) ** 2;
  }
  const share = positives / rows;
  return {
    rows,
    positives_pct: share * 100,
    auc: areaUnderCurve(probabilities, labels, positives),
    log_loss: logLoss(probabilities, labels),
    base_log_loss: logLoss(new Float64Array(rows).fill(share), labels),
    brier: squares / rows,
  };
}

/** Area under the ROC curve as the rank sum of Mann and Whitney; equal probabilities share their mean rank. */
function areaUnderCurve(probabilities: Float64Array, labels: Uint8Array, positives: number): number | null {
  const negatives = labels.length - positives;
  if (positives === 0 || negatives === 0) return null;
  const order = Uint32Array.from(labels, (_, row) => row).sort(
    (a, b) => probabilities[a]! - probabilities[b]!,
  );
  let rankSum = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const value = probabilities[order[start]!]!;
    let tied = 0;
    for (end = start; end < order.length && probabilities[order[end]!] === value; end++) {
      tied += labels[order[end]!]!;
    }
    rankSum += tied * ((start + 1 + end) / 2);
  }
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Ten bins of equal width from 0 to 1; empty bins are omitted. */
export function calibrationBins(probabilities: Float64Array, labels: Uint8Array): CalibrationBin[] {
  const bins = Array.from({ length: BINS }, () => ({ rows: 0, probability: 0, positives: 0 }));
  for (let row = 0; row < labels.length; row++) {
    const bin = bins[Math.min(BINS - 1, Math.floor(probabilities[row]! * BINS))]!;
    bin.rows++;
    bin.probability += probabilities[row]!;
    bin.positives += labels[row]!;
  }
  const described = bins.map(({ rows, probability, positives }, index) => ({
    low: index / BINS,
    high: (index + 1) / BINS,
    rows,
    mean_probability: probability / rows,
    positive_share: positives / rows,
  }));
  return described.filter(({ rows }) => rows > 0);
}
