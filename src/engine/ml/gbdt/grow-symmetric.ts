import { packedHessian } from './gradients.ts';
import type { GrownTree } from './grow.ts';
import type { Growth } from './growth.ts';
import { bestLevelSplit, type LevelSplit } from './level-split.ts';
import { leafScore } from './split.ts';
import { type NodeRows, rootRows, splitNode } from './split-node.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** Rows that are still together, and the nodes of the level that hold them. */
interface Part extends NodeRows {
  readonly nodes: readonly number[];
}

/**
 * Grows a symmetric (oblivious) tree: all nodes of a level have the same split, see {@link bestLevelSplit}. A node of
 * which a child would be below the smallest hessian takes no part: its rows stay together and both its sides get their value.
 * (Prokhorenkova et al., NeurIPS 2018, arXiv:1706.09516, without ordered boosting.)
 */
export function growSymmetricTree(growth: Growth): GrownTree {
  const { settings, pool, columns, rules } = growth;
  const tree = createTree();
  const scores = {
    missingRight: new Float64Array(columns.size),
    missingLeft: new Float64Array(columns.size),
  };
  let parts: Part[] = [{ nodes: [0], ...rootRows(growth) }];
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
  const { columns, rules, gains } = growth;
  const { total, histogram } = part;
  const feature = columns.features[split.column]!;
  const lefts = part.nodes.map((node) => splitLeaf(tree, node, feature, split));
  const rights = lefts.map((node) => node + 1);
  const left = histogram ? sumLeft(growth, histogram, split) : 0;
  const isLargeEnough = (packed: number) => packedHessian(packed) >= rules.minChild;
  if (!histogram || !isLargeEnough(left) || !isLargeEnough(total - left)) {
    return [{ ...part, nodes: [...lefts, ...rights] }];
  }
  const gain = leafScore(left, rules.l2) + leafScore(total - left, rules.l2) - leafScore(total, rules.l2);
  gains[feature]! += gain / rules.scoreUnits;
  const [ofLeft, ofRight] = splitNode(growth, { ...part, histogram }, { ...split, left }, isLast);
  return [
    { ...ofLeft, nodes: lefts },
    { ...ofRight, nodes: rights },
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
