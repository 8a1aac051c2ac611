import type { Random } from '../random.ts';
import { LN_SQRT_2PI, logNormalCdf, logNormalMass, normalQuantileOfLog } from '../stats/normal.ts';
import { type Axis, type ChoiceAxis, coordinate, type NumericAxis, snap } from './axis.ts';
import { type Normals, normalsAround } from './normals.ts';

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
