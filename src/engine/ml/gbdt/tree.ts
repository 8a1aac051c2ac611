import type { Split } from './split.ts';

/** A binary tree as columns by node; node 0 is the root, the right child follows the left one. */
export interface Tree {
  /** Feature of a split; -1 for a leaf. */
  readonly feature: number[];
  /** Rows whose bin is at most this go left. */
  readonly bin: number[];
  /** 1 where rows without a value go left too. */
  readonly missingLeft: number[];
  /** The left child; 0 for a leaf. */
  readonly left: number[];
  /** What a leaf adds to the log-odds; 0 for a split. */
  readonly value: number[];
}

/** A tree of one leaf of value 0. */
export function createTree(): Tree {
  return { feature: [-1], bin: [0], missingLeft: [0], left: [0], value: [0] };
}

/** Makes a leaf a split of two leaves; returns the left one. */
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

/** Splits on the longest path. */
export function depthOf(tree: Tree, node = 0): number {
  if (tree.feature[node]! < 0) return 0;
  const left = tree.left[node]!;
  return 1 + Math.max(depthOf(tree, left), depthOf(tree, left + 1));
}
