import type { FeatureMatrix } from './features.ts';

/** Interface of one kind of model. The classifier adds the parts that all kinds share. */
export interface Model<Serialized> {
  /** P(label = 1) of each row, written to the start of `into`. */
  predict(features: FeatureMatrix, into: Float64Array): void;
  /** Contribution of each feature to the fit, at least 0, in any unit. */
  contributions(): Float64Array;
  /** Plain JSON. */
  serialize(): Serialized;
}

/** 1 / (1 + e^-x): a log-odds as a probability. */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** Lower limit of a probability before its logarithm is taken. */
const MIN_PROBABILITY = 1e-15;

/** Mean log loss: -log of the predicted probability of the actual label. `NaN` without rows. */
export function logLoss(probabilities: Float64Array, labels: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < labels.length; i++) {
    const given = labels[i] === 1 ? probabilities[i]! : 1 - probabilities[i]!;
    total -= Math.log(Math.max(given, MIN_PROBABILITY));
  }
  return total / labels.length;
}
