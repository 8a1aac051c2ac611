import { mean, variance } from '../metrics/moments.ts';
import { minus, over, type Precise, times } from './precise-sum.ts';
import type { SampleStats } from './welch.ts';

/** A sum of squares less what the mean explains, as a share of the whole: below this it is rounding of the values. */
export const ROUNDING = 1e-24;

/** What a comparison of means needs to know of these values. The mean of nothing is 0, the variance of fewer than 2 too. */
export function sampleOf(values: ArrayLike<number>): SampleStats {
  const n = values.length;
  return { n, mean: n > 0 ? mean(values) : 0, variance: n > 1 ? variance(values, 'sample') : 0 };
}

/** The same from running sums, which can be kept while values come and go in any order. */
export function sampleOfSums(n: number, sum: Precise, sumOfSquares: Precise): SampleStats {
  if (n === 0) return { n, mean: 0, variance: 0 };
  const [squares] = minus(sumOfSquares, over(times(sum, sum), n));
  const varies = n > 1 && squares > ROUNDING * sumOfSquares[0];
  return { n, mean: over(sum, n)[0], variance: varies ? squares / (n - 1) : 0 };
}

/** Two samples as one. */
export function pooled(a: SampleStats, b: SampleStats): SampleStats {
  const n = a.n + b.n;
  if (n === 0) return a;
  const apart = b.mean - a.mean;
  const squares =
    a.variance * Math.max(0, a.n - 1) + b.variance * Math.max(0, b.n - 1) + (apart * apart * a.n * b.n) / n;
  return { n, mean: a.mean + (apart * b.n) / n, variance: n > 1 ? squares / (n - 1) : 0 };
}
