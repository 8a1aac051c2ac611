import type { Random } from '../random.ts';
import { LN_SQRT_2PI, logNormalCdf, logNormalMass, normalQuantileOfLog } from '../stats/normal.ts';
import { type Axis, type ChoiceAxis, coordinate, type NumericAxis, snap } from './axis.ts';

/** One dimension of a Parzen mixture: a distribution for each observation and, last, one for the prior. */
export interface Kernels {
  /** A value (of a choice: its index) from kernel `k`. */
  sample(k: number, random: Random): number;
  /** Adds ln of the density of `value` (its probability, where there are steps) under each kernel to `sums`. */
  addLogDensity(value: number, sums: Float64Array): void;
}

/** Kernels around the observed values (choices: their indices) of one dimension, and the prior. */
export function kernelsOf(axis: Axis, observed: readonly number[]): Kernels {
  if (axis.kind === 'choice') return choiceKernels(axis, observed);
  const { means, sigmas } = normalKernels(axis, observed);
  const masses = means.map((mean, k) =>
    logNormalMass((axis.low - mean) / sigmas[k]!, (axis.high - mean) / sigmas[k]!),
  );
  const sample = (k: number, random: Random) =>
    snap(axis, truncatedNormal(means[k]!, sigmas[k]!, axis.low, axis.high, random()));
  const addLogDensity =
    axis.step === 0 ? density(axis, means, sigmas, masses) : cellMass(axis, means, sigmas, masses);
  return { sample, addLogDensity };
}

/**
 * Means and widths. A width is the larger distance to a neighbour, the ends of the range being neighbours too except to
 * the two outermost of several observations, and at least range / min(100, 1 + kernels). The prior covers the range.
 */
function normalKernels(axis: NumericAxis, observed: readonly number[]) {
  const { low, high } = axis;
  const n = observed.length;
  const range = high - low;
  const means = new Float64Array(n + 1);
  const sigmas = new Float64Array(n + 1);
  for (let k = 0; k < n; k++) means[k] = coordinate(axis, observed[k]!);
  means[n] = (low + high) / 2;
  sigmas[n] = range;
  const narrowest = range / Math.min(100, n + 2);
  const order = Array.from({ length: n }, (_, k) => k).sort((a, b) => means[a]! - means[b]!);
  order.forEach((k, rank) => {
    const mean = means[k]!;
    const below = rank > 0 ? mean - means[order[rank - 1]!]! : n > 1 ? 0 : mean - low;
    const above = rank < n - 1 ? means[order[rank + 1]!]! - mean : n > 1 ? 0 : high - mean;
    sigmas[k] = Math.min(range, Math.max(narrowest, below, above));
  });
  return { means, sigmas };
}

/** The quantile `u` of the normal truncated to [low, high]; from the tail that holds less, where quantiles are exact. */
export function truncatedNormal(mean: number, sigma: number, low: number, high: number, u: number): number {
  if (low + high > 2 * mean) return -truncatedNormal(-mean, sigma, -high, -low, 1 - u);
  const lower = logNormalCdf((low - mean) / sigma);
  const upper = logNormalCdf((high - mean) / sigma);
  // ln((1 - u) exp(lower) + u exp(upper)), as a share of the larger.
  const logP = upper + Math.log(u + (1 - u) * Math.exp(lower - upper));
  return Math.min(high, Math.max(low, mean + sigma * normalQuantileOfLog(logP)));
}

function density(axis: NumericAxis, means: Float64Array, sigmas: Float64Array, masses: Float64Array) {
  const offsets = masses.map((mass, k) => -LN_SQRT_2PI - Math.log(sigmas[k]!) - mass);
  return (value: number, sums: Float64Array) => {
    const x = coordinate(axis, value);
    for (let k = 0; k < sums.length; k++) {
      const z = (x - means[k]!) / sigmas[k]!;
      sums[k]! += offsets[k]! - 0.5 * z * z;
    }
  };
}

/** Steps make many kernels and many candidates equal: each different pair is computed once. */
function cellMass(axis: NumericAxis, means: Float64Array, sigmas: Float64Array, masses: Float64Array) {
  const firstOf = new Map<string, number>();
  const first = Int32Array.from(means, (mean, k) => {
    const key = `${mean},${sigmas[k]}`;
    if (!firstOf.has(key)) firstOf.set(key, k);
    return firstOf.get(key)!;
  });
  const known = new Map<number, Float64Array>();
  const massesOf = (value: number) => {
    const left = coordinate(axis, value - axis.step / 2);
    const right = coordinate(axis, value + axis.step / 2);
    const found = new Float64Array(means.length);
    for (const k of firstOf.values()) {
      found[k] = logCellMass((left - means[k]!) / sigmas[k]!, (right - means[k]!) / sigmas[k]!) - masses[k]!;
    }
    known.set(value, found);
    return found;
  };
  return (value: number, sums: Float64Array) => {
    const found = known.get(value) ?? massesOf(value);
    for (let k = 0; k < sums.length; k++) sums[k]! += found[first[k]!]!;
  };
}

/** ln of the probability of a cell. In a very narrow one it is the density times the width, which never rounds to zero. */
function logCellMass(left: number, right: number): number {
  const width = right - left;
  if (width > 1e-6) return logNormalMass(left, right);
  const middle = (left + right) / 2;
  return -0.5 * middle * middle - LN_SQRT_2PI + Math.log(Math.max(width, Number.MIN_VALUE));
}

/** Each kernel has 1 / kernels on every choice and 1 more on the observed one, normalised; the prior is uniform. */
function choiceKernels(axis: ChoiceAxis, observed: readonly number[]): Kernels {
  const choices = axis.choices.length;
  const kernels = observed.length + 1;
  const base = 1 / kernels;
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
