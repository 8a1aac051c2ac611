import { type LogisticParts, predictLogistic } from './logistic.ts';
import type { Model } from './model.ts';

/** A logistic regression as plain JSON. */
export interface SerialisedLogistic {
  readonly intercept: number;
  /** Of the standardised features. */
  readonly weights: readonly number[];
  readonly mean: readonly number[];
  readonly scale: readonly number[];
}

export function logisticModel(parts: LogisticParts): Model<SerialisedLogistic> {
  return {
    predict: (features, into) => predictLogistic(parts, features, into),
    contributions: () => parts.weights.map(Math.abs),
    serialise: () => ({
      intercept: parts.intercept,
      weights: [...parts.weights],
      mean: [...parts.mean],
      scale: [...parts.scale],
    }),
  };
}

export function deserialiseLogistic(serialised: SerialisedLogistic): Model<SerialisedLogistic> {
  return logisticModel({
    intercept: serialised.intercept,
    weights: Float64Array.from(serialised.weights),
    mean: Float64Array.from(serialised.mean),
    scale: Float64Array.from(serialised.scale),
  });
}
