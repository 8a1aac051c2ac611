import { binOf } from '../bins.ts';
import type { FeatureMatrix } from '../features.ts';
import { sigmoid } from '../loss.ts';
import { depthOf, type Tree } from './tree.ts';

/** Rows that are put into bins and sent through all trees together: their bins stay in the processor's cache. */
const BLOCK_ROWS = 512;
/** A node's word: 8 bits of bin below, where its column begins in a block above. */
const BIN_BITS = 8;
/** No bin is beyond it: all rows go left. */
const ALL_LEFT = 255;

/**
 * Trees laid out for prediction. Each is complete down to its own depth: the children of place i are 2i and 2i + 1, so
 * that a step is computed, not branched to; below an early leaf all rows go left.
 */
export interface Forest {
  readonly base: number;
  readonly depths: Int32Array;
  /** Where a tree's nodes and leaves begin; a node's place is 1 or more. */
  readonly nodesAt: Int32Array;
  readonly leavesAt: Int32Array;
  readonly nodes: Int32Array;
  readonly leaves: Float64Array;
  readonly columns: readonly ForestColumn[];
  /** Whether all nodes of a level have the same split. */
  readonly isSymmetric: boolean;
}

/** A feature's bins as some nodes want them: a missing value is above all others where it goes right, below where left. */
interface ForestColumn {
  readonly feature: number;
  readonly cuts: Float64Array;
  readonly missingLeft: boolean;
}

/** Lays trees out; `cuts` are those of the matrix they were grown on. */
export function createForest(
  base: number,
  trees: readonly Tree[],
  cuts: readonly Float64Array[],
  isSymmetric: boolean,
): Forest {
  const depths = Int32Array.from(trees, (tree) => depthOf(tree));
  const nodesAt = new Int32Array(trees.length);
  const leavesAt = new Int32Array(trees.length);
  let places = 0;
  depths.forEach((depth, t) => {
    nodesAt[t] = places;
    leavesAt[t] = places;
    places += 2 ** depth;
  });
  const nodes = new Int32Array(places).fill(ALL_LEFT);
  const leaves = new Float64Array(places);
  const columns = new Map<string, ForestColumn & { readonly at: number }>();
  const columnAt = (feature: number, missingLeft: boolean) => {
    const key = `${feature} ${missingLeft}`;
    const known = columns.get(key);
    if (known) return known.at;
    const at = columns.size * BLOCK_ROWS;
    columns.set(key, { feature, cuts: cuts[feature]!, missingLeft, at });
    return at;
  };
  trees.forEach((tree, t) => {
    const place = (node: number, at: number, level: number) => {
      const feature = tree.feature[node]!;
      if (feature < 0) {
        leaves[leavesAt[t]! + at * 2 ** (depths[t]! - level) - 2 ** depths[t]!] = tree.value[node]!;
        return;
      }
      const missingLeft = tree.missingLeft[node] === 1;
      const bin = tree.bin[node]! + (missingLeft ? 1 : 0);
      nodes[nodesAt[t]! + at] = (columnAt(feature, missingLeft) << BIN_BITS) | bin;
      place(tree.left[node]!, 2 * at, level + 1);
      place(tree.left[node]! + 1, 2 * at + 1, level + 1);
    };
    place(0, 1, 0);
  });
  return { base, depths, nodesAt, leavesAt, nodes, leaves, columns: [...columns.values()], isSymmetric };
}

/** P(label = 1) of each row: the trees' leaf values are added in their order. */
export function predictForest(forest: Forest, features: FeatureMatrix, into: Float64Array): void {
  const { rows } = features;
  const bins = new Uint8Array(forest.columns.length * BLOCK_ROWS);
  const scores = new Float64Array(BLOCK_ROWS);
  for (let start = 0; start < rows; start += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, rows - start);
    forest.columns.forEach((column, c) => {
      const values = features.columns[column.feature]!;
      binBlock(values, start, count, column, bins, c * BLOCK_ROWS);
    });
    scores.fill(forest.base);
    addTrees(forest, bins, count, scores);
    for (let r = 0; r < count; r++) into[start + r] = sigmoid(scores[r]!);
  }
}

function binBlock(
  values: Float64Array,
  start: number,
  count: number,
  { cuts, missingLeft }: ForestColumn,
  bins: Uint8Array,
  at: number,
): void {
  const shift = missingLeft ? 1 : 0;
  const missing = missingLeft ? 0 : ALL_LEFT;
  for (let r = 0; r < count; r++) {
    const value = values[start + r]!;
    bins[at + r] = Number.isNaN(value) ? missing : binOf(value, cuts) + shift;
  }
}

function addTrees(forest: Forest, bins: Uint8Array, count: number, scores: Float64Array): void {
  const { depths, nodesAt, leavesAt, nodes, leaves, isSymmetric } = forest;
  for (let t = 0; t < depths.length; t++) {
    const add = isSymmetric ? addSymmetricTree : addTree;
    add(nodes, nodesAt[t]!, leaves, leavesAt[t]!, depths[t]!, bins, count, scores);
  }
}

/** Four rows at a time: each step of a row waits for the one before, the rows do not wait for each other. */
function addTree(
  nodes: Int32Array,
  nodesAt: number,
  leaves: Float64Array,
  leavesAt: number,
  depth: number,
  bins: Uint8Array,
  count: number,
  scores: Float64Array,
): void {
  const leafAt = leavesAt - 2 ** depth;
  for (let r = 0; r < count; r += 4) {
    let a = 1;
    let b = 1;
    let c = 1;
    let d = 1;
    for (let level = 0; level < depth; level++) {
      const nodeA = nodes[nodesAt + a]!;
      const nodeB = nodes[nodesAt + b]!;
      const nodeC = nodes[nodesAt + c]!;
      const nodeD = nodes[nodesAt + d]!;
      // The sign bit of bin of the node less bin of the row: 1 to the right.
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

/** The leaf's number is made of one bit for each level, and no step waits for another. */
function addSymmetricTree(
  nodes: Int32Array,
  nodesAt: number,
  leaves: Float64Array,
  leavesAt: number,
  depth: number,
  bins: Uint8Array,
  count: number,
  scores: Float64Array,
): void {
  const leaf = new Uint16Array(BLOCK_ROWS);
  for (let level = 0; level < depth; level++) {
    const node = nodes[nodesAt + 2 ** level]!;
    const bin = node & 255;
    const at = node >>> BIN_BITS;
    for (let r = 0; r < count; r++) leaf[r] = (leaf[r]! << 1) | ((bin - bins[at + r]!) >>> 31);
  }
  for (let r = 0; r < count; r++) scores[r] = scores[r]! + leaves[leavesAt + leaf[r]!]!;
}
