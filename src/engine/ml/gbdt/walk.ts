import { type ColumnFinder, placeTree, type Tree } from './tree.ts';

/** Encoded node (32 bits): the bin in the low 8 bits, the start of its column in a block above them. */
const BIN_BITS = 8;
/** Bin of a node whose rows all go left: no bin is larger. */
const ALL_LEFT = 255;

/**
 * Deep trees, down which each row walks. Each tree is complete down to its own depth. The children of index i are 2i and
 * 2i + 1, so a step needs no branch. Below an early leaf all rows go left.
 */
export interface WalkedTrees {
  readonly depths: Int32Array;
  /** Start index of each tree in `nodes` and in `leaves`. The first node entry of a tree is unused. */
  readonly treesAt: Int32Array;
  readonly nodes: Int32Array;
  readonly leaves: Float64Array;
}

export function layOutWalk(
  trees: readonly Tree[],
  depths: readonly number[],
  columnAt: ColumnFinder,
): WalkedTrees {
  const treesAt = new Int32Array(trees.length);
  for (let t = 1; t < trees.length; t++) treesAt[t] = treesAt[t - 1]! + 2 ** depths[t - 1]!;
  const size = depths.reduce((sum, depth) => sum + 2 ** depth, 0);
  const nodes = new Int32Array(size).fill(ALL_LEFT);
  const leaves = new Float64Array(size);
  trees.forEach((tree, t) => {
    const start = treesAt[t]!;
    placeTree(
      tree,
      depths[t]!,
      columnAt,
      (at, column, bin) => {
        nodes[start + at] = (column << BIN_BITS) | bin;
      },
      (at, value) => {
        leaves[start + at] = value;
      },
    );
  });
  return { depths: Int32Array.from(depths), treesAt, nodes, leaves };
}

/** Adds the leaf values of `count` rows. `bins` and `scores` have room for a multiple of four rows. */
export function addWalkedTrees(
  { depths, treesAt, nodes, leaves }: WalkedTrees,
  bins: Uint8Array,
  count: number,
  scores: Float64Array,
): void {
  for (let t = 0; t < depths.length; t++)
    addTree(nodes, leaves, treesAt[t]!, depths[t]!, bins, count, scores);
}

/** Four rows at a time: the steps of one row depend on each other, those of different rows do not. */
function addTree(
  nodes: Int32Array,
  leaves: Float64Array,
  treeAt: number,
  depth: number,
  bins: Uint8Array,
  count: number,
  scores: Float64Array,
): void {
  const leafAt = treeAt - 2 ** depth;
  for (let r = 0; r < count; r += 4) {
    let a = 1;
    let b = 1;
    let c = 1;
    let d = 1;
    for (let level = 0; level < depth; level++) {
      const nodeA = nodes[treeAt + a]!;
      const nodeB = nodes[treeAt + b]!;
      const nodeC = nodes[treeAt + c]!;
      const nodeD = nodes[treeAt + d]!;
      // Sign bit of (bin of the node - bin of the row): 1 goes right.
      a = 2 * a + (((nodeA & 255) - bins[(nodeA >>> BIN_BITS) + r]!) >>> 31);
      b = 2 * b + (((nodeB & 255) - bins[(nodeB >>> BIN_BITS) + r + 1]!) >>> 31);
      c = 2 * c + (((nodeC & 255) - bins[(nodeC >>> BIN_BITS) + r + 2]!) >>> 31);
      d = 2 * d + (((nodeD & 255) - bins[(nodeD >>> BIN_BITS) + r + 3]!) >>> 31);
    }
    scores[r]! += leaves[leafAt + a]!;
    scores[r + 1]! += leaves[leafAt + b]!;
    scores[r + 2]! += leaves[leafAt + c]!;
    scores[r + 3]! += leaves[leafAt + d]!;
  }
}
