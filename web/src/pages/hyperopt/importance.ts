import type { TrialRow, Value } from './trials.ts';

/** Complete trials below which nothing is said, and those of a group. */
const MIN_TRIALS = 20;
const MIN_GROUP = 5;
const MAX_GROUPS = 8;

export interface Importance {
  readonly name: string;
  /** Share of the variance of the ranks that the parameter explains on its own, 0 to 1. */
  readonly share: number;
}

/** Ranks from 0, equal values sharing their mean rank. */
function ranksOf(values: readonly number[]): Float64Array {
  const order = values.map((_, index) => index).sort((a, b) => values[a]! - values[b]!);
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end]!] === values[order[start]!]) end++;
    for (let at = start; at < end; at++) ranks[order[at]!] = (start + end - 1) / 2;
    start = end;
  }
  return ranks;
}

/** Group of each value: its category, or one of up to 8 groups of about equal size in the order of the numbers. */
function groupsOf(values: readonly (Value | undefined)[]): readonly (number | string)[] {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return values.map(String);
  const distinct = new Set(numbers);
  const count = Math.max(2, Math.min(MAX_GROUPS, Math.floor(values.length / MIN_GROUP)));
  if (distinct.size <= count) return numbers;
  // By rank: equal values are in one group.
  return [...ranksOf(numbers)].map((rank) => Math.min(count - 1, Math.floor((rank / values.length) * count)));
}

/**
 * Importance of each parameter by itself: epsilon squared of the Kruskal-Wallis test (Kelley, PNAS 21, 1935), which is the share
 * of the variance of the ranks between groups of trials, corrected for the number of groups: 0 is no more than chance explains.
 * Ranks, since a few very bad trials would decide over everything. Trials with the same parameters count once. Empty with fewer
 * than 20 complete trials.
 */
export function importanceOf(rows: readonly TrialRow[], names: readonly string[]): readonly Importance[] {
  const unique = new Map(
    rows.filter(({ value }) => value !== null).map((row) => [JSON.stringify(row.params), row]),
  );
  const complete = [...unique.values()];
  if (complete.length < MIN_TRIALS) return [];
  const ranks = ranksOf(complete.map(({ value }) => value!));
  return names
    .map((name) => ({ name, share: explained(ranks, groupsOf(complete.map(({ at }) => at[name]))) }))
    .sort((a, b) => b.share - a.share);
}

function explained(ranks: Float64Array, groups: readonly (number | string)[]): number {
  const mean = ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length;
  const sums = new Map<number | string, { count: number; sum: number }>();
  let total = 0;
  ranks.forEach((rank, index) => {
    total += (rank - mean) ** 2;
    const group = sums.get(groups[index]!) ?? { count: 0, sum: 0 };
    sums.set(groups[index]!, { count: group.count + 1, sum: group.sum + rank });
  });
  const between = [...sums.values()].reduce(
    (all, { count, sum }) => all + count * (sum / count - mean) ** 2,
    0,
  );
  const free = ranks.length - sums.size;
  if (total === 0 || free <= 0 || sums.size < 2) return 0;
  return Math.max(0, 1 - ((1 - between / total) * (ranks.length - 1)) / free);
}
