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
import type { Direction, PastTrial } from './trials.ts';

/** Trials that end before the model is used: independent draws until then. */
const STARTUP_TRIALS = 10;
/** Draws from the good mixture of which the best is taken. */
const CANDIDATES = 24;
/** The good set is the best tenth of the finished trials, rounded up, and no more than this. */
const MAX_GOOD = 25;

export interface SuggestOptions {
  /** The study's: with `number` it gives the generator, whatever was drawn before. */
  readonly seed: number;
  /** The trial to suggest. */
  readonly number: number;
  readonly direction: Direction;
  readonly sampler: 'tpe' | 'random';
}

/**
 * Parameters for the next trial: a pure function of its arguments, independent of the order of `past`.
 *
 * `tpe` is the tree-structured Parzen estimator with a joint model (Bergstra et al., NeurIPS 2011; Falkner et al., ICML
 * 2018; Watanabe, arXiv:2304.11127): mixtures l of the best trials and g of the others, 24 draws from l, of which the one
 * with the largest l / g is taken. Running trials are in g (constant liar), so that workers do not try the same; failed
 * ones are in neither. `random` draws every dimension uniformly.
 *
 * @param past the visible history (see `visibleHistory`)
 * @throws RangeError when a trial's parameters are not of the space
 */
export function suggest(space: SearchSpace, past: readonly PastTrial[], options: SuggestOptions): Point {
  const axes = space.map(axisOf);
  const random = createRandom(mix32(options.seed ^ mix32(options.number)));
  const finished = past.filter(isFinished);
  const isModelled = options.sampler === 'tpe' && finished.length >= STARTUP_TRIALS;
  const row = isModelled
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
  const modelled = past.filter(({ state }) => state !== 'failed').sort((a, b) => a.number - b.number);
  const rowOf = ({ params }: PastTrial) => axes.map((axis) => indexOrValue(axis, params[axis.name]));
  const better = new Mixture(axes, modelled.filter((trial) => good.has(trial)).map(rowOf));
  const worse = new Mixture(axes, modelled.filter((trial) => !good.has(trial)).map(rowOf));
  const candidates = Array.from({ length: CANDIDATES }, () => better.sample(random));
  const gains = candidates.map((point) => better.logDensity(point) - worse.logDensity(point));
  return candidates[gains.indexOf(Math.max(...gains))]!;
}

/** Complete trials by value; then pruned ones by how many windows they reached, then by the last of them; equals by number. */
function byRank(direction: Direction): (a: PastTrial, b: PastTrial) => number {
  const sign = direction === 'maximize' ? -1 : 1;
  const reached = ({ state, windows }: PastTrial) =>
    state === 'complete' ? Number.MAX_VALUE : (windows?.length ?? 0);
  const cost = ({ state, value, windows }: PastTrial) => {
    const judged = state === 'complete' ? value : (windows?.at(-1) ?? null);
    return judged === null ? Number.MAX_VALUE : sign * judged;
  };
  return (a, b) => reached(b) - reached(a) || cost(a) - cost(b) || a.number - b.number;
}

/** As many of the newest trials count in full; older ones fade. */
const FULL_WEIGHTS = 25;

/**
 * A Parzen mixture over the whole space: kernel k is the product of one distribution for each dimension, around trial k;
 * the last kernel is the prior, the whole range.
 */
export class Mixture {
  readonly #dimensions: readonly Kernels[];
  readonly #cumulative: Float64Array;
  readonly #logWeights: Float64Array;
  readonly #sums: Float64Array;

  /** @param rows the trials in order of their numbers, each a value (of a choice: its index) for each axis */
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

  /** A draw: one kernel by weight, every dimension from it. */
  sample(random: Random): number[] {
    const u = random();
    const picked = this.#cumulative.findIndex((share) => u < share);
    const k = picked < 0 ? this.#cumulative.length - 1 : picked;
    return this.#dimensions.map((kernels) => kernels.sample(k, random));
  }

  /** ln of the density of a point (in steps and choices: of its probability). */
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

/** 1 for the newest 25 trials, before them a linear ramp from 1/n up to 1. */
export function trialWeights(n: number): number[] {
  const older = n - FULL_WEIGHTS;
  return Array.from({ length: n }, (_, k) => {
    if (k >= older) return 1;
    return older === 1 ? 1 / n : 1 / n + ((1 - 1 / n) * k) / (older - 1);
  });
}

/** One dimension of a Parzen mixture: a distribution for each observation and, last, one for the prior. */
interface Kernels {
  /** A value (of a choice: its index) from kernel `k`. */
  sample(k: number, random: Random): number;
  /** Adds ln of the density of `value` (its probability, where there are steps) under each kernel to `sums`. */
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
 * The quantile `u` of the normal with these parameters truncated to [low, high], from the logarithm of the distribution
 * function and from the side where that is small, so that it is exact however far the range lies from the mean.
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

/** Candidates and kernels are often equal: each pair is computed once. */
function cellMass(axis: NumericAxis, normals: Normals): Kernels['addLogDensity'] {
  const { means, sigmas, logMasses, equals } = normals;
  const known = new Map<number, Float64Array>();
  const massesOf = (value: number) => {
    const left = coordinate(axis, value - axis.step / 2);
    const right = coordinate(axis, value + axis.step / 2);
    const masses = new Float64Array(means.length);
    for (let k = 0; k < masses.length; k++) {
      if (equals[k] !== k) continue;
      const inRange = logMasses[k]!;
      masses[k] = logCellMass((left - means[k]!) / sigmas[k]!, (right - means[k]!) / sigmas[k]!) - inRange;
    }
    known.set(value, masses);
    return masses;
  };
  return (value, sums) => {
    const masses = known.get(value) ?? massesOf(value);
    for (let k = 0; k < sums.length; k++) sums[k]! += masses[equals[k]!]!;
  };
}

/** ln of the probability of a cell. In a very narrow one it is density times width: a difference would round to zero. */
function logCellMass(left: number, right: number): number {
  const width = right - left;
  if (width > 1e-6) return logNormalMass(left, right);
  const middle = (left + right) / 2;
  return -0.5 * middle * middle - LN_SQRT_2PI + Math.log(Math.max(width, Number.MIN_VALUE));
}

/** Each kernel has 1 / kernels on every choice and 1 more on the observed one, normalised; the prior is uniform. */
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
      // The observed choice takes its extra 1 first, the rest is uniform over all.
      const rest = u * total - 1;
      return rest < 0 ? observed[k]! : Math.min(choices - 1, Math.floor(rest / base));
    },
    addLogDensity(value, sums) {
      for (let k = 0; k < observed.length; k++) sums[k]! += observed[k] === value ? logObserved : logBase;
      sums[observed.length]! -= Math.log(choices);
    },
  };
}

/** The truncated normals of a numeric dimension, in model coordinates: one for each observation and, last, the prior. */
interface Normals {
  readonly means: Float64Array;
  readonly sigmas: Float64Array;
  /** ln of the share of each normal that lies within the range. */
  readonly logMasses: Float64Array;
  /** For each kernel an equal one, often the same for many: steps make observations equal. */
  readonly equals: Int32Array;
}

/** Normals around the observed values. The prior has its mean in the middle and the whole range as its sigma. */
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

/** Beyond so many sigmas lies less of a normal than the rounding of 1. */
const ALL_WITHIN = 8.5;

function logMassWithin(mean: number, sigma: number, low: number, high: number): number {
  const a = (low - mean) / sigma;
  const b = (high - mean) / sigma;
  return a < -ALL_WITHIN && b > ALL_WITHIN ? 0 : logNormalMass(a, b);
}

/** Indices in order of the values, equal ones in order of the index. Sorting numbers alone is many times faster. */
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
 * The larger distance to a neighbor. The ends of the range are neighbors too, but not of the two outermost of several
 * observations. At least range / min(100, 1 + kernels), at most the range, which is also the prior's.
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
