import type { Direction, Pruner } from '#contract/hyperopt/hyperopt.ts';
import { normalCdf } from '../stats/distributions.ts';
import { mean, median } from '../stats/moments.ts';
import { bestTrial, isBetter, type PastTrial } from './trials.ts';

/** Minimum number of common windows before a trial can be pruned. */
const WILCOXON_STARTUP_WINDOWS = 2;
const WILCOXON_P = 0.1;
/** Minimum number of complete trials before a trial can be pruned. */
const MEDIAN_STARTUP_TRIALS = 5;

/**
 * Returns true if a running trial is to be pruned after its finished walk-forward windows.
 *
 * `wilcoxon`: prunes when its windows are significantly worse (one-sided signed-rank test, p < 0.1) than the same windows
 * of the best complete trial. Needs two common windows, and a worse mean over them.
 * `median`: prunes when its best window is worse than the median of the complete trials at this window. Needs five
 * complete trials. Both use the defaults of Optuna.
 *
 * A window without a value (null) is left out of the comparison.
 *
 * @param windows the objective of each finished window of the running trial, in order
 * @param past the visible history (see `visibleHistory`), the same at every window of the trial
 */
export function shouldPrune(
  kind: Pruner,
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  if (kind === 'wilcoxon') return isWorseThanBest(windows, past, direction);
  if (kind === 'median') return isWorseThanMedian(windows, past, direction);
  return false;
}

function isWorseThanBest(
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  const best = bestTrial(past, direction)?.windows;
  if (!best) return false;
  const pairs = windows.flatMap((own, i) => {
    const other = best[i];
    return isNumber(own) && isNumber(other) ? [{ own, other }] : [];
  });
  if (pairs.length < WILCOXON_STARTUP_WINDOWS) return false;
  const meanOwn = mean(pairs.map(({ own }) => own));
  const meanBest = mean(pairs.map(({ other }) => other));
  if (!isBetter(meanBest, meanOwn, direction)) return false;
  const losses = pairs.map(({ own, other }) => (direction === 'maximize' ? other - own : own - other));
  return wilcoxonGreaterP(losses) < WILCOXON_P;
}

function isWorseThanMedian(
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  const complete = past.filter(({ state }) => state === 'complete');
  if (complete.length < MEDIAN_STARTUP_TRIALS) return false;
  const others = complete.map((trial) => trial.windows?.[windows.length - 1]).filter(isNumber);
  const own = windows.filter(isNumber);
  if (own.length === 0 || others.length === 0) return false;
  const best = own.reduce((a, b) => (isBetter(b, a, direction) ? b : a));
  return isBetter(median(others), best, direction);
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Up to this many differences the distribution is enumerated; above, the normal approximation is used. */
const MAX_EXACT = 50;

/**
 * One-sided Wilcoxon signed-rank test: probability of a rank sum of positive differences at least as large as observed, if
 * the differences are symmetric around 0. A small value is evidence for differences above 0.
 *
 * Equal sizes share their mean rank. Zeros are ranked, and half of their ranks counts as positive (`zsplit`). Up to 50
 * differences the p-value is exact, given the ranks: every assignment of signs is counted. Above, it is the normal
 * approximation with a tie-corrected variance and without continuity correction (as scipy.stats.wilcoxon).
 *
 * @returns `NaN` without differences or with a `NaN` difference
 */
export function wilcoxonGreaterP(differences: readonly number[]): number {
  const n = differences.length;
  if (n === 0 || differences.some(Number.isNaN)) return Number.NaN;
  const ranks = doubledRanks(differences.map(Math.abs));
  const positive = sumWhere(ranks, (i) => differences[i]! > 0);
  const zero = sumWhere(ranks, (i) => differences[i] === 0);
  if (n <= MAX_EXACT)
    return exactTail(
      ranks.filter((_, i) => differences[i] !== 0),
      positive,
    );
  const total = n * (n + 1);
  const spread = Math.sqrt((total * (2 * n + 1) - tieCorrection(ranks)) / 24);
  return normalCdf((total / 4 - (positive + zero / 2) / 2) / spread);
}

/** Twice the rank of each size, so that the mean ranks of ties are integers. */
function doubledRanks(sizes: readonly number[]): number[] {
  const order = sizes.map((_, i) => i).sort((a, b) => sizes[a]! - sizes[b]!);
  const ranks = new Array<number>(sizes.length);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && sizes[order[to]!] === sizes[order[from]!]) to++;
    for (let i = from; i < to; i++) ranks[order[i]!] = from + 1 + to;
  }
  return ranks;
}

function sumWhere(ranks: readonly number[], isCounted: (index: number) => boolean): number {
  return ranks.reduce((total, rank, i) => (isCounted(i) ? total + rank : total), 0);
}

/** Share of all sign assignments whose positive ranks add up to at least `reached`. */
function exactTail(ranks: readonly number[], reached: number): number {
  const total = ranks.reduce((a, b) => a + b, 0);
  const probability = new Float64Array(total + 1);
  probability[0] = 1;
  let sum = 0;
  for (const rank of ranks) {
    sum += rank;
    for (let s = sum; s >= 0; s--)
      probability[s] = (probability[s]! + (s >= rank ? probability[s - rank]! : 0)) / 2;
  }
  let tail = 0;
  for (let s = total; s >= reached; s--) tail += probability[s]!;
  return tail;
}

/** Half the sum of t^3 - t over groups of t equal ranks. */
function tieCorrection(ranks: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const rank of ranks) sizes.set(rank, (sizes.get(rank) ?? 0) + 1);
  return [...sizes.values()].reduce((total, t) => total + (t ** 3 - t) / 2, 0);
}
