import type { Direction, Sampler } from '#contract/hyperopt.ts';
import { createRandom, mix32, type Random } from '../random.ts';
import { LN_SQRT_2PI, logNormalCdf, logNormalMass, normalQuantileOfLog } from '../stats/distributions.ts';
import {
  type Axis,
  axisOf,
  type ChoiceAxis,
  coordinate,
  indexOrValue,
  type NumericAxis,
  type Point,
  type SearchSpace,
  snap,
  uniform,
} from './space.ts';
import type { PastTrial } from './trials.ts';

/** Number of finished trials before the model is used. Until then draws are independent. */
const STARTUP_TRIALS = 10;
/** Number of draws from the good mixture; the best draw is used. */
const CANDIDATES = 24;
/** Maximum size of the good set, which is the best tenth of the finished trials, rounded up. */
const MAX_GOOD = 25;

export interface SuggestOptions {
  /** Seed of the study. Seed and `number` determine the generator, regardless of earlier draws. */
  readonly seed: number;
  /** Number of the trial to suggest. */
  readonly number: number;
  readonly direction: Direction;
  readonly sampler: Sampler;
}

/**
 * Parameters for the next trial: a pure function of its arguments, independent of the order of `past`.
 *
 * `tpe` is the tree-structured Parzen estimator with a joint model (Bergstra et al., NeurIPS 2011; Falkner et al., ICML
 * 2018; Watanabe, arXiv:2304.11127), with mixtures l of the best trials and g of the others. The draw with the largest
 * l / g of 24 draws from l is used. Running trials are in g (constant liar), so that workers do not try the same point.
 * Failed trials are in neither. `random` draws every dimension uniformly.
 *
 * @param past the visible history (see `visibleHistory`)
 * @throws RangeError when a trial has parameters outside the space
 */
export function suggest(space: SearchSpace, past: readonly PastTrial[], options: SuggestOptions): Point {
  const axes = space.map(axisOf);
  const random = createRandom(mix32(options.seed ^ mix32(options.number)));
  const finished = past.filter(isFinished);
  const isModeled = options.sampler === 'tpe' && finished.length >= STARTUP_TRIALS;
  const row = isModeled
    ? drawByModel(axes, past, finished, options.direction, random)
    : axes.map((axis) => uniform(axis, random));
  return Object.fromEntries(
    axes.map((axis, d) => [axis.name, axis.kind === 'choice' ? axis.choices[row[d]!]! : row[d]!]),
  );
}

function isFinished({ state }: PastTrial): boolean {
  return state === 'complete' || state === 'pruned';
}

function drawByModel(
  axes: readonly Axis[],
  past: readonly PastTrial[],
  finished: readonly PastTrial[],
  direction: Direction,
  random: Random,
): number[] {
  const goodSize = Math.min(Math.ceil(0.1 * finished.length), MAX_GOOD);
  const good = new Set([...finished].sort(byRank(direction)).slice(0, goodSize));
  const modeled = past.filter(({ state }) => state !== 'failed').sort((a, b) => a.number - b.number);
  const rowOf = ({ params }: PastTrial) => axes.map((axis) => indexOrValue(axis, params[axis.name]));
  const better = new Mixture(axes, modeled.filter((trial) => good.has(trial)).map(rowOf));
  const worse = new Mixture(axes, modeled.filter((trial) => !good.has(trial)).map(rowOf));
  const candidates = Array.from({ length: CANDIDATES }, () => better.sample(random));
  const gains = candidates.map((point) => better.logDensity(point) - worse.logDensity(point));
  return candidates[gains.indexOf(Math.max(...gains))]!;
}

/** Order: complete trials by value; then pruned trials by number of windows, then by their last window. Ties by number. */
function byRank(direction: Direction): (a: PastTrial, b: PastTrial) => number {
  const sign = direction === 'maximize' ? -1 : 1;
  const reached = ({ state, windows }: PastTrial) =>
    state === 'complete' ? Number.MAX_VALUE : (windows?.length ?? 0);
  const cost = ({ state, value, windows }: PastTrial) => {
    const result = state === 'complete' ? value : (windows?.at(-1) ?? null);
    return result === null ? Number.MAX_VALUE : sign * result;
  };
  return (a, b) => reached(b) - reached(a) || cost(a) - cost(b) || a.number - b.number;
}

/** Number of newest trials with weight 1; older trials have less. */
const FULL_WEIGHTS = 25;

/**
 * A Parzen mixture over the whole space. Kernel k is the product of one distribution per dimension, around trial k. The
 * last kernel is the prior over the whole range.
 */
export class Mixture {
  readonly #dimensions: readonly Kernels[];
  readonly #cumulative: Float64Array;
  readonly #logWeights: Float64Array;
  readonly #sums: Float64Array;

  /** @param rows trials in order of their numbers, each with one value per axis (for a choice: its index) */
  constructor(axes: readonly Axis[], rows: readonly (readonly number[])[]) {
    this.#dimensions = axes.map((axis, d) =>
      kernelsOf(
        axis,
        rows.map((row) => row[d]!),
      ),
    );
    const weights = [...trialWeights(rows.length), 1];
    const total = weights.reduce((a, b) => a + b, 0);
    this.#cumulative = new Float64Array(weights.length);
    let running = 0;
    weights.forEach((weight, k) => {
      running += weight / total;
      this.#cumulative[k] = running;
    });
    this.#logWeights = Float64Array.from(weights, (weight) => Math.log(weight / total));
    this.#sums = new Float64Array(weights.length);
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
    const sums = this.#sums;
    sums.set(this.#logWeights);
    this.#dimensions.forEach((kernels, d) => {
      kernels.addLogDensity(point[d]!, sums);
    });
    let largest = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < sums.length; k++) if (sums[k]! > largest) largest = sums[k]!;
    let total = 0;
    for (let k = 0; k < sums.length; k++) total += Math.exp(sums[k]! - largest);
    return largest + Math.log(total);
  }
}

/** Weights: 1 for the newest 25 trials, a linear ramp from 1/n to 1 for older ones. */
export function trialWeights(n: number): number[] {
  const older = n - FULL_WEIGHTS;
  return Array.from({ length: n }, (_, k) => {
    if (k >= older) return 1;
    return older === 1 ? 1 / n : 1 / n + ((1 - 1 / n) * k) / (older - 1);
  });
}

/** One dimension of a Parzen mixture: one distribution per observation; the last one is the prior. */
interface Kernels {
  /** Draws a value (for a choice: its index) from kernel `k`. */
  sample(k: number, random: Random): number;
  /** Adds ln of the density of `value` (for steps: of its probability) under each kernel to `sums`. */
  addLogDensity(value: number, sums: Float64Array): void;
}

/** Kernels around the observed values (choices: their indices) of one dimension, and the prior. */
function kernelsOf(axis: Axis, observed: readonly number[]): Kernels {
  if (axis.kind === 'choice') return choiceKernels(axis, observed);
  const normals = normalsAround(axis, observed);
  const sample = (k: number, random: Random) =>
    snap(axis, truncatedNormal(normals.means[k]!, normals.sigmas[k]!, axis.low, axis.high, random()));
  return { sample, addLogDensity: axis.step === 0 ? density(axis, normals) : cellMass(axis, normals) };
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

function density(axis: NumericAxis, { means, sigmas, logMasses }: Normals): Kernels['addLogDensity'] {
  const scales = sigmas.map((sigma) => 1 / sigma);
  const offsets = sigmas.map((sigma, k) => -LN_SQRT_2PI - Math.log(sigma) - logMasses[k]!);
  return (value, sums) => {
    const x = coordinate(axis, value);
    for (let k = 0; k < sums.length; k++) {
      const z = (x - means[k]!) * scales[k]!;
      sums[k]! += offsets[k]! - 0.5 * z * z;
    }
  };
}

/** Computes each pair of a value and a kernel once, because many candidates and kernels are equal. */
function cellMass(axis: NumericAxis, normals: Normals): Kernels['addLogDensity'] {
  const { means, sigmas, logMasses, equals } = normals;
  const known = new Map<number, Float64Array>();
  const massesOf = (value: number) => {
    const left = coordinate(axis, value - axis.step / 2);
    const right = coordinate(axis, value + axis.step / 2);
    const masses = new Float64Array(means.length);
    for (let k = 0; k < masses.length; k++) {
      const inRange = logMasses[k]!;
      if (equals[k] === k)
        masses[k] = logCellMass((left - means[k]!) / sigmas[k]!, (right - means[k]!) / sigmas[k]!) - inRange;
    }
    for (let k = 0; k < masses.length; k++) masses[k] = masses[equals[k]!]!;
    known.set(value, masses);
    return masses;
  };
  return (value, sums) => {
    const masses = known.get(value) ?? massesOf(value);
    for (let k = 0; k < sums.length; k++) sums[k]! += masses[k]!;
  };
}

/** ln of the probability of a cell. For a very narrow cell it uses density times width: a difference would round to 0. */
function logCellMass(left: number, right: number): number {
  const width = right - left;
  if (width > 1e-6) return logNormalMass(left, right);
  const middle = (left + right) / 2;
  return -0.5 * middle * middle - LN_SQRT_2PI + Math.log(Math.max(width, Number.MIN_VALUE));
}

/** Each kernel has 1 / kernels on every choice and 1 more on the observed choice, normalized. The prior is uniform. */
function choiceKernels(axis: ChoiceAxis, observed: readonly number[]): Kernels {
  const choices = axis.choices.length;
  const base = 1 / (observed.length + 1);
  const total = choices * base + 1;
  const logBase = Math.log(base / total);
  const logObserved = Math.log((base + 1) / total);
  return {
    sample(k, random) {
      const u = random();
      if (k >= observed.length) return Math.floor(u * choices);
      // The observed choice has the extra 1 first; the rest is uniform over all choices.
      const rest = u * total - 1;
      return rest < 0 ? observed[k]! : Math.min(choices - 1, Math.floor(rest / base));
    },
    addLogDensity(value, sums) {
      for (let k = 0; k < observed.length; k++) sums[k]! += observed[k] === value ? logObserved : logBase;
      sums[observed.length]! -= Math.log(choices);
    },
  };
}

/** Truncated normals of a numeric dimension, in model coordinates: one per observation; the last one is the prior. */
interface Normals {
  readonly means: Float64Array;
  readonly sigmas: Float64Array;
  /** ln of the probability of the range under each normal. */
  readonly logMasses: Float64Array;
  /** Index of the first equal kernel, for each kernel. With steps many observations are equal. */
  readonly equals: Int32Array;
}

/** Normals around the observed values. The prior has its mean in the middle of the range and the range as its sigma. */
function normalsAround(axis: NumericAxis, observed: readonly number[]): Normals {
  const { low, high } = axis;
  const n = observed.length;
  const means = new Float64Array(n + 1);
  for (let k = 0; k < n; k++) means[k] = coordinate(axis, observed[k]!);
  const order = ascending(means.subarray(0, n));
  means[n] = (low + high) / 2;
  const sigmas = widths(means, order, low, high);
  const equals = new Int32Array(n + 1);
  const logMasses = new Float64Array(n + 1);
  for (let rank = 0; rank <= n; rank++) {
    const k = rank < n ? order[rank]! : n;
    const before = rank > 0 && rank < n ? order[rank - 1]! : k;
    const isNew = before === k || means[k] !== means[before] || sigmas[k] !== sigmas[before];
    equals[k] = isNew ? k : equals[before]!;
    logMasses[k] = isNew ? logMassWithin(means[k]!, sigmas[k]!, low, high) : logMasses[before]!;
  }
  return { means, sigmas, logMasses, equals };
}

/** Number of sigmas beyond which a normal has less probability than the rounding error of 1. */
const ALL_WITHIN = 8.5;

function logMassWithin(mean: number, sigma: number, low: number, high: number): number {
  const a = (low - mean) / sigma;
  const b = (high - mean) / sigma;
  return a < -ALL_WITHIN && b > ALL_WITHIN ? 0 : logNormalMass(a, b);
}

/** Indices in ascending order of the values, ties by index. Sorting plain numbers is many times faster than a comparator. */
function ascending(values: Float64Array): Int32Array {
  const sorted = values.slice().sort();
  const taken = new Int32Array(values.length);
  const order = new Int32Array(values.length);
  for (let k = 0; k < values.length; k++) {
    let from = 0;
    let to = values.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (sorted[middle]! < values[k]!) from = middle + 1;
      else to = middle;
    }
    order[from + taken[from]!] = k;
    taken[from]! += 1;
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
