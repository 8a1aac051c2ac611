import { permutationImportance } from '#engine/ml/index.ts';
import { hash32 } from '#engine/random.ts';
import type { RunConfig } from '#engine/run/config.ts';
import { requireModelKind, type WindowFit } from '#engine/walk-forward/fit-window.ts';
import { type Learning, labelledRows } from '#engine/walk-forward/learning.ts';
import type { LearnedAnalysis } from '#engine/walk-forward/predicting.ts';
import {
  type CalibrationBin,
  calibrationBins,
  type ModelQuality,
  modelQuality,
} from '#engine/walk-forward/quality.ts';

/** One window of one pair. Times are of the first candle and the end (exclusive), ISO 8601. */
interface ReportWindow {
  readonly pair: string;
  readonly index: number;
  readonly train_from: string;
  readonly train_to: string;
  readonly test_from: string;
  readonly test_to: string;
  readonly training_rows: number;
  readonly training_positives_pct: number | null;
  /** Trees, or steps of the logistic regression, that predict; null without a model. */
  readonly iterations: number | null;
  /** Why there is no model, null when there is one. */
  readonly skipped: string | null;
  /** Of the predictions of the window whose label is known by the end of the data. */
  readonly quality: ModelQuality;
  readonly calibration: readonly CalibrationBin[];
}

/** What one feature is worth, over all models. */
interface FeatureImportance {
  readonly feature: string;
  /** Mean share of the reduction of the training loss. */
  readonly gain: number;
  /** Mean rise of the log loss out of sample when the feature is shuffled; null when no window was measured. */
  readonly permutation: number | null;
}

/** The models of a run with the ML engine. */
export interface ReportModels {
  /** The kind that `model_type` stands for. */
  readonly model_kind: string;
  readonly features: number;
  /** Candles until a label is known: the embargo between training and prediction. */
  readonly horizon: number;
  readonly trained: number;
  readonly windows: readonly ReportWindow[];
  /** Over all windows and pairs, out of sample. */
  readonly quality: ModelQuality;
  readonly calibration: readonly CalibrationBin[];
  /** The largest gain first. */
  readonly importances: readonly FeatureImportance[];
}

export interface PairModels {
  readonly pair: string;
  readonly learned: LearnedAnalysis;
}

/** Windows whose features are shuffled, spread over the run: each costs a prediction for every feature. */
const MEASURED_WINDOWS = 12;
const REPEATS = 2;

/** @param pairs at least one */
export function buildModels(config: RunConfig, pairs: readonly PairModels[]): ReportModels {
  const { features, horizon } = pairs[0]!.learned.learning;
  const told = pairs.flatMap(({ pair, learned }) =>
    learned.fits.map((fit) => ({ pair, learned, fit, outcome: outcomeOf(learned, fit) })),
  );
  const all = joinOutcomes(told.map(({ outcome }) => outcome));
  return {
    model_kind: requireModelKind(config.ml_engine!.model_type),
    features: features.columns.length,
    horizon,
    trained: told.filter(({ fit }) => fit.model).length,
    windows: told.map(({ pair, fit, outcome }) => reportWindow(pair, fit, outcome)),
    quality: modelQuality(all.probabilities, all.labels),
    calibration: calibrationBins(all.probabilities, all.labels),
    importances: importancesOf(told, config.seed),
  };
}

/** Predictions whose label is known, with it. */
interface Outcomes {
  readonly probabilities: Float64Array;
  readonly labels: Uint8Array;
}

function outcomeOf({ learning, predictions }: LearnedAnalysis, fit: WindowFit): Outcomes {
  if (!fit.model) return { probabilities: new Float64Array(0), labels: new Uint8Array(0) };
  const { from } = fit;
  const to = knownUntil(learning, fit);
  const kept = labelledRows(
    { ...learning, features: { names: ['p'], columns: [predictions.ml_probability], rows: to } },
    from,
    to,
  );
  return { probabilities: kept.features.columns[0]!, labels: kept.labels };
}

/** A label that the data ends before is not known, whatever the strategy says of it. */
function knownUntil({ labels, horizon }: Learning, { from, to }: WindowFit): number {
  return Math.max(from, Math.min(to, labels.length - horizon));
}

function joinOutcomes(outcomes: readonly Outcomes[]): Outcomes {
  const rows = outcomes.reduce((total, { labels }) => total + labels.length, 0);
  const probabilities = new Float64Array(rows);
  const labels = new Uint8Array(rows);
  let row = 0;
  for (const each of outcomes) {
    probabilities.set(each.probabilities, row);
    labels.set(each.labels, row);
    row += each.labels.length;
  }
  return { probabilities, labels };
}

function reportWindow(pair: string, fit: WindowFit, outcome: Outcomes): ReportWindow {
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
    quality: modelQuality(outcome.probabilities, outcome.labels),
    calibration: calibrationBins(outcome.probabilities, outcome.labels),
  };
}

interface Told {
  readonly pair: string;
  readonly learned: LearnedAnalysis;
  readonly fit: WindowFit;
  readonly outcome: Outcomes;
}

function importancesOf(told: readonly Told[], seed: number): FeatureImportance[] {
  const { names } = told[0]!.learned.learning.features;
  const gains = told.flatMap(({ fit }) => (fit.model ? [fit.model.gainImportance()] : []));
  const measurable = told.filter(({ outcome }) => outcome.labels.length > 0);
  const every = Math.max(1, measurable.length / MEASURED_WINDOWS);
  const measured = Array.from(
    { length: Math.min(MEASURED_WINDOWS, measurable.length) },
    (_, i) => measurable[Math.floor(i * every)]!,
  ).map((each) => permuted(each, seed));
  const meanOf = (columns: readonly Float64Array[], feature: number) =>
    columns.reduce((total, column) => total + column[feature]!, 0) / columns.length;
  return names
    .map((feature, index) => ({
      feature,
      gain: meanOf(gains, index),
      permutation: measured.length > 0 ? meanOf(measured, index) : null,
    }))
    .sort((a, b) => b.gain - a.gain || (a.feature < b.feature ? -1 : 1));
}

function permuted({ pair, learned: { learning }, fit }: Told, seed: number): Float64Array {
  const known = labelledRows(learning, fit.from, knownUntil(learning, fit));
  const own = hash32(`${seed}#${pair}#${fit.window.index}#permutation`);
  return permutationImportance(fit.model!, known.features, known.labels, own, REPEATS);
}

const iso = (time: number) => new Date(time).toISOString();
