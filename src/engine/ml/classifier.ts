import type { ModelKind } from '#contract/values/model-limits.ts';
import { createRandom, mix32 } from '../random.ts';
import {
  type BinnedMatrix,
  binFeatures,
  checkFeatures,
  checkSameFeatures,
  type FeatureMatrix,
} from './features.ts';
import { boost } from './gbdt/boost.ts';
import { createForest, predictForest } from './gbdt/forest.ts';
import type { Tree } from './gbdt/tree.ts';
import { deserializeLogistic, fitLogistic, logisticModel, type SerializedLogistic } from './logistic.ts';
import { logLoss, type Model } from './model.ts';
import { type ClassifierSettings, checkClassifierSettings } from './settings.ts';

/** Version of the serialized form and of the prediction. `deserialize` rejects a model of another version. */
const CLASSIFIER_VERSION = 1;
const FORMAT = 'touchstone-classifier';

/** A trained two-class model. Immutable. */
export interface Classifier {
  readonly kind: ModelKind;
  readonly version: number;
  /** Feature names in the order of the training columns. */
  readonly featureNames: readonly string[];
  /** Number of trees, or of Newton steps of the logistic regression, that predictions use. */
  readonly bestIteration: number;
  /** Mean weighted log loss of the fitted rows after each round. */
  readonly trainingLoss: Float64Array;
  /** Mean weighted log loss of the validation rows after each round; null without early stopping. */
  readonly validationLoss: Float64Array | null;
  /**
   * P(label = 1) of each row.
   *
   * @param into output array; default: a new one
   * @throws RangeError when the matrix has other features or `into` is too short
   */
  predict(matrix: FeatureMatrix, into?: Float64Array): Float64Array;
  /** Share of each feature in the loss reduction. The shares add up to 1; all are 0 without any reduction. */
  gainImportance(): Float64Array;
  serialize(): SerializedClassifier;
}

/** A model as plain JSON. Numbers keep every bit. */
export interface SerializedClassifier {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly kind: ModelKind;
  readonly feature_names: readonly string[];
  readonly best_iteration: number;
  readonly training_loss: readonly number[];
  readonly validation_loss: readonly number[] | null;
  readonly model: SerializedForest | SerializedLogistic;
}

export interface TrainingData {
  /** Plain features are binned first where trees need it. Features binned before must have `max_bins` bins. */
  readonly features: FeatureMatrix | BinnedMatrix;
  /** 0 or 1 for each row, the oldest row first. */
  readonly labels: Uint8Array;
  /** Weight of each row. Default 1. */
  readonly weights?: Float64Array;
}

export interface TrainingOptions {
  /** Rows between the fitted rows and the validation rows of early stopping: the horizon of the label. Default 0. */
  readonly embargoRows?: number;
  /** Called after each round with the number of rounds so far and the losses. */
  readonly onRound?: (round: number, trainingLoss: number, validationLoss: number | null) => void;
}

/**
 * Trains a classifier. The same data and settings give bit-identical models.
 *
 * @throws RangeError when settings are out of range, or the data is malformed, has no rows, or only rows of weight 0
 */
export function trainClassifier(
  data: TrainingData,
  settings: ClassifierSettings,
  options: TrainingOptions = {},
): Classifier {
  checkClassifierSettings(settings);
  const matrix = 'cuts' in data.features ? data.features.features : data.features;
  checkFeatures(matrix);
  if (matrix.rows === 0) throw new RangeError('The training data has no rows. Pass at least one row.');
  return settings.kind === 'logistic_regression'
    ? trainLogistic(matrix, data, settings, options)
    : trainBoosted(matrix, data, settings, options);
}

function trainLogistic(
  matrix: FeatureMatrix,
  { labels, weights }: TrainingData,
  { kind, l2, class_weight }: ClassifierSettings,
  { onRound }: TrainingOptions,
): Classifier {
  const { rows } = matrix;
  const fit = fitLogistic(matrix, labels, rowWeights(labels, weights, class_weight, rows, rows), l2);
  fit.losses.forEach((loss, i) => {
    onRound?.(i + 1, loss, null);
  });
  return createClassifier({
    kind,
    featureNames: matrix.names,
    bestIteration: fit.losses.length,
    trainingLoss: Float64Array.from(fit.losses),
    validationLoss: null,
    model: logisticModel(fit.parts),
  });
}

function trainBoosted(
  matrix: FeatureMatrix,
  { features, labels, weights }: TrainingData,
  settings: ClassifierSettings,
  { embargoRows = 0, onRound }: TrainingOptions,
): Classifier {
  const { rows } = matrix;
  const validationFrom = firstValidationRow(rows, settings);
  const fitted = validationFrom === rows ? rows : validationFrom - embargoRows;
  if (fitted < 1)
    throw new RangeError(
      `${rows} rows leave none to fit before the validation rows and the embargo of ${embargoRows} rows. Pass more rows.`,
    );
  const binned = 'cuts' in features ? features : binFeatures(features, settings.max_bins);
  if (binned.maxBins !== settings.max_bins) {
    throw new RangeError(
      `The features have at most ${binned.maxBins} bins; bin them again with max_bins ${settings.max_bins}.`,
    );
  }
  const boosted = boost({
    binned,
    labels,
    weights: rowWeights(labels, weights, settings.class_weight, rows, fitted),
    settings,
    fitted,
    validationFrom,
    onRound,
  });
  return createClassifier({
    kind: settings.kind,
    featureNames: matrix.names,
    bestIteration: boosted.trees.length,
    trainingLoss: Float64Array.from(boosted.trainingLoss),
    validationLoss: boosted.validationLoss && Float64Array.from(boosted.validationLoss),
    model: boostedModel({ ...boosted, cuts: binned.cuts }),
  });
}

/** First validation row of early stopping; the number of rows when early stopping is off. */
function firstValidationRow(rows: number, settings: ClassifierSettings): number {
  if (settings.early_stopping_rounds === 0) return rows;
  return rows - Math.max(1, Math.round(settings.validation_fraction * rows));
}

type Parts = Pick<
  Classifier,
  'kind' | 'featureNames' | 'bestIteration' | 'trainingLoss' | 'validationLoss'
> & { readonly model: Model<SerializedClassifier['model']> };

function createClassifier({ model, ...facts }: Parts): Classifier {
  return {
    ...facts,
    version: CLASSIFIER_VERSION,
    predict(matrix, into = new Float64Array(matrix.rows)) {
      checkSameFeatures(facts.featureNames, matrix);
      if (into.length < matrix.rows) {
        throw new RangeError(
          `${matrix.rows} probabilities do not fit into an array of ${into.length} values. Pass a longer array.`,
        );
      }
      model.predict(matrix, into);
      return into;
    },
    gainImportance: () => shares(model.contributions()),
    serialize: () => ({
      format: FORMAT,
      version: CLASSIFIER_VERSION,
      kind: facts.kind,
      feature_names: [...facts.featureNames],
      best_iteration: facts.bestIteration,
      training_loss: [...facts.trainingLoss],
      validation_loss: facts.validationLoss && [...facts.validationLoss],
      model: model.serialize(),
    }),
  };
}

function shares(parts: Float64Array): Float64Array {
  const total = parts.reduce((sum, part) => sum + part, 0);
  return total > 0 ? parts.map((part) => part / total) : new Float64Array(parts.length);
}

/**
 * Restores a classifier from `serialize`. Its predictions are bit-identical.
 *
 * @throws RangeError when the value is not a serialized classifier, or has another version: train such a model again
 */
export function deserialize(serialized: SerializedClassifier): Classifier {
  if (serialized?.format !== FORMAT)
    throw new RangeError(`The value is not a serialized classifier: its format must be "${FORMAT}".`);
  const { version, kind, model } = serialized;
  if (version !== CLASSIFIER_VERSION) {
    throw new RangeError(
      `The classifier was written as version ${version}; this Touchstone reads version ${CLASSIFIER_VERSION}. ` +
        'Train it again.',
    );
  }
  return createClassifier({
    kind,
    featureNames: serialized.feature_names,
    bestIteration: serialized.best_iteration,
    trainingLoss: Float64Array.from(serialized.training_loss),
    validationLoss: serialized.validation_loss && Float64Array.from(serialized.validation_loss),
    model:
      kind === 'logistic_regression'
        ? deserializeLogistic(model as SerializedLogistic)
        : deserializeBoosted(model as SerializedForest),
  });
}

/** Boosted trees as plain JSON. */
export interface SerializedForest {
  /** Log-odds before the first tree. */
  readonly base: number;
  /** By feature: upper ends of all bins except the last. An infinite end is "-Infinity" or "Infinity". */
  readonly cuts: readonly (readonly (number | string)[])[];
  readonly trees: readonly SerializedTree[];
  /** Loss reduction by feature. */
  readonly gains: readonly number[];
}

/** Columns by node, the root first. The right child of a node follows its left child. */
interface SerializedTree {
  /** -1 for a leaf. */
  readonly feature: readonly number[];
  readonly bin: readonly number[];
  readonly missing_left: readonly number[];
  readonly left: readonly number[];
  readonly value: readonly number[];
}

interface BoostedParts {
  readonly base: number;
  readonly cuts: readonly Float64Array[];
  readonly trees: readonly Tree[];
  readonly gains: Float64Array;
}

function boostedModel({ base, cuts, trees, gains }: BoostedParts): Model<SerializedForest> {
  const forest = createForest(base, trees, cuts);
  return {
    predict: (features, into) => predictForest(forest, features, into),
    contributions: () => gains,
    serialize: () => ({
      base,
      cuts: cuts.map((column) => Array.from(column, (cut) => (Number.isFinite(cut) ? cut : String(cut)))),
      trees: trees.map(({ feature, bin, missingLeft, left, value }) => ({
        feature: [...feature],
        bin: [...bin],
        missing_left: [...missingLeft],
        left: [...left],
        value: [...value],
      })),
      gains: [...gains],
    }),
  };
}

function deserializeBoosted(serialized: SerializedForest): Model<SerializedForest> {
  return boostedModel({
    base: serialized.base,
    cuts: serialized.cuts.map((column) => Float64Array.from(column, Number)),
    trees: serialized.trees.map(({ feature, bin, missing_left, left, value }) => ({
      feature: [...feature],
      bin: [...bin],
      missingLeft: [...missing_left],
      left: [...left],
      value: [...value],
    })),
    gains: Float64Array.from(serialized.gains),
  });
}

/**
 * Effective weight of each row: its own weight times the weight of its class. With `balanced` each class has half of the
 * total weight (class weight: rows / (2 * rows of the class), for rows of weight 1).
 *
 * @param fitted number of leading rows whose weights are balanced
 * @throws RangeError for too few labels or weights, a label other than 0 or 1, a negative or infinite weight, or weight 0 of
 *   all fitted rows
 */
function rowWeights(
  labels: Uint8Array,
  own: Float64Array | undefined,
  classWeight: ClassifierSettings['class_weight'],
  rows: number,
  fitted: number,
): Float64Array {
  if (labels.length < rows)
    throw new RangeError(`${rows} rows have ${labels.length} labels. Pass one label per row.`);
  if (own && own.length < rows)
    throw new RangeError(`${rows} rows have ${own.length} weights. Pass one weight per row.`);
  const totals = [0, 0];
  for (let i = 0; i < rows; i++) {
    const label = labels[i]!;
    if (label > 1) throw new RangeError(`Labels must be 0 or 1; row ${i} has ${label}.`);
    const weight = own ? own[i]! : 1;
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`Weights must be finite and at least 0; row ${i} has ${weight}.`);
    }
    if (i < fitted) totals[label]! += weight;
  }
  const [negative, positive] = totals as [number, number];
  if (!(negative + positive > 0))
    throw new RangeError(
      'All fitted rows have weight 0; a model needs at least one row whose weight is not 0.',
    );
  const [zero, one] = classWeights(negative, positive, classWeight);
  const weights = new Float64Array(rows);
  for (let i = 0; i < rows; i++) weights[i] = (own ? own[i]! : 1) * (labels[i] === 1 ? one : zero);
  return weights;
}

/** Weights of label 0 and label 1; both are 1 when only one class occurs. */
function classWeights(
  negative: number,
  positive: number,
  classWeight: ClassifierSettings['class_weight'],
): [number, number] {
  if (typeof classWeight === 'number') return [1, classWeight];
  if (classWeight === 'none' || negative === 0 || positive === 0) return [1, 1];
  const half = (negative + positive) / 2;
  return [half / negative, half / positive];
}

/**
 * Permutation importance: increase of the mean log loss when one feature's values are shuffled among these rows, as the
 * mean of `repeats` shuffles (Breiman 2001; Fisher, Rudin and Dominici 2019). About 0, or slightly negative, for a feature
 * that is unused or carries no information. The shuffle ignores time order, so the value does not describe forecasts.
 *
 * @param labels 0 or 1 for each row
 * @param seed seed of the shuffles; those of a feature do not depend on the other features
 * @param repeats 1 or more
 */
export function permutationImportance(
  classifier: Classifier,
  matrix: FeatureMatrix,
  labels: Uint8Array,
  seed: number,
  repeats: number,
): Float64Array {
  const { columns, rows } = matrix;
  const happened = labels.subarray(0, rows);
  const probabilities = new Float64Array(rows);
  const base = logLoss(classifier.predict(matrix, probabilities), happened);
  return Float64Array.from(columns, (column, j) => {
    const random = createRandom(mix32(seed) ^ mix32(j + 1));
    const shuffled = column.slice(0, rows);
    const changed = { ...matrix, columns: columns.with(j, shuffled) };
    let total = 0;
    for (let repeat = 0; repeat < repeats; repeat++) {
      shuffle(shuffled, random);
      total += logLoss(classifier.predict(changed, probabilities), happened) - base;
    }
    return total / repeats;
  });
}

/** Fisher-Yates shuffle: every order is equally likely. */
function shuffle(values: Float64Array, random: () => number): void {
  for (let i = values.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    const value = values[i]!;
    values[i] = values[k]!;
    values[k] = value;
  }
}
