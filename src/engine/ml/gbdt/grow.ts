import type { BinnedMatrix } from '../features.ts';
import type { ClassifierSettings } from '../settings.ts';
import { buildHistogram, type HistogramPool, type TreeColumns } from './histogram.ts';
import { partitionRows, type TrainingMemory } from './memory.ts';
import { bestSplit, leafScore, packedHessian, type Split, type SplitRules } from './split.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** Input for growing one tree. */
interface Growth {
  readonly binned: BinnedMatrix;
  readonly columns: TreeColumns;
  /** With the packed gradients, and the tree's rows in `order`; growing reorders them. */
  readonly memory: TrainingMemory;
  /** Number of rows in the order. */
  readonly count: number;
  /** True if position equals row before growing. */
  readonly isEveryRow: boolean;
  readonly rules: SplitRules;
  readonly settings: ClassifierSettings;
  readonly pool: HistogramPool;
  /** Loss reduction by feature; growing adds to it. */
  readonly gains: Float64Array;
}

/** Rows of one leaf, or of several leaves with the same value, as positions in the order. */
interface LeafRows {
  readonly nodes: readonly number[];
  readonly from: number;
  readonly to: number;
}

export interface GrownTree {
  readonly tree: Tree;
  readonly leaves: readonly LeafRows[];
}

/** A leaf that can still be split. */
interface OpenLeaf extends NodeRows {
  readonly node: number;
  readonly depth: number;
  readonly histogram: number;
  readonly split: Split;
}

/**
 * Grows a tree leaf by leaf. `depthwise_gbdt` splits every leaf that can be split, down to `max_depth`. `leafwise_gbdt`
 * splits the leaf with the largest gain (the oldest of equal ones) until there are `max_leaves`.
 */
export function growTree(growth: Growth): GrownTree {
  const { settings, pool, columns, memory } = growth;
  const tree = createTree();
  const leaves: LeafRows[] = [];
  const isLeafwise = settings.kind === 'leafwise_gbdt';
  const maxLeaves = isLeafwise ? settings.max_leaves : Number.POSITIVE_INFINITY;

  const open: OpenLeaf[] = [];
  const add = (leaf: Omit<OpenLeaf, 'split' | 'histogram'> & NodeRows) => {
    const { histogram } = leaf;
    const split = histogram && bestSplit(memory.kernel, columns, histogram, leaf.total, growth.rules);
    if (split && split.column >= 0) open.push({ ...leaf, histogram, split });
    else close(leaf);
  };
  const close = ({ node, from, to, histogram }: NodeRows & { readonly node: number }) => {
    if (histogram) pool.give(histogram);
    leaves.push({ nodes: [node], from, to });
  };
  add({ node: 0, depth: 0, ...rootRows(growth) });

  while (open.length > 0 && leaves.length + open.length < maxLeaves) {
    const leaf = isLeafwise ? takeLargestGain(open) : open.pop()!;
    const isLast = leaves.length + open.length + 2 >= maxLeaves || leaf.depth + 1 >= settings.max_depth;
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

/** Rows that were not separated so far, and the nodes of the level that hold them. */
interface Part extends NodeRows {
  readonly nodes: readonly number[];
}

/**
 * Grows a symmetric (oblivious) tree: all nodes of a level have the same split, see {@link bestLevelSplit}. A node with a
 * child below the smallest hessian is not split. Its rows stay together, and both its sides have their value.
 * (Prokhorenkova et al., NeurIPS 2018, arXiv:1706.09516, without ordered boosting.)
 */
export function growSymmetricTree(growth: Growth): GrownTree {
  const { settings, pool } = growth;
  const tree = createTree();
  let parts: Part[] = [{ nodes: [0], ...rootRows(growth) }];
  for (let depth = 0; depth < settings.max_depth; depth++) {
    const nodes = parts.flatMap(({ total, histogram }) => (histogram ? [{ total, histogram }] : []));
    const split = bestLevelSplit(growth, nodes);
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
  { columns, memory }: Growth,
  histogram: number,
  { column, bin, missingLeft }: LevelSplit,
): number {
  const { sumBins } = memory.kernel.run;
  const from = histogram + 8 * columns.offsets[column]!;
  const missing = missingLeft ? sumBins(from + 8 * columns.binCounts[column]!, 1) : 0;
  return missing + sumBins(from, bin + 1);
}

/** Rows of a node, as positions in the order. */
interface NodeRows {
  readonly from: number;
  readonly to: number;
  /** Packed gradients. */
  readonly total: number;
  /** Its address. Absent when the node is too small to be split or has the maximum depth. */
  readonly histogram: number | undefined;
}

/** Rows of the root: all rows. */
function rootRows({ columns, memory, count, isEveryRow, pool }: Growth) {
  const { kernel, packed, order } = memory;
  const histogram = pool.take();
  const unused = pool.take();
  const rows = { packed, order: isEveryRow ? null : order, from: 0, to: count };
  buildHistogram(kernel, columns, rows, histogram, unused);
  pool.give(unused);
  // Every row is in one bin of the first feature.
  const total = kernel.run.sumBins(histogram, columns.binCounts[0]! + 1);
  return { from: 0, to: count, total, histogram };
}

/**
 * Rows of both children, the left child first. The node's histogram must not be used afterwards.
 *
 * @param isLast true if neither child will be split
 */
function splitNode(
  growth: Growth,
  node: NodeRows & { readonly histogram: number },
  split: Pick<Split, 'column' | 'bin' | 'missingLeft' | 'left'>,
  isLast: boolean,
): [NodeRows, NodeRows] {
  const { binned, columns, memory, rules } = growth;
  const { from, to } = node;
  const totals = [split.left, node.total - split.left] as const;
  const [leftIsOpen, rightIsOpen] = totals.map(
    (total) => !isLast && packedHessian(total) >= 2 * rules.minChild,
  );
  const feature = columns.features[split.column]!;
  const middle = partitionRows(memory, memory.order, from, to, binned, feature, split);
  const left = { from, to: middle, isOpen: leftIsOpen! };
  const right = { from: middle, to, isOpen: rightIsOpen! };
  const isLeftSmaller = middle - from <= to - middle;
  const [smaller, larger] = isLeftSmaller ? [left, right] : [right, left];
  const histograms = childHistograms(growth, node.histogram, smaller, larger);
  return [
    { from, to: middle, total: totals[0], histogram: isLeftSmaller ? histograms.smaller : histograms.larger },
    { from: middle, to, total: totals[1], histogram: isLeftSmaller ? histograms.larger : histograms.smaller },
  ];
}

interface ChildRows {
  readonly from: number;
  readonly to: number;
  readonly isOpen: boolean;
}

/** Builds the smaller child's histogram. The larger child's is the parent's minus that, in the parent's memory. */
function childHistograms(
  { columns, memory, pool }: Growth,
  parent: number,
  smaller: ChildRows,
  larger: ChildRows,
): { readonly smaller: number | undefined; readonly larger: number | undefined } {
  let built: number | undefined;
  if (smaller.isOpen || larger.isOpen) {
    const { kernel, packed, order } = memory;
    built = pool.take();
    buildHistogram(kernel, columns, { packed, order, from: smaller.from, to: smaller.to }, built, parent);
  }
  if (!larger.isOpen) pool.give(parent);
  if (built && !smaller.isOpen) pool.give(built);
  return { smaller: smaller.isOpen ? built : undefined, larger: larger.isOpen ? parent : undefined };
}

/** The split that all nodes of a level share. */
interface LevelSplit {
  /** Index into the tree's columns. */
  readonly column: number;
  readonly bin: number;
  readonly missingLeft: boolean;
}

/** A node that can be split. */
interface LevelNode {
  /** Packed gradients. */
  readonly total: number;
  readonly histogram: number;
}

/**
 * Split with the largest sum of (gain - minimum gain) over the nodes; undefined when no sum is above 0. A node with a child
 * that is too small adds 0. Ties: lower column, then missing values to the right, then lower bin.
 */
function bestLevelSplit(
  { columns, memory, pool, rules }: Growth,
  nodes: readonly LevelNode[],
): LevelSplit | undefined {
  const { kernel } = memory;
  const { features, table, size } = columns;
  const rightAt = pool.take();
  const leftAt = pool.take();
  const right = kernel.f64(rightAt, size).fill(0);
  const left = kernel.f64(leftAt, size).fill(0);
  for (const { histogram, total } of nodes) {
    const minScore = leafScore(total, rules.l2) + rules.minGain;
    const { l2, minChild } = rules;
    kernel.run.addGains(histogram, table, features.length, total, minScore, l2, minChild, rightAt, leftAt);
  }
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
  for (let column = 0; column < features.length; column++) {
    look(right, column, false);
    if (columns.hasMissing[column]) look(left, column, true);
  }
  pool.give(rightAt);
  pool.give(leftAt);
  return best;
}
