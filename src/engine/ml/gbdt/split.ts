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
    // Without missing values in the node, a split at the last bin has an empty right side and is skipped.
    if (scan(histogram, from, missingAt, 0, total, rules, best)) accept(best, column, from, false);
    if (missing !== 0 && scan(histogram, from, missingAt, missing, total, rules, best)) {
      accept(best, column, from, true);
    }
  }
  const { column, bin, missingLeft, left } = best;
  return { column, bin, missingLeft, left, gain: best.above / best.below - parent };
}

/** Best split so far, with its children's score as the fraction above / below. */
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
 * Looks for a better score than that of `best` in one column. `best.bin` is then the histogram index of the bin, which
 * `accept` converts. Scores are compared as fractions: no division per bin, and equal splits compare equal.
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
    // A bin without rows gives the same split as the bin before it.
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

/**
 * First and second derivatives of the log loss, packed into one integer.
 *
 * A packed gradient is G * 2^26 + H. G and H are integers: the gradient and the hessian in units of 2^-k. The units are
 * chosen so that the sum of |G| over all rows is below 2^27 and the sum of H below 2^26. For any subset of rows in any
 * order, every partial sum is then an integer below 2^53 and exact in a double. A histogram therefore does not depend on
 * the division of its rows among workers. A child's histogram is exactly the parent's minus its sibling's.
 * (Quantized training: Shi et al., NeurIPS 2022, arXiv:2207.09682.)
 */
/** Packed value of a gradient of one unit. */
export const PACKED_UNIT = 2 ** 26;
const HESSIAN_SPAN = PACKED_UNIT;
const GRADIENT_SPAN = 2 ** 27;

/** Rounding adds at most half a unit per row: with this many rows, less than a tenth of either span. */
export const MAX_ROWS = 2 ** 22;

/** Limit of the log-odds, to avoid overflow: beyond it a probability is practically 1. */
const MAX_MARGIN = 200;
/** Times e^MAX_MARGIN it is still finite. */
const MAX_PRODUCT = 1e200;
const MIN_HESSIAN = 1e-16;

/** The derivatives at the current scores, row by row. */
export interface Gradients {
  readonly gradient: Float64Array;
  readonly hessian: Float64Array;
  readonly packed: Float64Array;
  /** Units per 1 of the gradient and of the hessian; powers of two. */
  gradientUnits: number;
  hessianUnits: number;
}

/** Arrays of derivatives for `rows` rows, filled with 0. */
export function createGradients(rows: number): Gradients {
  return {
    gradient: new Float64Array(rows),
    hessian: new Float64Array(rows),
    packed: new Float64Array(rows),
    gradientUnits: 1,
    hessianUnits: 1,
  };
}

/**
 * Fills the exact derivatives of the weighted log loss at the scores (log-odds), and returns the sum of the weighted losses.
 * With e = exp(-margin), margin the score of the actual label: loss = log(1 + e), |gradient| = e / (1 + e), hessian =
 * e / (1 + e)^2. Rows are added in order.
 */
export function computeGradients(
  scores: Float64Array,
  labels: Uint8Array,
  weights: Float64Array,
  into: Gradients,
): number {
  const { gradient, hessian } = into;
  const rows = gradient.length;
  let loss = 0;
  // Rows of the same weight share one logarithm, of the product of their terms.
  let product = 1;
  let productWeight = 0;
  for (let i = 0; i < rows; i++) {
    const sign = 1 - 2 * labels[i]!;
    const weight = weights[i]!;
    const e = Math.exp(Math.min(sign * scores[i]!, MAX_MARGIN));
    const share = e / (1 + e);
    gradient[i] = sign * weight * share;
    hessian[i] = Math.max((weight * share) / (1 + e), MIN_HESSIAN);
    if (weight !== productWeight || product > MAX_PRODUCT) {
      loss += productWeight * Math.log(product);
      product = 1;
      productWeight = weight;
    }
    product *= 1 + e;
  }
  return loss + productWeight * Math.log(product);
}

/** Log loss of a label whose score (log-odds of that label) is `margin`. */
export function marginLoss(margin: number): number {
  return Math.log(1 + Math.exp(Math.min(-margin, MAX_MARGIN)));
}

/** Chooses the units for these rows' derivatives and packs them: `packed[i]` belongs to row `i`. */
export function packGradients(gradients: Gradients): void {
  const { gradient, hessian, packed } = gradients;
  const rows = packed.length;
  let gradientSum = 0;
  let hessianSum = 0;
  for (let i = 0; i < rows; i++) {
    gradientSum += Math.abs(gradient[i]!);
    hessianSum += hessian[i]!;
  }
  const gradientUnits = unitsFor(gradientSum, GRADIENT_SPAN, rows);
  const hessianUnits = unitsFor(hessianSum, HESSIAN_SPAN, rows);
  for (let i = 0; i < rows; i++) {
    const g = Math.floor(gradient[i]! * gradientUnits + 0.5);
    const h = Math.floor(hessian[i]! * hessianUnits + 0.5);
    packed[i] = g * PACKED_UNIT + h;
  }
  gradients.gradientUnits = gradientUnits;
  gradients.hessianUnits = hessianUnits;
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
