/** A mean of observations that come in groups which share a shock: trades of one day, of one client. */
export interface ClusteredMean {
  readonly mean: number;
  /** Of the mean; undefined with fewer than 2 groups. */
  readonly variance: number | undefined;
}

/**
 * The mean of grouped observations and its cluster-robust variance, G / (G - 1) sum_g (sum_i (x_i - mean))^2 / n^2 with G
 * groups (Liang and Zeger 1986). Equals about the usual variance of a mean when every group holds one observation.
 */
export function clusteredMean(groups: readonly (readonly number[])[]): ClusteredMean {
  const n = groups.reduce((count, group) => count + group.length, 0);
  const total = groups.reduce((sum, group) => group.reduce((a, b) => a + b, sum), 0);
  const mean = n > 0 ? total / n : 0;
  const count = groups.filter((group) => group.length > 0).length;
  if (count < 2) return { mean, variance: undefined };
  const squares = groups.reduce((sum, group) => sum + group.reduce((a, x) => a + (x - mean), 0) ** 2, 0);
  return { mean, variance: ((count / (count - 1)) * squares) / (n * n) };
}
