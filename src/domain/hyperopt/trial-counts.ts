import type { Improvement, TrialCounts } from '#contract/hyperopt.ts';
import { SPARKLINE_LENGTH } from '#contract/limits.ts';

/** Number of finished trials: the sequence of the last one. */
export function endedTrials({ complete, pruned, failed }: Omit<TrialCounts, 'total'>): number {
  return complete + pruned + failed;
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
