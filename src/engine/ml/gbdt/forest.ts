import { binValues, type FeatureMatrix, paddedCuts } from '../features.ts';
import { sigmoid } from '../model.ts';
import type { Split } from './split.ts';

/** Rows that are binned and sent through all trees together, so that their bins stay in the processor's cache. */
const BLOCK_ROWS = 512;
/** Encoded node (32 bits): the bin in the low 8 bits, the start of its column in a block above them. */
const BIN_BITS = 8;
/** Bin of a node whose rows all go left: no bin is larger. */
const ALL_LEFT = 255;

/**
 * Trees laid out for prediction. Each tree is complete down to its own depth. The children of index i are 2i and 2i + 1,
 * so a step needs no branch. Below an early leaf all rows go left.
 */
interface Forest {
  readonly base: number;
  readonly depths: Int32Array;
  /** Start index of each tree in `nodes` and in `leaves`. The first node entry of a tree is unused. */
  readonly treesAt: Int32Array;
  readonly nodes: Int32Array;
  readonly leaves: Float64Array;
  readonly columns: readonly ForestColumn[];
  /** True if all nodes of a level have the same split. */
  readonly isSymmetric: boolean;
}

/** Bins of a feature. A missing value is above all others for nodes that send it right, below all others for the rest. */
interface ForestColumn {
  readonly feature: number;
  /** Cuts padded for the search. */
  readonly cuts: Float64Array;
  readonly missingLeft: boolean;
}

/** Lays out trees. `cuts` are those of the matrix from which the trees were grown. */
export function createForest(
  base: number,
  trees: readonly Tree[],
  cuts: readonly Float64Array[],
  isSymmetric: boolean,
): Forest {
  const depths = Int32Array.from(trees, (tree) => depthOf(tree));
  const treesAt = new Int32Array(trees.length);
  for (let t = 1; t < trees.length; t++) treesAt[t] = treesAt[t - 1]! + 2 ** depths[t - 1]!;
  const size = depths.reduce((sum, depth) => sum + 2 ** depth, 0);
  const nodes = new Int32Array(size).fill(ALL_LEFT);
  const leaves = new Float64Array(size);
  const columns: ForestColumn[] = [];
  const columnAt = columnFinder(cuts, columns);
  trees.forEach((tree, t) => {
    const start = treesAt[t]!;
    const depth = depths[t]!;
    const place = (node: number, at: number, level: number) => {
      const feature = tree.feature[node]!;
      if (feature < 0) {
        leaves[start + at * 2 ** (depth - level) - 2 ** depth] = tree.value[node]!;
        return;
      }
      const missingLeft = tree.missingLeft[node] === 1;
      const bin = tree.bin[node]! + (missingLeft ? 1 : 0);
      nodes[start + at] = (columnAt(feature, missingLeft) << BIN_BITS) | bin;
      place(tree.left[node]!, 2 * at, level + 1);
      place(tree.left[node]! + 1, 2 * at + 1, level + 1);
    };
    place(0, 1, 0);
  });
  return { base, depths, treesAt, nodes, leaves, columns, isSymmetric };
}

/** Returns a function that finds the start of a column in a block, and adds the column when it is new. */
function columnFinder(cuts: readonly Float64Array[], columns: ForestColumn[]) {
  const known = new Map<string, number>();
  return (feature: number, missingLeft: boolean): number => {
    const key = `${feature} ${missingLeft}`;
    const at = known.get(key) ?? columns.length * BLOCK_ROWS;
    if (!known.has(key)) columns.push({ feature, cuts: paddedCuts(cuts[feature]!), missingLeft });
    known.set(key, at);
    return at;
  };
}

/** P(label = 1) of each row: the trees' leaf values are added in their order. */
export function predictForest(forest: Forest, features: FeatureMatrix, into: Float64Array): void {
  const { rows } = features;
  const bins = new Uint8Array(forest.columns.length * BLOCK_ROWS);
  const scores = new Float64Array(BLOCK_ROWS);
  for (let start = 0; start < rows; start += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, rows - start);
    forest.columns.forEach(({ feature, cuts, missingLeft }, c) => {
      const shift = missingLeft ? 1 : 0;
      const missing = missingLeft ? 0 : ALL_LEFT;
      binValues(features.columns[feature]!, start, count, cuts, shift, missing, bins, c * BLOCK_ROWS);
    });
    scores.fill(forest.base);
    addTrees(forest, bins, count, scores);
    for (let r = 0; r < count; r++) into[start + r] = sigmoid(scores[r]!);
  }
}

function addTrees(forest: Forest, bins: Uint8Array, count: number, scores: Float64Array): void {
  const { depths, treesAt, nodes, leaves, isSymmetric } = forest;
  const leaf = new Uint16Array(BLOCK_ROWS);
  for (let t = 0; t < depths.length; t++) {
    const treeAt = treesAt[t]!;
    const depth = depths[t]!;
    if (isSymmetric) addSymmetricTree(nodes, leaves, treeAt, depth, bins, count, scores, leaf);
    else addTree(nodes, leaves, treeAt, depth, bins, count, scores);
  }
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

/** Levels of a symmetric tree per pass over the rows. */
const PASS_LEVELS = 3;

/**
 * The leaf's index has one bit per level, and no step depends on another. The depth is padded to a multiple of the levels
 * per pass, with levels at the top where all rows go left. Leading 0 bits do not change the index.
 */
function addSymmetricTree(
  nodes: Int32Array,
  leaves: Float64Array,
  treeAt: number,
  depth: number,
  bins: Uint8Array,
  count: number,
  scores: Float64Array,
  leaf: Uint16Array,
): void {
  leaf.fill(0);
  const filled = Math.ceil(depth / PASS_LEVELS) * PASS_LEVELS - depth;
  for (let level = -filled; level < depth; level += PASS_LEVELS) {
    const a = level < 0 ? ALL_LEFT : nodes[treeAt + 2 ** level]!;
    const b = level + 1 < 0 ? ALL_LEFT : nodes[treeAt + 2 ** (level + 1)]!;
    const c = nodes[treeAt + 2 ** (level + 2)]!;
    addLevels(a, b, c, bins, count, leaf);
  }
  for (let r = 0; r < count; r++) scores[r] = scores[r]! + leaves[treeAt + leaf[r]!]!;
}

function addLevels(
  a: number,
  b: number,
  c: number,
  bins: Uint8Array,
  count: number,
  leaf: Uint16Array,
): void {
  const atA = a >>> BIN_BITS;
  const atB = b >>> BIN_BITS;
  const atC = c >>> BIN_BITS;
  const binA = a & 255;
  const binB = b & 255;
  const binC = c & 255;
  for (let r = 0; r < count; r++) {
    const bitA = (binA - bins[atA + r]!) >>> 31;
    const bitB = (binB - bins[atB + r]!) >>> 31;
    const bitC = (binC - bins[atC + r]!) >>> 31;
    leaf[r] = (leaf[r]! << 3) | (bitA << 2) | (bitB << 1) | bitC;
  }
}

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
function depthOf(tree: Tree, node = 0): number {
  if (tree.feature[node]! < 0) return 0;
  const left = tree.left[node]!;
  return 1 + Math.max(depthOf(tree, left), depthOf(tree, left + 1));
}
