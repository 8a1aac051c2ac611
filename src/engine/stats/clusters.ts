import type { ClusterTotals } from '#contract/registry/stored-challenge.ts';
import { type DoubleDouble, minus, over, plus, times, ZERO } from './double-double.ts';
import { ROUNDING, type SampleStats } from './welch.ts';

/** Observations with a common shock: the trades of one client or of one day. */
export interface Cluster {
  readonly size: number;
  readonly sum: DoubleDouble;
}

export const NO_CLUSTERS: ClusterTotals = { count: 0, squares: ZERO, products: ZERO, sizes: 0 };

/** Totals after one cluster changed from `before` to `now`. For a new cluster `before` is empty. */
export function withCluster(totals: ClusterTotals, before: Cluster, now: Cluster): ClusterTotals {
  const moved = (sum: DoubleDouble, of: (cluster: Cluster) => DoubleDouble) =>
    minus(plus(sum, of(now)), of(before));
  return {
    count: totals.count + Math.sign(now.size) - Math.sign(before.size),
    squares: moved(totals.squares, ({ sum }) => times(sum, sum)),
    products: moved(totals.products, ({ size, sum }) => times(sum, [size, 0])),
    sizes: totals.sizes + now.size ** 2 - before.size ** 2,
  };
}

/**
 * Sample of n observations in G clusters with the mean m. The cluster-robust variance of the mean is
 * G / (G - 1) sum_g (S_g - n_g m)^2 / n^2 (Liang and Zeger 1986); `variance` is n times it. The result equals
 * `sampleOfSums` when every cluster holds one observation. The sum is computed as
 * sum S_g^2 - 2 m sum S_g n_g + m^2 sum n_g^2.
 */
export function sampleOfClusters(n: number, sum: DoubleDouble, totals: ClusterTotals): SampleStats {
  const { count, squares, products, sizes } = totals;
  if (n === 0) return { n, mean: 0, variance: 0, groups: 0 };
  const mean = over(sum, n);
  const twice = times([2, 0], times(mean, products));
  const [within] = plus(minus(squares, twice), times(times(mean, mean), [sizes, 0]));
  const varies = count > 1 && within > ROUNDING * squares[0];
  const variance = varies ? ((count / (count - 1)) * within) / n : 0;
  return { n, mean: mean[0], variance, groups: count };
}
