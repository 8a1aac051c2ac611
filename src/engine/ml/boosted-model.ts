import { createForest, predictForest } from './gbdt/forest.ts';
import type { Tree } from './gbdt/tree.ts';
import type { Model } from './model.ts';

/** Boosted trees as plain JSON. */
export interface SerialisedForest {
  /** Log-odds before the first tree. */
  readonly base: number;
  /** By feature: upper ends of its bins but the last; an infinite end is "-Infinity" or "Infinity". */
  readonly cuts: readonly (readonly (number | string)[])[];
  readonly trees: readonly SerialisedTree[];
  /** By feature: loss reduction. */
  readonly gains: readonly number[];
}

/** A tree by node, the root first; the right child of a node is the one after the left. */
interface SerialisedTree {
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
  readonly isSymmetric: boolean;
}

export function boostedModel({
  base,
  cuts,
  trees,
  gains,
  isSymmetric,
}: BoostedParts): Model<SerialisedForest> {
  const forest = createForest(base, trees, cuts, isSymmetric);
  return {
    predict: (features, into) => predictForest(forest, features, into),
    contributions: () => gains,
    serialise: () => ({
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

export function deserialiseBoosted(
  serialised: SerialisedForest,
  isSymmetric: boolean,
): Model<SerialisedForest> {
  return boostedModel({
    base: serialised.base,
    cuts: serialised.cuts.map((column) => Float64Array.from(column, Number)),
    trees: serialised.trees.map(({ feature, bin, missing_left, left, value }) => ({
      feature: [...feature],
      bin: [...bin],
      missingLeft: [...missing_left],
      left: [...left],
      value: [...value],
    })),
    gains: Float64Array.from(serialised.gains),
    isSymmetric,
  });
}
