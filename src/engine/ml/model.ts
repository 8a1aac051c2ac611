import type { FeatureMatrix } from './features.ts';

/** What a kind of model does: what is common to all classifiers is built on it. */
export interface Model<Serialized> {
  /** P(label = 1) of each row, written to the first places of `into`. */
  predict(features: FeatureMatrix, into: Float64Array): void;
  /** By feature, in any unit, not negative: what it contributed when the model was fitted. */
  contributions(): Float64Array;
  /** Plain JSON. */
  serialize(): Serialized;
}

/** 1 / (1 + e^-x): a log-odds as a probability. */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** Probabilities are kept this far from 0 and 1 where their logarithm is taken. */
const MIN_PROBABILITY = 1e-15;

/** Mean log loss, -log of the probability given to what happened; `NaN` of no rows. */
export function logLoss(probabilities: Float64Array, labels: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < labels.length; i++) {
    const given = labels[i] === 1 ? probabilities[i]! : 1 - probabilities[i]!;
    total -= Math.log(Math.max(given, MIN_PROBABILITY));
  }
  return total / labels.length;
}
