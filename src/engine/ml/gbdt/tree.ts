import type { Split } from './split.ts';

/** A binary tree as columns by node. Node 0 is the root; the right child follows the left one. */
export interface Tree {
  /** Feature of a split; -1 for a leaf. */
  readonly feature: number[];
  /** Rows with a bin of at most this go left. */
  readonly bin: number[];
  /** 1 where rows with a missing value go left too. */
  readonly missingLeft: number[];
  /** The left child; 0 for a leaf. */
  readonly left: number[];
  /** Addition of a leaf to the log-odds; 0 for a split. */
  readonly value: number[];
}

/** A tree of one leaf of value 0. */
export function createTree(): Tree {
  return { feature: [-1], bin: [0], missingLeft: [0], left: [0], value: [0] };
}

/** Turns a leaf into a split with two leaves; returns the left one. */
export function splitLeaf(
  tree: Tree,
  node: number,
  feature: number,
  split: Pick<Split, 'bin' | 'missingLeft'>,
): number {
  const left = tree.feature.length;
  tree.feature[node] = feature;
  tree.bin[node] = split.bin;
  tree.missingLeft[node] = split.missingLeft ? 1 : 0;
  tree.left[node] = left;
  for (let child = 0; child < 2; child++) {
    tree.feature.push(-1);
    tree.bin.push(0);
    tree.missingLeft.push(0);
    tree.left.push(0);
    tree.value.push(0);
  }
  return left;
}

/** Number of splits on the longest path. */
export function depthOf(tree: Tree, node = 0): number {
  if (tree.feature[node]! < 0) return 0;
  const left = tree.left[node]!;
  return 1 + Math.max(depthOf(tree, left), depthOf(tree, left + 1));
}

/** Start of the column of a feature in a block. */
export type ColumnFinder = (feature: number, missingLeft: boolean) => number;

/**
 * Places the nodes of a tree at their indices in the complete tree of this depth, the root at 1, and its leaves at their
 * indices among the leaves. A missing value has bin 0 of a column that sends it left.
 */
export function placeTree(
  tree: Tree,
  depth: number,
  columnAt: ColumnFinder,
  placeNode: (at: number, column: number, bin: number) => void,
  placeLeaf: (at: number, value: number) => void,
): void {
  const place = (node: number, at: number, level: number) => {
    const feature = tree.feature[node]!;
    if (feature < 0) {
      placeLeaf(at * 2 ** (depth - level) - 2 ** depth, tree.value[node]!);
      return;
    }
    const missingLeft = tree.missingLeft[node] === 1;
    placeNode(at, columnAt(feature, missingLeft), tree.bin[node]! + (missingLeft ? 1 : 0));
    place(tree.left[node]!, 2 * at, level + 1);
    place(tree.left[node]! + 1, 2 * at + 1, level + 1);
  };
  place(0, 1, 0);
}
