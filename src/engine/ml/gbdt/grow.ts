import type { Growth } from './growth.ts';
import { bestSplit, type Split } from './split.ts';
import { type NodeRows, rootRows, splitNode } from './split-node.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** Rows that end in one leaf, or in several of the same value: positions of the order. */
interface LeafRows {
  readonly nodes: readonly number[];
  readonly from: number;
  readonly to: number;
}

export interface GrownTree {
  readonly tree: Tree;
  readonly leaves: readonly LeafRows[];
}

/** A leaf that may yet be split. */
interface OpenLeaf extends NodeRows {
  readonly node: number;
  readonly depth: number;
  readonly histogram: Float64Array;
  readonly split: Split;
}

/**
 * Grows a tree leaf by leaf: `depthwise_gbdt` splits every leaf that may be split down to `max_depth`, `leafwise_gbdt` always
 * the one with the largest gain (of equal ones the oldest) until there are `max_leaves`.
 */
export function growTree(growth: Growth): GrownTree {
  const { settings, pool, columns } = growth;
  const tree = createTree();
  const leaves: LeafRows[] = [];
  const isLeafwise = settings.kind === 'leafwise_gbdt';
  const mostLeaves = isLeafwise ? settings.max_leaves : Number.POSITIVE_INFINITY;

  const open: OpenLeaf[] = [];
  const add = (leaf: Omit<OpenLeaf, 'split' | 'histogram'> & NodeRows) => {
    const { histogram } = leaf;
    const split = histogram && bestSplit(columns, histogram, leaf.total, growth.rules);
    if (split && split.column >= 0) open.push({ ...leaf, histogram, split });
    else close(leaf);
  };
  const close = ({ node, from, to, histogram }: NodeRows & { readonly node: number }) => {
    if (histogram) pool.give(histogram);
    leaves.push({ nodes: [node], from, to });
  };
  add({ node: 0, depth: 0, ...rootRows(growth) });

  while (open.length > 0 && leaves.length + open.length < mostLeaves) {
    const leaf = isLeafwise ? takeLargestGain(open) : open.pop()!;
    const isLast = leaves.length + open.length + 2 >= mostLeaves || leaf.depth + 1 >= settings.max_depth;
    const { split, depth } = leaf;
    const feature = columns.features[split.column]!;
    growth.gains[feature]! += split.gain / growth.rules.scoreUnits;
    const node = splitLeaf(tree, leaf.node, feature, split);
    splitNode(growth, leaf, split, isLast).forEach((child, side) => {
      add({ ...child, node: node + side, depth: depth + 1 });
    });
  }
  for (const leaf of open) close(leaf);
  return { tree, leaves };
}

function takeLargestGain(open: OpenLeaf[]): OpenLeaf {
  let best = 0;
  for (let k = 1; k < open.length; k++) if (open[k]!.split.gain > open[best]!.split.gain) best = k;
  return open.splice(best, 1)[0]!;
}
