import type { Random } from '../random.ts';
import type { Axis } from './axis.ts';
import { type Kernels, kernelsOf } from './kernels.ts';

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
