import type { FeatureMatrix } from './features.ts';

/** What a kind of model does: what is common to all classifiers is built on it. */
export interface Model<Serialised> {
  /** P(label = 1) of each row, written to the first places of `into`. */
  predict(features: FeatureMatrix, into: Float64Array): void;
  /** By feature, in any unit, not negative: what it contributed when the model was fitted. */
  contributions(): Float64Array;
  /** Plain JSON. */
  serialise(): Serialised;
}
