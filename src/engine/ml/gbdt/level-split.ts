import { PACKED_UNIT } from './gradients.ts';
import type { TreeColumns } from './histogram.ts';
import { leafScore, type SplitRules } from './split.ts';

/** The split that all nodes of a level share. */
export interface LevelSplit {
  /** Index into the tree's columns. */
  readonly column: number;
  readonly bin: number;
  readonly missingLeft: boolean;
}

/** A node that may be split. */
interface LevelNode {
  /** Packed gradients. */
  readonly total: number;
  readonly histogram: Float64Array;
}

/** Room for the sums of one level: by place of a histogram, missing values to the right and to the left. */
export interface LevelScores {
  readonly missingRight: Float64Array;
  readonly missingLeft: Float64Array;
}

/**
 * The split with the largest sum over the nodes of gain less smallest gain; undefined when none is above 0. A node of which a child
 * would be too small adds nothing. Of equal ones the first counts: lower column, missing values to the right, lower bin.
 */
export function bestLevelSplit(
  columns: TreeColumns,
  nodes: readonly LevelNode[],
  rules: SplitRules,
  scores: LevelScores,
): LevelSplit | undefined {
  scores.missingRight.fill(0);
  scores.missingLeft.fill(0);
  for (const node of nodes) addNode(columns, node, rules, scores);
  let best: LevelSplit | undefined;
  let bestSum = 0;
  const look = (sums: Float64Array, column: number, missingLeft: boolean) => {
    const from = columns.offsets[column]!;
    for (let bin = 0; bin < columns.binCounts[column]!; bin++) {
      if (!(sums[from + bin]! > bestSum)) continue;
      bestSum = sums[from + bin]!;
      best = { column, bin, missingLeft };
    }
  };
  for (let column = 0; column < columns.features.length; column++) {
    look(scores.missingRight, column, false);
    if (columns.hasMissing[column]) look(scores.missingLeft, column, true);
  }
  return best;
}

function addNode(columns: TreeColumns, node: LevelNode, rules: SplitRules, scores: LevelScores): void {
  const { offsets, binCounts, features, hasMissing } = columns;
  const { histogram, total } = node;
  const least = leafScore(total, rules.l2) + rules.minGain;
  for (let column = 0; column < features.length; column++) {
    const from = offsets[column]!;
    const to = from + binCounts[column]!;
    addGains(histogram, from, to, 0, total, least, rules, scores.missingRight);
    if (hasMissing[column]) {
      addGains(histogram, from, to, histogram[to]!, total, least, rules, scores.missingLeft);
    }
  }
}

/** Adds the children's scores less `least` at each bin of one column that leaves both children large enough. */
function addGains(
  histogram: Float64Array,
  from: number,
  to: number,
  start: number,
  total: number,
  least: number,
  { l2, minChild }: SplitRules,
  into: Float64Array,
): void {
  const totalGradient = Math.floor(total / PACKED_UNIT);
  const totalHessian = total - totalGradient * PACKED_UNIT;
  let left = start;
  let gain = 0;
  for (let k = from; k < to; k++) {
    const added = histogram[k]!;
    // An empty bin is the same split as the one before it.
    if (added !== 0 || k === from) {
      left += added;
      const g = Math.floor(left / PACKED_UNIT);
      const h = left - g * PACKED_UNIT;
      const otherH = totalHessian - h;
      if (otherH < minChild) break;
      if (h < minChild) continue;
      const otherG = totalGradient - g;
      const weight = h + l2;
      const otherWeight = otherH + l2;
      gain = (g * g * otherWeight + otherG * otherG * weight) / (weight * otherWeight) - least;
    }
    into[k] = into[k]! + gain;
  }
}
