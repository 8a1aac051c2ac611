/**
 * First and second derivatives of the log loss, and both as one integer.
 *
 * A packed gradient is G * 2^26 + H, G and H whole numbers: the gradient and the hessian in units of 2^-k. The units are chosen so
 * that the sum of |G| over all rows is below 2^27 and that of H below 2^26. Whatever subset of rows is added up, in whatever
 * order, every partial sum is then an integer below 2^53 and exact in a double. So a histogram does not depend on how its
 * rows were split among workers, and a sibling's is exactly the parent's less the other child's.
 * (Quantised training: Shi et al., NeurIPS 2022, arXiv:2207.09682.)
 */
/** What a gradient of one unit is in a packed one. */
export const PACKED_UNIT = 2 ** 26;
const HESSIAN_SPAN = PACKED_UNIT;
const GRADIENT_SPAN = 2 ** 27;

/** Rounding adds at most half a unit a row: with so many rows at most, less than a tenth of either span. */
export const MAX_ROWS = 2 ** 22;

/** Past this log-odds a probability is as good as certain. */
const MAX_MARGIN = 200;
/** Times e^MAX_MARGIN it still is a number. */
const MAX_PRODUCT = 1e200;
const MIN_HESSIAN = 1e-16;

/** The derivatives at the current scores, row by row. */
export interface Gradients {
  readonly gradient: Float64Array;
  readonly hessian: Float64Array;
  readonly packed: Float64Array;
  /** Units in 1 of the gradient and of the hessian: powers of two. */
  gradientUnits: number;
  hessianUnits: number;
}

/** Empty derivatives of so many rows. */
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
 * With e = exp(-margin), margin the score of the label that happened: loss = log(1 + e), |gradient| = e / (1 + e), hessian =
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
  // One logarithm of a product for many rows of the same weight.
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

/** Chooses the units for these rows' derivatives and packs them: `packed[i]` is of row `i`. */
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

/** The largest power of two with sum * units + rows / 2 well below the span; 1 when there is nothing to measure. */
function unitsFor(sum: number, span: number, rows: number): number {
  if (!(sum > 0)) return 1;
  return 2 ** Math.floor(Math.log2((span - 2 - rows / 2) / sum) - 1e-9);
}

/** The gradient in units: rounds down, since the hessian's part is never negative. */
export function packedGradient(packed: number): number {
  return Math.floor(packed / PACKED_UNIT);
}

/** The hessian in units. */
export function packedHessian(packed: number): number {
  return packed - Math.floor(packed / PACKED_UNIT) * PACKED_UNIT;
}
