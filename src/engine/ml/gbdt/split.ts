import { HESSIAN_BITS, RESULTS } from '../wasm/gradients.ts';
import type { Kernel } from '../wasm/kernel.ts';
import {
  SPLIT_ABOVE,
  SPLIT_BELOW,
  SPLIT_BIN,
  SPLIT_COLUMN,
  SPLIT_LEFT,
  SPLIT_MISSING_LEFT,
} from '../wasm/split.ts';
import type { TreeColumns } from './histogram.ts';

/** Limits of a split, in the units of the packed gradients. */
export interface SplitRules {
  /** L2 penalty of leaf values, in units of the hessian. */
  readonly l2: number;
  /** Smallest hessian of a child; at least 1, so that no child is empty. */
  readonly minChild: number;
  /** Minimum increase of the score. */
  readonly minGain: number;
  /** Increase of the score per loss reduction of 1. */
  readonly scoreUnits: number;
}

/** Smallest loss reduction of a split (kRtEps of XGBoost). */
const MIN_LOSS_REDUCTION = 1e-6;

/** Limits for the splits of one tree. */
export function splitRules(
  settings: { readonly l2: number; readonly min_child_weight: number; readonly gamma: number },
  { gradientUnits, hessianUnits }: Units,
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
  /** Increase of the score. */
  readonly gain: number;
  /** Packed gradients of the left child. */
  readonly left: number;
}

/** G^2 / (H + l2): twice the loss reduction of a leaf with these rows (Chen and Guestrin 2016, equation 6). */
export function leafScore(packed: number, l2: number): number {
  const g = packedGradient(packed);
  const weight = packedHessian(packed) + l2;
  return weight > 0 ? (g * g) / weight : 0;
}

/**
 * Split of a node with the largest gain: the children's scores minus the parent's score. Ties: lower column, then missing
 * values to the right, then lower bin.
 *
 * @param histogram its address
 * @param total packed gradients of the node
 */
export function bestSplit(
  kernel: Kernel,
  { table, features }: TreeColumns,
  histogram: number,
  total: number,
  { l2, minChild, minGain }: SplitRules,
): Split {
  const parent = leafScore(total, l2);
  kernel.run.findSplit(histogram, table, features.length, total, parent + minGain, l2, minChild);
  const doubles = kernel.f64(RESULTS, 3);
  const words = kernel.i32(RESULTS, 9);
  return {
    column: words[SPLIT_COLUMN]!,
    bin: words[SPLIT_BIN]!,
    missingLeft: words[SPLIT_MISSING_LEFT] === 1,
    left: doubles[SPLIT_LEFT]!,
    gain: doubles[SPLIT_ABOVE]! / doubles[SPLIT_BELOW]! - parent,
  };
}

/*
 * First and second derivatives of the log loss are packed into one integer.
 *
 * A packed gradient is G * 2^26 + H. G and H are integers: the gradient and the hessian in units of 2^-k. The units are
 * chosen so that the sum of |G| over all rows is below 2^27 and the sum of H below 2^26. For any subset of rows in any
 * order, every partial sum is then an integer below 2^53 and exact in a double. A histogram therefore does not depend on
 * the order of its rows. A child's histogram is exactly the parent's minus its sibling's.
 * (Quantized training: Shi et al., NeurIPS 2022, arXiv:2207.09682.)
 */

/** Packed value of a gradient of one unit. */
const PACKED_UNIT = 2 ** HESSIAN_BITS;
const HESSIAN_SPAN = PACKED_UNIT;
const GRADIENT_SPAN = 2 ** 27;

/** Rounding adds at most half a unit per row: with this many rows, less than a tenth of either span. */
export const MAX_ROWS = 2 ** 22;

/** Limit of the log-odds, to avoid overflow: beyond it a probability is practically 1. */
const MAX_MARGIN = 200;

/** Units per 1 of the gradient and of the hessian; powers of two. */
export interface Units {
  readonly gradientUnits: number;
  readonly hessianUnits: number;
}

/** Units for derivatives of so many rows, with these sums of |gradient| and of the hessian. */
export function unitsOf(gradientSum: number, hessianSum: number, rows: number): Units {
  return {
    gradientUnits: unitsFor(gradientSum, GRADIENT_SPAN, rows),
    hessianUnits: unitsFor(hessianSum, HESSIAN_SPAN, rows),
  };
}

/** Log loss of a label whose score (log-odds of that label) is `margin`. */
export function marginLoss(margin: number): number {
  return Math.log(1 + Math.exp(Math.min(-margin, MAX_MARGIN)));
}

/** Largest power of two with sum * units + rows / 2 below the span, with a margin; 1 when the sum is 0. */
function unitsFor(sum: number, span: number, rows: number): number {
  if (!(sum > 0)) return 1;
  return 2 ** Math.floor(Math.log2((span - 2 - rows / 2) / sum) - 1e-9);
}

/** Gradient in units. It rounds down because the hessian's part is never negative. */
function packedGradient(packed: number): number {
  return Math.floor(packed / PACKED_UNIT);
}

/** Hessian in units. */
export function packedHessian(packed: number): number {
  return packed - Math.floor(packed / PACKED_UNIT) * PACKED_UNIT;
}
