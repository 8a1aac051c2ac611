import type { Improvement, TrialCounts } from '#contract/hyperopt/hyperopt.ts';
import { SPARKLINE_LENGTH } from '#contract/values/job-limits.ts';

/** Number of finished trials: the sequence of the last one. */
export function endedTrials({ complete, pruned, failed }: Omit<TrialCounts, 'total'>): number {
  return complete + pruned + failed;
}

export interface AllCounts {
  readonly trials: TrialCounts;
  /** Searches on permuted candles that follow the trials; absent without any. */
  readonly permutations?: number | undefined;
  /** Ended ones. */
  readonly permuted_searches?: number | undefined;
}

/** Number of finished trials and of all, with those of the permuted searches: each has as many as the job. */
export function allTrials({ trials, permutations = 0, permuted_searches = 0 }: AllCounts) {
  const { total } = trials;
  return { ended: endedTrials(trials) + permuted_searches * total, total: (1 + permutations) * total };
}

/**
 * Best value so far, at even distances over the finished trials from the first improvement; null before it.
 *
 * @param ended number of finished trials
 */
export function bestSoFar(improvements: readonly Improvement[], ended: number): number[] | null {
  const [first] = improvements;
  if (!first) return null;
  return Array.from({ length: SPARKLINE_LENGTH }, (_, index) => {
    const trial = first.ended + ((ended - first.ended) * index) / (SPARKLINE_LENGTH - 1);
    return improvements.findLast((each) => each.ended <= trial)!.value;
  });
}
