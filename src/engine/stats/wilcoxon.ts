import { normalCdf } from './normal.ts';

/** Up to this many differences the distribution is enumerated, beyond it is taken as normal. */
const MAX_EXACT = 50;

/**
 * One-sided Wilcoxon signed-rank test: the probability of positive differences weighing at least as much as they do if the
 * differences were symmetric around 0. Small says that they lie above 0.
 *
 * Equal sizes share their mean rank. Zeros are ranked, and half of their ranks counts as positive (`zsplit`). Up to 50
 * differences the p-value is exact, given the ranks: every assignment of signs is counted. Beyond, it is that of the normal
 * approximation, its variance corrected for ties, without correction for continuity (as scipy.stats.wilcoxon).
 *
 * @returns `NaN` without differences or with one that is not a number
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

/** Twice the rank of each size, so that the mean ranks of ties are whole. */
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

/** The share of all assignments of signs to the ranks whose positive ranks add up to at least `reached`. */
function exactTail(ranks: readonly number[], reached: number): number {
  const most = ranks.reduce((a, b) => a + b, 0);
  const share = new Float64Array(most + 1);
  share[0] = 1;
  let sum = 0;
  for (const rank of ranks) {
    sum += rank;
    for (let s = sum; s >= 0; s--) share[s] = (share[s]! + (s >= rank ? share[s - rank]! : 0)) / 2;
  }
  let tail = 0;
  for (let s = most; s >= reached; s--) tail += share[s]!;
  return tail;
}

/** Half the sum of t^3 - t over groups of t equal ranks. */
function tieCorrection(ranks: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const rank of ranks) sizes.set(rank, (sizes.get(rank) ?? 0) + 1);
  return [...sizes.values()].reduce((total, t) => total + (t ** 3 - t) / 2, 0);
}
