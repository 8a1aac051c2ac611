import type { Random } from '../random.ts';
import { LN_SQRT_2PI, logNormalCdf, logNormalMass, normalQuantileOfLog } from '../stats/distributions.ts';
import { type Axis, type ChoiceAxis, coordinate, type NumericAxis, snap } from './space.ts';

/** Number of newest trials with weight 1; older trials have less. */
const FULL_WEIGHTS = 25;

/**
 * A kernel whose density is smaller than the prior's by more than this factor (in nats) is left out: thousands of them do not
 * change the last digit of the sum.
 */
const NEGLIGIBLE = 60;

/**
 * A Parzen mixture over the whole space. Kernel k is the product of one distribution per dimension, around trial k. The
 * last kernel is the prior over the whole range.
 *
 * With many trials the kernels are narrow, and most are far from a given point in some dimension. A cheap upper bound
 * finds these: each dimension has at most the density of its normal at the nearest point of the value's cell.
 */
export class Mixture {
  readonly #dimensions: readonly Kernels[];
  readonly #cumulative: Float64Array;
  readonly #logWeights: Float64Array;
  /** Numeric dimensions only. */
  readonly #numeric: readonly NumericKernels[];
  /** Mean and 1 / sigma of each numeric dimension in turn, kernel by kernel. */
  readonly #shapes: Float64Array;
  /** ln of weight times density of each kernel at its mean. */
  readonly #peaks: Float64Array;
  /** Middle and half the width of the point's cell in each numeric dimension in turn. */
  readonly #cell: Float64Array;
  /** ln of weight times density of the kernels near the point. */
  readonly #near: Float64Array;

  /** @param columns for each axis the values of the trials in order of their numbers (for a choice: the indices) */
  constructor(axes: readonly Axis[], columns: readonly Float64Array[]) {
    const kernels = (columns[0]?.length ?? 0) + 1;
    this.#dimensions = axes.map((axis, d) =>
      axis.kind === 'choice' ? new ChoiceKernels(axis, columns[d]!) : new NumericKernels(axis, columns[d]!),
    );
    this.#numeric = this.#dimensions.filter((dimension) => dimension instanceof NumericKernels);
    const weights = trialWeights(kernels);
    let total = 0;
    for (const weight of weights) total += weight;
    this.#cumulative = new Float64Array(kernels);
    this.#logWeights = new Float64Array(kernels);
    let running = 0;
    for (let k = 0; k < kernels; k++) {
      const share = weights[k]! / total;
      running += share;
      this.#cumulative[k] = running;
      this.#logWeights[k] = Math.log(share);
    }
    this.#peaks = this.#logWeights.slice();
    for (const dimension of this.#dimensions) dimension.addPeaks(this.#peaks);
    this.#shapes = shapesOf(this.#numeric, kernels);
    this.#cell = new Float64Array(2 * this.#numeric.length);
    this.#near = new Float64Array(kernels);
  }

  /** Draws one kernel by weight, then every dimension from that kernel. */
  sample(random: Random): number[] {
    const u = random();
    const picked = this.#cumulative.findIndex((share) => u < share);
    const k = picked < 0 ? this.#cumulative.length - 1 : picked;
    return this.#dimensions.map((kernels) => kernels.sample(k, random));
  }

  /** ln of the density of a point (for steps and choices: of its probability). */
  logDensity(point: readonly number[]): number {
    this.#dimensions.forEach((dimension, d) => {
      dimension.moveTo(point[d]!);
    });
    const near = this.#near;
    const count = this.#collectNear();
    let largest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < count; i++) if (near[i]! > largest) largest = near[i]!;
    let total = 0;
    for (let i = 0; i < count; i++) total += Math.exp(near[i]! - largest);
    return largest + Math.log(total);
  }

  /** Fills `#near` in the order of the kernels, and returns the number of its values. */
  #collectNear(): number {
    const { length } = this.#numeric;
    const [cell, shapes, peaks, near] = [this.#cell, this.#shapes, this.#peaks, this.#near];
    const last = peaks.length - 1;
    const prior = this.#logDensityOf(last);
    let widths = 0;
    for (let d = 0; d < length; d++) {
      const numeric = this.#numeric[d]!;
      cell[2 * d] = (numeric.left + numeric.right) / 2;
      cell[2 * d + 1] = (numeric.right - numeric.left) / 2;
      widths += numeric.logWidth;
    }
    const least = prior - NEGLIGIBLE - widths;
    let count = 0;
    for (let k = 0; k < last; k++) {
      // A sum of squared distances in sigmas above this limit makes the kernel negligible.
      const limit = 2 * (peaks[k]! - least);
      let distance = 0;
      for (let i = 0, at = 2 * k * length; i < 2 * length && distance <= limit; i += 2, at += 2) {
        const z = Math.max(0, Math.abs(shapes[at]! - cell[i]!) - cell[i + 1]!) * shapes[at + 1]!;
        distance += z * z;
      }
      if (distance <= limit) near[count++] = this.#logDensityOf(k);
    }
    near[count++] = prior;
    return count;
  }

  /** ln of weight times density of kernel `k` at the point. */
  #logDensityOf(k: number): number {
    let sum = this.#logWeights[k]!;
    for (const dimension of this.#dimensions) sum += dimension.logDensity(k);
    return sum;
  }
}

function shapesOf(dimensions: readonly NumericKernels[], kernels: number): Float64Array {
  const shapes = new Float64Array(2 * dimensions.length * kernels);
  dimensions.forEach(({ means, scales }, d) => {
    for (let k = 0, at = 2 * d; k < kernels; k++, at += 2 * dimensions.length) {
      shapes[at] = means[k]!;
      shapes[at + 1] = scales[k]!;
    }
  });
  return shapes;
}

/**
 * Weights of `kernels` - 1 trials and of the prior, which has 1. The newest 25 trials have 1, older ones a linear ramp from
 * 1/n to 1.
 */
export function trialWeights(kernels: number): Float64Array {
  const n = kernels - 1;
  const older = n - FULL_WEIGHTS;
  const weights = new Float64Array(kernels).fill(1);
  for (let k = 0; k < older; k++) weights[k] = older === 1 ? 1 / n : 1 / n + ((1 - 1 / n) * k) / (older - 1);
  return weights;
}

/** One dimension of a Parzen mixture: one distribution per observation; the last one is the prior. */
interface Kernels {
  /** Draws a value (for a choice: its index) from kernel `k`. */
  sample(k: number, random: Random): number;
  /** Adds ln of an upper bound of each kernel's density to `sums`, for numbers with steps: per unit of the range. */
  addPeaks(sums: Float64Array): void;
  /** Sets the value whose density {@link logDensity} returns. */
  moveTo(value: number): void;
  /** ln of the density of the value (for steps: of its probability) under kernel `k`. */
  logDensity(k: number): number;
}

/**
 * Quantile `u` of a normal distribution truncated to [low, high]. It uses the logarithm of the distribution function, on
 * the side where the function is small. The result is therefore exact at any distance of the range from the mean.
 */
export function truncatedNormal(mean: number, sigma: number, low: number, high: number, u: number): number {
  if (low + high > 2 * mean) return -truncatedNormal(-mean, sigma, -high, -low, 1 - u);
  const lower = logNormalCdf((low - mean) / sigma);
  const upper = logNormalCdf((high - mean) / sigma);
  const logP = upper + Math.log(u + (1 - u) * Math.exp(lower - upper));
  return Math.min(high, Math.max(low, mean + sigma * normalQuantileOfLog(logP)));
}

/** ln of the probability of a cell. For a very narrow cell it uses density times width: a difference would round to 0. */
function logCellMass(left: number, right: number): number {
  const width = right - left;
  if (width > 1e-6) return logNormalMass(left, right);
  const middle = (left + right) / 2;
  return -0.5 * middle * middle - LN_SQRT_2PI + Math.log(Math.max(width, Number.MIN_VALUE));
}

/** Each kernel has 1 / kernels on every choice and 1 more on the observed choice, normalized. The prior is uniform. */
class ChoiceKernels implements Kernels {
  readonly #observed: Float64Array;
  readonly #choices: number;
  readonly #base: number;
  readonly #total: number;
  readonly #logBase: number;
  readonly #logObserved: number;
  #value = 0;

  constructor({ choices }: ChoiceAxis, observed: Float64Array) {
    this.#observed = observed;
    this.#choices = choices.length;
    this.#base = 1 / (observed.length + 1);
    this.#total = choices.length * this.#base + 1;
    this.#logBase = Math.log(this.#base / this.#total);
    this.#logObserved = Math.log((this.#base + 1) / this.#total);
  }

  sample(k: number, random: Random): number {
    const u = random();
    if (k >= this.#observed.length) return Math.floor(u * this.#choices);
    // The observed choice has the extra 1 first; the rest is uniform over all choices.
    const rest = u * this.#total - 1;
    return rest < 0 ? this.#observed[k]! : Math.min(this.#choices - 1, Math.floor(rest / this.#base));
  }

  addPeaks(sums: Float64Array): void {
    for (let k = 0; k < sums.length; k++) sums[k]! += this.#logObserved;
  }

  moveTo(value: number): void {
    this.#value = value;
  }

  logDensity(k: number): number {
    if (k === this.#observed.length) return -Math.log(this.#choices);
    return this.#observed[k] === this.#value ? this.#logObserved : this.#logBase;
  }
}

/**
 * Truncated normals of a numeric dimension, in model coordinates. The prior has its mean in the middle of the range and the
 * range as its sigma.
 */
class NumericKernels implements Kernels {
  readonly #axis: NumericAxis;
  readonly means: Float64Array;
  readonly #sigmas: Float64Array;
  /** 1 / sigma. */
  readonly scales: Float64Array;
  /** ln of the probability of the range under each normal. */
  readonly #logMasses: Float64Array;
  /** ln of each truncated density at its mean. */
  readonly #peaks: Float64Array;
  /** Number of each kernel among those that differ. With steps many observations are equal. */
  readonly #kinds: Int32Array;
  #kindCount = 0;
  /** For each value ln of the probabilities of its cell under the kinds of kernels that were asked for; `NaN` for the others. */
  readonly #known = new Map<number, Float64Array>();
  #masses: Float64Array = NO_MASSES;
  /** Ends of the value's cell; both are the value if the axis has no steps. */
  left = 0;
  right = 0;
  /** ln of the cell's width; 0 if the axis has no steps. */
  logWidth = 0;

  constructor(axis: NumericAxis, observed: Float64Array) {
    const { low, high } = axis;
    const n = observed.length;
    this.#axis = axis;
    this.means = new Float64Array(n + 1);
    for (let k = 0; k < n; k++) this.means[k] = coordinate(axis, observed[k]!);
    const order = ascending(this.means.subarray(0, n), low, high);
    this.means[n] = (low + high) / 2;
    this.#sigmas = widths(this.means, order, low, high);
    this.#kinds = new Int32Array(n + 1);
    this.#logMasses = new Float64Array(n + 1);
    this.scales = new Float64Array(n + 1);
    this.#peaks = new Float64Array(n + 1);
    let before = n;
    this.#shape(n, n);
    for (let rank = 0; rank < n; rank++) {
      const k = order[rank]!;
      this.#shape(k, before);
      before = k;
    }
  }

  /** Computes what follows from mean and sigma of kernel `k`, or copies it from the kernel before it in the order. */
  #shape(k: number, before: number): void {
    const mean = this.means[k]!;
    const sigma = this.#sigmas[k]!;
    const isNew = before === k || mean !== this.means[before] || sigma !== this.#sigmas[before];
    this.#kinds[k] = isNew ? this.#kindCount++ : this.#kinds[before]!;
    const logMass = isNew
      ? logMassWithin(mean, sigma, this.#axis.low, this.#axis.high)
      : this.#logMasses[before]!;
    this.#logMasses[k] = logMass;
    this.scales[k] = 1 / sigma;
    this.#peaks[k] = isNew ? -LN_SQRT_2PI - Math.log(sigma) - logMass : this.#peaks[before]!;
  }

  sample(k: number, random: Random): number {
    const { low, high } = this.#axis;
    return snap(this.#axis, truncatedNormal(this.means[k]!, this.#sigmas[k]!, low, high, random()));
  }

  addPeaks(sums: Float64Array): void {
    for (let k = 0; k < sums.length; k++) sums[k]! += this.#peaks[k]!;
  }

  moveTo(value: number): void {
    const { step } = this.#axis;
    this.left = coordinate(this.#axis, value - step / 2);
    if (step === 0) {
      this.right = this.left;
      return;
    }
    this.right = coordinate(this.#axis, value + step / 2);
    // Equal ends: a cell between neighboring doubles.
    this.logWidth = Math.log(Math.max(this.right - this.left, Number.MIN_VALUE));
    this.#masses = this.#known.get(value) ?? new Float64Array(this.#kindCount).fill(Number.NaN);
    this.#known.set(value, this.#masses);
  }

  logDensity(k: number): number {
    if (this.#axis.step === 0) {
      const z = (this.left - this.means[k]!) * this.scales[k]!;
      return this.#peaks[k]! - 0.5 * z * z;
    }
    const kind = this.#kinds[k]!;
    const known = this.#masses[kind]!;
    if (!Number.isNaN(known)) return known;
    const mean = this.means[k]!;
    const sigma = this.#sigmas[k]!;
    const mass = logCellMass((this.left - mean) / sigma, (this.right - mean) / sigma) - this.#logMasses[k]!;
    this.#masses[kind] = mass;
    return mass;
  }
}

const NO_MASSES = new Float64Array(0);

/** Number of sigmas beyond which a normal has less probability than the rounding error of 1. */
const ALL_WITHIN = 8.5;

function logMassWithin(mean: number, sigma: number, low: number, high: number): number {
  const a = (low - mean) / sigma;
  const b = (high - mean) / sigma;
  return a < -ALL_WITHIN && b > ALL_WITHIN ? 0 : logNormalMass(a, b);
}

/** Bits of a key of {@link ascending} that one of its two passes sorts by. */
const KEY_BITS = 10;

/**
 * Indices in ascending order of values within [low, high], ties by index. Two passes over a key of 20 bits sort almost all; an
 * insertion sort then moves those of equal keys. A comparator takes many times as long.
 */
function ascending(values: Float64Array, low: number, high: number): Int32Array {
  const size = 1 << KEY_BITS;
  const scale = (size * size - 1) / (high - low);
  const keys = new Int32Array(values.length);
  for (let i = 0; i < keys.length; i++) keys[i] = (values[i]! - low) * scale;
  let order = new Int32Array(values.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  let sorted = new Int32Array(values.length);
  for (let shift = 0; shift < 2 * KEY_BITS; shift += KEY_BITS) {
    const starts = new Int32Array(size + 1);
    for (let i = 0; i < keys.length; i++) starts[((keys[i]! >> shift) & (size - 1)) + 1]! += 1;
    for (let bin = 1; bin < size; bin++) starts[bin]! += starts[bin - 1]!;
    for (let i = 0; i < order.length; i++) {
      const k = order[i]!;
      sorted[starts[(keys[k]! >> shift) & (size - 1)]!++] = k;
    }
    [order, sorted] = [sorted, order];
  }
  for (let i = 1; i < order.length; i++) {
    const k = order[i]!;
    let at = i;
    while (at > 0 && values[order[at - 1]!]! > values[k]!) {
      order[at] = order[at - 1]!;
      at--;
    }
    order[at] = k;
  }
  return order;
}

/**
 * Sigma of each kernel: the larger distance to a neighboring observation. A single observation has the ends of the range as
 * neighbors. Limits: range / min(100, 1 + kernels) to range. The prior has the range.
 */
function widths(means: Float64Array, order: Int32Array, low: number, high: number): Float64Array {
  const n = order.length;
  const range = high - low;
  const narrowest = range / Math.min(100, n + 2);
  const sigmas = new Float64Array(n + 1).fill(range);
  for (let rank = 0; rank < n; rank++) {
    const k = order[rank]!;
    const mean = means[k]!;
    const below = rank > 0 ? mean - means[order[rank - 1]!]! : n > 1 ? 0 : mean - low;
    const above = rank < n - 1 ? means[order[rank + 1]!]! - mean : n > 1 ? 0 : high - mean;
    sigmas[k] = Math.min(range, Math.max(narrowest, below, above));
  }
  return sigmas;
}
