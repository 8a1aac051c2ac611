import { packedHessian } from './gradients.ts';
import { childHistograms, type GrownTree, type Growth, rootHistogram, sumPacked } from './grow.ts';
import { bestLevelSplit, type LevelSplit } from './level-split.ts';
import { partitionRows } from './partition.ts';
import { leafScore } from './split.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** Rows that are still together, and the nodes of the level that hold them. */
interface Part {
  readonly nodes: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Packed gradients. */
  readonly total: number;
  /** Absent where the part is too small to be split. */
  readonly histogram: Float64Array | undefined;
}

/**
 * Grows a symmetric (oblivious) tree: all nodes of a level have the same split, see {@link bestLevelSplit}. A node of
 * which a child would be below the smallest hessian takes no part: its rows stay together and both its sides get their value.
 * (Prokhorenkova et al., NeurIPS 2018, arXiv:1706.09516, without ordered boosting.)
 */
export function growSymmetricTree(growth: Growth): GrownTree {
  const { settings, count, pool, columns, rules } = growth;
  const tree = createTree();
  const scores = {
    missingRight: new Float64Array(columns.size),
    missingLeft: new Float64Array(columns.size),
  };
  let parts: Part[] = [
    { nodes: [0], from: 0, to: count, total: sumPacked(growth), histogram: rootHistogram(growth) },
  ];
  for (let depth = 0; depth < settings.max_depth; depth++) {
    const nodes = parts.flatMap(({ total, histogram }) => (histogram ? [{ total, histogram }] : []));
    const split = bestLevelSplit(columns, nodes, rules, scores);
    if (!split) break;
    const isLast = depth + 1 === settings.max_depth;
    parts = parts.flatMap((part) => splitPart(growth, tree, part, split, isLast));
  }
  for (const { histogram } of parts) if (histogram) pool.give(histogram);
  return { tree, leaves: parts };
}

function splitPart(growth: Growth, tree: Tree, part: Part, split: LevelSplit, isLast: boolean): Part[] {
  const { binned, columns, order, rules, gains } = growth;
  const { from, to, total } = part;
  const feature = columns.features[split.column]!;
  const lefts = part.nodes.map((node) => splitLeaf(tree, node, feature, split));
  const rights = lefts.map((node) => node + 1);
  const leftTotal = part.histogram ? sumLeft(growth, part.histogram, split) : 0;
  const rightTotal = total - leftTotal;
  const isLargeEnough = (packed: number) => packedHessian(packed) >= rules.minChild;
  if (!part.histogram || !isLargeEnough(leftTotal) || !isLargeEnough(rightTotal)) {
    return [{ ...part, nodes: [...lefts, ...rights] }];
  }
  const gain = leafScore(leftTotal, rules.l2) + leafScore(rightTotal, rules.l2) - leafScore(total, rules.l2);
  gains[feature]! += gain / rules.scoreUnits;
  const middle = partitionRows(order, from, to, binned, feature, split.bin, split.missingLeft);
  const isSplittable = (packed: number) => !isLast && packedHessian(packed) >= 2 * rules.minChild;
  const [left, right] = childHistograms(
    growth,
    part.histogram,
    { from, to: middle, isNeeded: isSplittable(leftTotal) },
    { from: middle, to, isNeeded: isSplittable(rightTotal) },
  );
  return [
    { nodes: lefts, from, to: middle, total: leftTotal, histogram: left },
    { nodes: rights, from: middle, to, total: rightTotal, histogram: right },
  ];
}

/** Packed gradients of the rows that go left. */
function sumLeft(
  { columns }: Growth,
  histogram: Float64Array,
  { column, bin, missingLeft }: LevelSplit,
): number {
  const from = columns.offsets[column]!;
  let left = missingLeft ? histogram[from + columns.binCounts[column]!]! : 0;
  for (let k = from; k <= from + bin; k++) left += histogram[k]!;
  return left;
}
