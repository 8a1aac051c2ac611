import type { BinnedMatrix } from './bins.ts';
import { checkFeatures, checkSameFeatures, type FeatureMatrix } from './features.ts';
import { fitLogistic, type LogisticModel, predictLogistic } from './logistic.ts';
import type { ModelKind } from './model-kind.ts';
import { type ClassifierSettings, checkClassifierSettings } from './settings.ts';
import { rowWeights } from './weights.ts';

/** Of the serialised form and of what a model computes from it: a model of another version is refused, never guessed at. */
export const CLASSIFIER_VERSION = 1;

/** A trained two-class model. Immutable. */
export interface Classifier {
  readonly kind: ModelKind;
  readonly version: number;
  /** In the order of the columns it was trained on. */
  readonly featureNames: readonly string[];
  /** Trees, or steps of the logistic regression, that predictions use. */
  readonly bestIteration: number;
  /** Mean weighted log loss of the rows it was fitted to after each round. */
  readonly trainingLoss: Float64Array;
  /** The same of the rows that early stopping judged by; null when there was none. */
  readonly validationLoss: Float64Array | null;
  /**
   * P(label = 1) of each row. Throws a RangeError when the matrix has other features or `into` is too short.
   *
   * @param into where the probabilities go; a new array without it
   */
  predict(matrix: FeatureMatrix, into?: Float64Array): Float64Array;
  /** What each feature contributed to the loss's reduction, as shares that add up to 1; all 0 when nothing did. */
  gainImportance(): Float64Array;
  serialise(): SerialisedClassifier;
}

/** A model as plain JSON. Numbers keep every bit. */
export interface SerialisedClassifier {
  readonly format: 'touchstone-classifier';
  readonly version: number;
  readonly kind: ModelKind;
  readonly feature_names: readonly string[];
  readonly best_iteration: number;
  readonly training_loss: readonly number[];
  readonly validation_loss: readonly number[] | null;
  readonly model: SerialisedLogistic;
}

interface SerialisedLogistic {
  readonly intercept: number;
  readonly weights: readonly number[];
  readonly mean: readonly number[];
  readonly scale: readonly number[];
}

export interface TrainingData {
  /** Binned ones are used as they are (their bins must be of `max_bins`); others are binned first where trees need it. */
  readonly features: FeatureMatrix | BinnedMatrix;
  /** 0 or 1 for each row, the oldest row first. */
  readonly labels: Uint8Array;
  /** What each row counts; 1 without it. */
  readonly weights?: Float64Array;
}

export interface TrainingOptions {
  /** Rows between the fitted rows and the tail that early stopping judges by: the horizon of the label. Default 0. */
  readonly embargoRows?: number;
  /** Called after each round with the number of rounds so far and the losses. */
  readonly onRound?: (round: number, trainingLoss: number, validationLoss: number | null) => void;
}

/**
 * Trains a classifier. The same data and settings give the same model to the last bit.
 *
 * @throws RangeError when the settings are out of range, or the data is malformed, has no rows or only rows without weight
 */
export function trainClassifier(
  data: TrainingData,
  settings: ClassifierSettings,
  options: TrainingOptions = {},
): Classifier {
  checkClassifierSettings(settings);
  const matrix = 'cuts' in data.features ? data.features.features : data.features;
  checkFeatures(matrix);
  if (settings.kind !== 'logistic_regression')
    throw new RangeError(`${settings.kind} cannot be trained yet.`);
  return trainLogistic(matrix, data, settings, options);
}

function trainLogistic(
  matrix: FeatureMatrix,
  { labels, weights }: TrainingData,
  { kind, l2, class_weight }: ClassifierSettings,
  { onRound }: TrainingOptions,
): Classifier {
  const fit = fitLogistic(matrix, labels, rowWeights(labels, weights, class_weight, matrix.rows), l2);
  fit.losses.forEach((loss, i) => {
    onRound?.(i + 1, loss, null);
  });
  return createClassifier({
    kind,
    names: matrix.names,
    bestIteration: fit.losses.length,
    trainingLoss: Float64Array.from(fit.losses),
    validationLoss: null,
    model: fit.model,
  });
}

interface Parts {
  readonly kind: ModelKind;
  readonly names: readonly string[];
  readonly bestIteration: number;
  readonly trainingLoss: Float64Array;
  readonly validationLoss: Float64Array | null;
  readonly model: LogisticModel;
}

function createClassifier({
  kind,
  names,
  bestIteration,
  trainingLoss,
  validationLoss,
  model,
}: Parts): Classifier {
  return {
    kind,
    version: CLASSIFIER_VERSION,
    featureNames: names,
    bestIteration,
    trainingLoss,
    validationLoss,
    predict(matrix, into = new Float64Array(matrix.rows)) {
      checkSameFeatures(names, matrix);
      if (into.length < matrix.rows) {
        throw new RangeError(`${matrix.rows} probabilities do not fit into ${into.length} places.`);
      }
      predictLogistic(model, matrix, into);
      return into;
    },
    gainImportance: () => shares(model.weights.map(Math.abs)),
    serialise: () => ({
      format: 'touchstone-classifier',
      version: CLASSIFIER_VERSION,
      kind,
      feature_names: names,
      best_iteration: bestIteration,
      training_loss: [...trainingLoss],
      validation_loss: validationLoss && [...validationLoss],
      model: {
        intercept: model.intercept,
        weights: [...model.weights],
        mean: [...model.mean],
        scale: [...model.scale],
      },
    }),
  };
}

function shares(parts: Float64Array): Float64Array {
  const total = parts.reduce((sum, part) => sum + part, 0);
  return total > 0 ? parts.map((part) => part / total) : new Float64Array(parts.length);
}

/**
 * The classifier that `serialise` wrote; it predicts the same to the last bit.
 *
 * @throws RangeError when it is no serialised classifier, or one of another version: such a model must be trained again
 */
export function deserialise(serialised: SerialisedClassifier): Classifier {
  if (serialised?.format !== 'touchstone-classifier')
    throw new RangeError('This is no serialised classifier.');
  if (serialised.version !== CLASSIFIER_VERSION) {
    throw new RangeError(
      `The classifier was written as version ${serialised.version}; this Touchstone reads version ` +
        `${CLASSIFIER_VERSION}. Train it again.`,
    );
  }
  const { weights, mean, scale, intercept } = serialised.model;
  return createClassifier({
    kind: serialised.kind,
    names: serialised.feature_names,
    bestIteration: serialised.best_iteration,
    trainingLoss: Float64Array.from(serialised.training_loss),
    validationLoss: serialised.validation_loss && Float64Array.from(serialised.validation_loss),
    model: {
      intercept,
      weights: Float64Array.from(weights),
      mean: Float64Array.from(mean),
      scale: Float64Array.from(scale),
    },
  });
}
