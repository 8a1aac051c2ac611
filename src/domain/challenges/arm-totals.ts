import type { ArmTotals, StoredAssignment, StoredChallenge } from '#contract/stored-challenge.ts';
import { type Cluster, NO_CLUSTERS, withCluster } from '#engine/stats/clusters.ts';
import { type Precise, plus, times, ZERO } from '#engine/stats/precise-sum.ts';

/** What the trades of one key came to. */
type KeyTotals = Pick<StoredAssignment, 'closed' | 'sum'>;

/** Of a trade without a key, before it is closed. */
export const NO_KEY: KeyTotals = { closed: 0, sum: ZERO };

/** A key with one more closed trade. */
export function keyWith<T extends KeyTotals>(key: T, profit: number): T {
  return { ...key, closed: key.closed + 1, sum: plus(key.sum, [profit, 0]) };
}

/** An arm with one more closed trade, of a key as it was before it. */
export function withClosed(
  totals: ArmTotals,
  profit: number,
  key: KeyTotals,
  unit: StoredChallenge['analysis_unit'],
): ArmTotals {
  const value: Precise = [profit, 0];
  return {
    ...totals,
    closed: totals.closed + 1,
    sum: plus(totals.sum, value),
    sum_of_squares: plus(totals.sum_of_squares, times(value, value)),
    clusters: unit === 'trade' ? null : clustersWith(totals, key, keyWith(key, profit)),
  };
}

function clustersWith({ clusters }: ArmTotals, before: KeyTotals, now: KeyTotals) {
  return withCluster(clusters ?? NO_CLUSTERS, clusterOf(before), clusterOf(now));
}

function clusterOf({ closed, sum }: KeyTotals): Cluster {
  return { size: closed, sum };
}
