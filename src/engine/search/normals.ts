import { logNormalMass } from '../stats/normal.ts';
import { coordinate, type NumericAxis } from './axis.ts';

/** The truncated normals of a numeric dimension, in model coordinates: one for each observation and, last, the prior. */
export interface Normals {
  readonly means: Float64Array;
  readonly sigmas: Float64Array;
  /** ln of the share of each normal that lies within the range. */
  readonly logMasses: Float64Array;
  /** For each kernel an equal one, often the same for many: steps make observations equal. */
  readonly equals: Int32Array;
}

/** Normals around the observed values. The prior has its mean in the middle and the whole range as its sigma. */
export function normalsAround(axis: NumericAxis, observed: readonly number[]): Normals {
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
 * The larger distance to a neighbour. The ends of the range are neighbours too, but not of the two outermost of several
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
