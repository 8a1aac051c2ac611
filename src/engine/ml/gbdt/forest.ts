import { type FeatureMatrix, paddedCuts } from '../features.ts';
import { sigmoid } from '../model.ts';
import { BLOCK_ROWS, BOTTOM_PIECES, PIECE_LEVELS, PIECE_NODES } from '../wasm/forest.ts';
import { type Kernel, withKernel } from '../wasm/kernel.ts';
import { type ColumnFinder, depthOf, placeTree, type Tree } from './tree.ts';
import { addWalkedTrees, layOutWalk, type WalkedTrees } from './walk.ts';

/** Trees laid out for prediction. */
interface Forest {
  readonly base: number;
  readonly columns: readonly ForestColumn[];
  readonly trees: PiecedTrees | WalkedTrees;
}

/** Bins of a feature. A missing value is above all others for nodes that send it right, below all others for the rest. */
interface ForestColumn {
  readonly feature: number;
  /** Cuts padded for the search. */
  readonly cuts: Float64Array;
  readonly missingLeft: boolean;
}

/** Trees of at most six levels in the layout of `addTrees`: words and leaf values. */
interface PiecedTrees {
  readonly words: Int32Array;
  readonly leaves: Float64Array;
}

/** Bins are bytes from 0; comparisons of bytes in vectors are signed. */
const BYTE_MIDDLE = 128;
/** Bin of a node whose rows all go left: no bin is larger. */
const ALL_LEFT = 255;
/** Deeper trees have too many nodes to evaluate each: a row walks down. */
const MAX_PIECED_DEPTH = 2 * PIECE_LEVELS;

/** Lays out trees. `cuts` are those of the matrix from which the trees were grown. */
export function createForest(base: number, trees: readonly Tree[], cuts: readonly Float64Array[]): Forest {
  const columns: ForestColumn[] = [];
  const columnAt = columnFinder(cuts, columns);
  const depths = trees.map((tree) => depthOf(tree));
  const isDeep = depths.some((depth) => depth > MAX_PIECED_DEPTH);
  return {
    base,
    columns,
    trees: isDeep ? layOutWalk(trees, depths, columnAt) : layOutPieces(trees, depths, columnAt),
  };
}

/** Returns a function that finds a column, and adds it when it is new. */
function columnFinder(cuts: readonly Float64Array[], columns: ForestColumn[]): ColumnFinder {
  const known = new Map<string, number>();
  return (feature, missingLeft) => {
    const key = `${feature} ${missingLeft}`;
    const at = known.get(key) ?? columns.length * BLOCK_ROWS;
    if (!known.has(key)) columns.push({ feature, cuts: paddedCuts(cuts[feature]!), missingLeft });
    known.set(key, at);
    return at;
  };
}

/**
 * Completes each tree to three or six levels: below an early leaf all rows go left. The children of index i are 2i and
 * 2i + 1.
 */
function layOutPieces(
  trees: readonly Tree[],
  depths: readonly number[],
  columnAt: ColumnFinder,
): PiecedTrees {
  const words: number[] = [];
  const leaves: number[] = [];
  trees.forEach((tree, t) => {
    const depth = depths[t]! > PIECE_LEVELS ? MAX_PIECED_DEPTH : PIECE_LEVELS;
    const nodes: number[] = new Array(2 ** depth).fill(ALL_LEFT - BYTE_MIDDLE);
    const values: number[] = new Array(2 ** depth).fill(0);
    placeTree(
      tree,
      depth,
      columnAt,
      (at, column, bin) => {
        nodes[at] = (column << 8) | ((bin - BYTE_MIDDLE) & 255);
      },
      (at, value) => {
        values[at] = value;
      },
    );
    const bottom = depth > PIECE_LEVELS ? BOTTOM_PIECES : 1;
    words.push(bottom);
    for (let piece = 0; piece < bottom; piece++) words.push(...pieceAt(nodes, bottom + piece));
    if (bottom > 1) words.push(...pieceAt(nodes, 1));
    leaves.push(...values);
  });
  return { words: Int32Array.from(words), leaves: Float64Array.from(leaves) };
}

/** Nodes of the piece with this root, level by level. */
function pieceAt(nodes: readonly number[], root: number): number[] {
  return Array.from({ length: PIECE_NODES }, (_, k) => {
    const level = Math.floor(Math.log2(k + 1));
    return nodes[root * 2 ** level + k + 1 - 2 ** level]!;
  });
}

/** P(label = 1) of each row: the trees' leaf values are added in their order. */
export function predictForest(forest: Forest, features: FeatureMatrix, into: Float64Array): void {
  withKernel((kernel) => {
    const { rows } = features;
    const binsAt = kernel.take(forest.columns.length * BLOCK_ROWS);
    const scoresAt = kernel.take(8 * BLOCK_ROWS);
    const binBlock = blockBinner(kernel, forest, features, binsAt);
    const addBlock = treeAdder(kernel, forest, binsAt, scoresAt);
    const scores = kernel.f64(scoresAt, BLOCK_ROWS);
    for (let start = 0; start < rows; start += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, rows - start);
      binBlock(start, count);
      scores.fill(forest.base);
      addBlock(count);
      for (let r = 0; r < count; r++) into[start + r] = sigmoid(scores[r]!);
    }
  });
}

/** Returns a function that bins a block of rows, a column after the other. */
function blockBinner(kernel: Kernel, { columns, trees }: Forest, features: FeatureMatrix, binsAt: number) {
  const middle = 'words' in trees ? BYTE_MIDDLE : 0;
  const valuesAt = kernel.take(8 * BLOCK_ROWS);
  const cutsAt = columns.map(({ cuts }) => kernel.take(8 * cuts.length));
  columns.forEach(({ cuts }, c) => {
    kernel.f64(cutsAt[c]!, cuts.length).set(cuts);
  });
  return (start: number, count: number) => {
    const values = kernel.f64(valuesAt, BLOCK_ROWS);
    columns.forEach(({ feature, cuts, missingLeft }, c) => {
      values.set(features.columns[feature]!.subarray(start, start + count));
      const half = 8 * ((cuts.length + 1) >> 1);
      const shift = (missingLeft ? 1 : 0) - middle;
      const missing = (missingLeft ? 0 : ALL_LEFT) - middle;
      kernel.run.binValues(valuesAt, count, cutsAt[c]!, half, shift, missing, binsAt + c * BLOCK_ROWS);
    });
  };
}

/** Returns a function that adds all trees to the scores of the first `count` rows of a block. */
function treeAdder(kernel: Kernel, { columns, trees }: Forest, binsAt: number, scoresAt: number) {
  if ('words' in trees) {
    const { words, leaves } = trees;
    const wordsAt = kernel.take(words.byteLength);
    const leavesAt = kernel.take(leaves.byteLength);
    const foundAt = kernel.take((BOTTOM_PIECES + 1) * BLOCK_ROWS);
    kernel.i32(wordsAt, words.length).set(words);
    kernel.f64(leavesAt, leaves.length).set(leaves);
    const end = wordsAt + words.byteLength;
    return (count: number) => {
      const rows = Math.ceil(count / 16) * 16;
      kernel.run.addTrees(wordsAt, end, leavesAt, binsAt, rows, foundAt, scoresAt);
    };
  }
  return (count: number) => {
    const bins = kernel.u8(binsAt, columns.length * BLOCK_ROWS);
    addWalkedTrees(trees, bins, count, kernel.f64(scoresAt, BLOCK_ROWS));
  };
}
