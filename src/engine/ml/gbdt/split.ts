import { type Gradients, PACKED_UNIT, packedGradient, packedHessian } from './gradients.ts';
import type { TreeColumns } from './histogram.ts';

/** What a split must respect, in the units of the packed gradients. */
export interface SplitRules {
  /** L2 penalty of leaf values, in units of the hessian. */
  readonly l2: number;
  /** Smallest hessian of a child; at least 1, so that no child is empty. */
  readonly minChild: number;
  /** What the score must rise by, in units of the score. */
  readonly minGain: number;
  /** Score units in a loss reduction of 1. */
  readonly scoreUnits: number;
}

/** Smallest loss reduction of any split: XGBoost's kRtEps. */
const MIN_LOSS_REDUCTION = 1e-6;

/** The rules of one tree. */
export function splitRules(
  settings: { readonly l2: number; readonly min_child_weight: number; readonly gamma: number },
  { gradientUnits, hessianUnits }: Gradients,
): SplitRules {
  const scoreUnits = (gradientUnits * gradientUnits) / hessianUnits;
  return {
    l2: settings.l2 * hessianUnits,
    minChild: Math.max(settings.min_child_weight * hessianUnits, 1),
    minGain: Math.max(settings.gamma, MIN_LOSS_REDUCTION) * scoreUnits,
    scoreUnits,
  };
}

/** A split of one node: rows whose bin of the feature is at most `bin` go left. */
export interface Split {
  /** Index into the tree's columns; -1 when no split is allowed. */
  readonly column: number;
  readonly bin: number;
  readonly missingLeft: boolean;
  /** By how much the score rises. */
  readonly gain: number;
  /** Packed gradients of the left child. */
  readonly left: number;
}

/** G^2 / (H + l2): twice the loss that a leaf of these rows takes away (Chen and Guestrin 2016, equation 6). */
export function leafScore(packed: number, l2: number): number {
  const g = packedGradient(packed);
  const weight = packedHessian(packed) + l2;
  return weight > 0 ? (g * g) / weight : 0;
}

/**
 * The split of a node with the largest gain, that is the children's scores less the parent's. Of equal ones the first
 * counts: lower column, missing values to the right, lower bin.
 *
 * @param total packed gradients of the node
 */
export function bestSplit(
  columns: TreeColumns,
  histogram: Float64Array,
  total: number,
  rules: SplitRules,
): Split {
  const { offsets, binCounts, features } = columns;
  const parent = leafScore(total, rules.l2);
  const best: Best = {
    column: -1,
    bin: 0,
    missingLeft: false,
    above: parent + rules.minGain,
    below: 1,
    left: 0,
  };
  for (let column = 0; column < features.length; column++) {
    const from = offsets[column]!;
    const missingAt = from + binCounts[column]!;
    const missing = histogram[missingAt]!;
    // Without missing rows in the node, the last bin leaves nothing for the right.
    if (scan(histogram, from, missingAt, 0, total, rules, best)) accept(best, column, from, false);
    if (missing !== 0 && scan(histogram, from, missingAt, missing, total, rules, best)) {
      accept(best, column, from, true);
    }
  }
  const { column, bin, missingLeft, left } = best;
  return { column, bin, missingLeft, left, gain: best.above / best.below - parent };
}

/** The best split so far, its children's score as a fraction. */
interface Best {
  column: number;
  bin: number;
  missingLeft: boolean;
  left: number;
  above: number;
  below: number;
}

function accept(best: Best, column: number, from: number, missingLeft: boolean): void {
  best.column = column;
  best.bin -= from;
  best.missingLeft = missingLeft;
}

/**
 * Looks for a better score than that of `best` in one column; leaves the place, not the number, of its bin in `best.bin`.
 * Scores are compared as fractions, which takes no division a bin and leaves equal splits equal.
 */
function scan(
  histogram: Float64Array,
  from: number,
  to: number,
  start: number,
  total: number,
  { l2, minChild }: SplitRules,
  best: Best,
): boolean {
  const totalGradient = Math.floor(total / PACKED_UNIT);
  const totalHessian = total - totalGradient * PACKED_UNIT;
  let left = start;
  let bestAbove = best.above;
  let bestBelow = best.below;
  let bestAt = -1;
  let bestLeft = 0;
  for (let k = from; k < to; k++) {
    const added = histogram[k]!;
    // No rows in this bin: the same split as the one before.
    if (added === 0) continue;
    left += added;
    const g = Math.floor(left / PACKED_UNIT);
    const h = left - g * PACKED_UNIT;
    if (h < minChild) continue;
    const otherH = totalHessian - h;
    if (otherH < minChild) break;
    const otherG = totalGradient - g;
    const weight = h + l2;
    const otherWeight = otherH + l2;
    const above = g * g * otherWeight + otherG * otherG * weight;
    const below = weight * otherWeight;
    if (above * bestBelow > bestAbove * below) {
      bestAbove = above;
      bestBelow = below;
      bestAt = k;
      bestLeft = left;
    }
  }
  if (bestAt < 0) return false;
  best.above = bestAbove;
  best.below = bestBelow;
  best.bin = bestAt;
  best.left = bestLeft;
  return true;
}
