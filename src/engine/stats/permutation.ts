import { mean, sum } from '../metrics/moments.ts';
import { createRandom, type Random } from '../random.ts';
import { studentised } from './stratified-welch.ts';

const SHUFFLES = 9999;

/** The observations of two arms over one stage. */
export interface StageValues {
  readonly a: ArrayLike<number>;
  readonly b: ArrayLike<number>;
}

export interface PermutationTest {
  /** One-sided: how often chance alone makes b look at least so much better. */
  readonly pUpper: number;
  /** One-sided: at least so much worse. */
  readonly pLower: number;
  /** Two-sided: twice the smaller, at most 1. */
  readonly p: number;
}

/**
 * Studentised permutation test within stages: labels are shuffled inside each stage, and the t value of `stratifiedWelch` is
 * compared with that of 9,999 shuffles. Skewed returns and unequal arms do not bias it as they do Welch's test.
 *
 * @param seed the same seed and observations give the same p-values
 * @returns undefined without a stage with at least 2 observations in both arms
 */
export function permutationTest(stages: readonly StageValues[], seed: number): PermutationTest | undefined {
  const shuffled = stages
    .filter(({ a, b }) => a.length >= 2 && b.length >= 2)
    .map((stage) => new ShuffledStage(stage));
  if (shuffled.length === 0) return undefined;
  const random = createRandom(seed);
  const observed = stratifiedT(shuffled);
  // Shuffles that give back the observed arms add up in another order.
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

/** All values of a stage less their mean; the first ones are the smaller arm. */
class ShuffledStage {
  readonly weight: number;
  readonly #values: Float64Array;
  readonly #small: number;
  /** 1 when the smaller arm is b. */
  readonly #sign: number;
  readonly #total: number;
  readonly #squares: number;
  /** Weighted difference of the means, b less a, of the arms as they are now, and its squared error. */
  difference = 0;
  square = 0;

  constructor({ a, b }: StageValues) {
    this.#sign = b.length <= a.length ? 1 : -1;
    const [small, large] = this.#sign > 0 ? [b, a] : [a, b];
    const values = Float64Array.from([...Array.from(small), ...Array.from(large)]);
    const centre = mean(values);
    this.#values = values.map((value) => value - centre);
    this.#small = small.length;
    this.#total = sum(this.#values);
    this.#squares = sum(this.#values.map((value) => value * value));
    this.weight = (a.length * b.length) / (a.length + b.length);
    this.#measure();
  }

  /** Draws the smaller arm anew from all values. */
  shuffle(random: Random): void {
    const values = this.#values;
    for (let i = 0; i < this.#small; i++) {
      const j = i + Math.floor(random() * (values.length - i));
      const value = values[i]!;
      values[i] = values[j]!;
      values[j] = value;
    }
    this.#measure();
  }

  #measure(): void {
    const n = this.#small;
    const others = this.#values.length - n;
    let total = 0;
    let squares = 0;
    for (let i = 0; i < n; i++) {
      const value = this.#values[i]!;
      total += value;
      squares += value * value;
    }
    const otherTotal = this.#total - total;
    this.difference = this.#sign * this.weight * (total / n - otherTotal / others);
    this.square =
      this.weight ** 2 *
      (this.#meanVariance(n, total, squares) +
        this.#meanVariance(others, otherTotal, this.#squares - squares));
  }

  /** Variance of a mean of n values from their sums; 0 where only rounding varies. */
  #meanVariance(n: number, total: number, squares: number): number {
    const within = squares - (total * total) / n;
    return within > 1e-12 * this.#squares ? within / (n - 1) / n : 0;
  }
}

function stratifiedT(stages: readonly ShuffledStage[]): number {
  let difference = 0;
  let square = 0;
  for (const stage of stages) {
    difference += stage.difference;
    square += stage.square;
  }
  return studentised(difference, Math.sqrt(square));
}
