import { createRandom, type Random, swap } from '../random.ts';
import type { Cluster } from './clusters.ts';
import { sum } from './moments.ts';
import { studentized } from './welch.ts';

const SHUFFLES = 9999;

/** Observations of two variants in one stage: single observations, or clusters that are shuffled as a whole. */
export interface StageValues<T extends number | Cluster = number> {
  readonly a: ArrayLike<T>;
  readonly b: ArrayLike<T>;
}

export interface PermutationTest {
  /** One-sided: probability that random labels make b at least as much better as observed. */
  readonly pUpper: number;
  /** One-sided: the same for at least as much worse. */
  readonly pLower: number;
  /** Two-sided: twice the smaller of both, at most 1. */
  readonly p: number;
}

/**
 * Studentized permutation test within stages: it shuffles the labels inside each stage and compares the t value of
 * `stratifiedWelch` with that of 9,999 shuffles. Skewed returns and unequal variants bias Welch's test, but not this one.
 * Clusters are shuffled as a whole, and studentized with the variance of `sampleOfClusters`.
 *
 * @param seed the same seed and observations give the same p-values
 * @returns undefined without a stage with at least 2 observations (clusters) in both variants
 */
export function permutationTest(
  stages: readonly StageValues<number | Cluster>[],
  seed: number,
): PermutationTest | undefined {
  const shuffled = stages
    .filter(({ a, b }) => a.length >= 2 && b.length >= 2)
    .map(({ a, b }) => new ShuffledStage(clustersOf(a), clustersOf(b)));
  if (shuffled.length === 0) return undefined;
  const random = createRandom(seed);
  const observed = stratifiedT(shuffled);
  // Tolerance: a shuffle that reproduces the observed variants adds up in another order.
  const rounding = 1e-10 * Math.max(1, Math.abs(observed));
  let upper = 1;
  let lower = 1;
  for (let i = 0; i < SHUFFLES; i++) {
    for (const stage of shuffled) stage.shuffle(random);
    const t = stratifiedT(shuffled);
    if (t >= observed - rounding || t === observed) upper++;
    if (t <= observed + rounding || t === observed) lower++;
  }
  const pUpper = upper / (SHUFFLES + 1);
  const pLower = lower / (SHUFFLES + 1);
  return { pUpper, pLower, p: Math.min(1, 2 * Math.min(pUpper, pLower)) };
}

interface Part {
  readonly size: number;
  readonly sum: number;
}

function clustersOf(variant: ArrayLike<number | Cluster>): Part[] {
  return Array.from(variant, (each) =>
    typeof each === 'number' ? { size: 1, sum: each } : { size: each.size, sum: each.sum[0] },
  );
}

/** Sums over the clusters of one variant: of sizes n, of cluster sums s, and of their products. */
interface VariantSums {
  readonly n: number;
  readonly s: number;
  readonly ss: number;
  readonly sn: number;
  readonly nn: number;
}

/** Clusters of a stage, each sum centered at the overall mean. The first clusters are the smaller variant. */
class ShuffledStage {
  readonly #sizes: Float64Array;
  readonly #sums: Float64Array;
  readonly #small: number;
  /** 1 when the smaller variant is b. */
  readonly #sign: number;
  readonly #all: VariantSums;
  /** Weighted difference of the means, b minus a, under the current labels, and its squared error. */
  difference = 0;
  square = 0;

  constructor(a: readonly Part[], b: readonly Part[]) {
    this.#sign = b.length <= a.length ? 1 : -1;
    const parts = this.#sign > 0 ? [...b, ...a] : [...a, ...b];
    this.#sizes = Float64Array.from(parts, ({ size }) => size);
    const center = sum(parts.map((part) => part.sum)) / sum(this.#sizes);
    this.#sums = Float64Array.from(parts, (part) => part.sum - part.size * center);
    this.#small = Math.min(a.length, b.length);
    this.#all = this.#sumsOf(parts.length);
    this.#measure();
  }

  /** Draws the smaller variant again from all clusters. */
  shuffle(random: Random): void {
    const { length } = this.#sums;
    for (let i = 0; i < this.#small; i++) {
      const j = i + Math.floor(random() * (length - i));
      swap(this.#sums, i, j);
      swap(this.#sizes, i, j);
    }
    this.#measure();
  }

  #measure(): void {
    const all = this.#all;
    const variant = this.#sumsOf(this.#small);
    const others = {
      n: all.n - variant.n,
      s: all.s - variant.s,
      ss: all.ss - variant.ss,
      sn: all.sn - variant.sn,
      nn: all.nn - variant.nn,
    };
    const weight = (variant.n * others.n) / all.n;
    this.difference = this.#sign * weight * (variant.s / variant.n - others.s / others.n);
    this.square =
      weight ** 2 *
      (this.#meanVariance(this.#small, variant) +
        this.#meanVariance(this.#sums.length - this.#small, others));
  }

  /** Sums over the first `count` clusters. */
  #sumsOf(count: number): VariantSums {
    let [n, s, ss, sn, nn] = [0, 0, 0, 0, 0];
    for (let i = 0; i < count; i++) {
      const size = this.#sizes[i]!;
      const value = this.#sums[i]!;
      n += size;
      s += value;
      ss += value * value;
      sn += value * size;
      nn += size * size;
    }
    return { n, s, ss, sn, nn };
  }

  /** Cluster-robust variance of a mean; 0 where the values differ only by rounding. */
  #meanVariance(count: number, { n, s, ss, sn, nn }: VariantSums): number {
    const mean = s / n;
    const within = ss - 2 * mean * sn + mean * mean * nn;
    return within > 1e-12 * this.#all.ss ? ((count / (count - 1)) * within) / (n * n) : 0;
  }
}

function stratifiedT(stages: readonly ShuffledStage[]): number {
  let difference = 0;
  let square = 0;
  for (const stage of stages) {
    difference += stage.difference;
    square += stage.square;
  }
  return studentized(difference, Math.sqrt(square));
}
