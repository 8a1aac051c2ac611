import type { BinnedMatrix } from '../features.ts';
import type { ClassifierSettings } from '../settings.ts';
import {
  type HistogramBuilder,
  type HistogramPool,
  subtractHistogram,
  type TreeColumns,
} from './histogram.ts';
import { partitionRows, type RowOrder } from './partition.ts';
import { bestSplit, leafScore, PACKED_UNIT, packedHessian, type Split, type SplitRules } from './split.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** Input for growing one tree. */
interface Growth {
  readonly binned: BinnedMatrix;
  readonly columns: TreeColumns;
  /** The tree's rows with their packed gradients; growing reorders them. */
  readonly order: RowOrder;
  /** Number of rows in the order. */
  readonly count: number;
  /** True if position equals row before growing. */
  readonly isEveryRow: boolean;
  readonly rules: SplitRules;
  readonly settings: ClassifierSettings;
  readonly histograms: HistogramBuilder;
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
  readonly histogram: Float64Array;
  readonly split: Split;
}

/**
 * Grows a tree leaf by leaf. `depthwise_gbdt` splits every leaf that can be split, down to `max_depth`. `leafwise_gbdt`
 * splits the leaf with the largest gain (the oldest of equal ones) until there are `max_leaves`.
 */
export function growTree(growth: Growth): GrownTree {
  const { settings, pool, columns } = growth;
  const tree = createTree();
  const leaves: LeafRows[] = [];
  const isLeafwise = settings.kind === 'leafwise_gbdt';
  const maxLeaves = isLeafwise ? settings.max_leaves : Number.POSITIVE_INFINITY;

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

/** Rows of a node, as positions in the order. */
interface NodeRows {
  readonly from: number;
  readonly to: number;
  /** Packed gradients. */
  readonly total: number;
  /** Absent when the node is too small to be split or has the maximum depth. */
  readonly histogram: Float64Array | undefined;
}

/** Rows of the root: all rows. */
function rootRows({ columns, order, count, isEveryRow, histograms, pool }: Growth) {
  const packed = order.packed!;
  let total = 0;
  for (let i = 0; i < count; i++) total += packed[i]!;
  const histogram = pool.take();
  histograms({ columns, rows: isEveryRow ? null : order.rows, packed, from: 0, to: count }, histogram);
  return { from: 0, to: count, total, histogram };
}

/**
 * Rows of both children, the left child first. The node's histogram must not be used afterwards.
 *
 * @param isLast true if neither child will be split
 */
function splitNode(
  growth: Growth,
  node: NodeRows & { readonly histogram: Float64Array },
  split: Pick<Split, 'column' | 'bin' | 'missingLeft' | 'left'>,
  isLast: boolean,
): [NodeRows, NodeRows] {
  const { binned, columns, order, rules } = growth;
  const { from, to } = node;
  const totals = [split.left, node.total - split.left] as const;
  const [leftIsOpen, rightIsOpen] = totals.map(
    (total) => !isLast && packedHessian(total) >= 2 * rules.minChild,
  );
  const feature = columns.features[split.column]!;
  // Only histograms need the packed gradients in the same order.
  const moved = leftIsOpen || rightIsOpen ? order : { ...order, packed: null };
  const middle = partitionRows(moved, from, to, binned, feature, split.bin, split.missingLeft);
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
  { columns, order, histograms, pool }: Growth,
  parent: Float64Array,
  smaller: ChildRows,
  larger: ChildRows,
): { readonly smaller: Float64Array | undefined; readonly larger: Float64Array | undefined } {
  let built: Float64Array | undefined;
  if (smaller.isOpen || larger.isOpen) {
    built = pool.take();
    histograms(
      { columns, rows: order.rows, packed: order.packed!, from: smaller.from, to: smaller.to },
      built,
    );
  }
  if (built && larger.isOpen) subtractHistogram(parent, built);
  else pool.give(parent);
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
  readonly histogram: Float64Array;
}

/** Buffers for the sums of one level by histogram index, with missing values to the right and to the left. */
interface LevelScores {
  readonly missingRight: Float64Array;
  readonly missingLeft: Float64Array;
}

/**
 * Split with the largest sum of (gain - minimum gain) over the nodes; undefined when no sum is above 0. A node with a child
 * that is too small adds 0. Ties: lower column, then missing values to the right, then lower bin.
 */
function bestLevelSplit(
  columns: TreeColumns,
  nodes: readonly LevelNode[],
  rules: SplitRules,
  scores: LevelScores,
): LevelSplit | undefined {
  scores.missingRight.fill(0);
  scores.missingLeft.fill(0);
  for (const node of nodes) addNode(columns, node, rules, scores);
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
  for (let column = 0; column < columns.features.length; column++) {
    look(scores.missingRight, column, false);
    if (columns.hasMissing[column]) look(scores.missingLeft, column, true);
  }
  return best;
}

function addNode(columns: TreeColumns, node: LevelNode, rules: SplitRules, scores: LevelScores): void {
  const { offsets, binCounts, features, hasMissing } = columns;
  const { histogram, total } = node;
  const minScore = leafScore(total, rules.l2) + rules.minGain;
  for (let column = 0; column < features.length; column++) {
    const from = offsets[column]!;
    const to = from + binCounts[column]!;
    addGains(histogram, from, to, 0, total, minScore, rules, scores.missingRight);
    if (hasMissing[column]) {
      addGains(histogram, from, to, histogram[to]!, total, minScore, rules, scores.missingLeft);
    }
  }
}

/** Adds the children's scores minus `minScore` at each bin of one column that leaves both children large enough. */
function addGains(
  histogram: Float64Array,
  from: number,
  to: number,
  start: number,
  total: number,
  minScore: number,
  { l2, minChild }: SplitRules,
  into: Float64Array,
): void {
  const totalGradient = Math.floor(total / PACKED_UNIT);
  const totalHessian = total - totalGradient * PACKED_UNIT;
  let left = start;
  let gain = 0;
  for (let k = from; k < to; k++) {
    const added = histogram[k]!;
    // An empty bin gives the same split as the bin before it.
    if (added !== 0 || k === from) {
      left += added;
      const g = Math.floor(left / PACKED_UNIT);
      const h = left - g * PACKED_UNIT;
      const otherH = totalHessian - h;
      if (otherH < minChild) break;
      if (h < minChild) continue;
      const otherG = totalGradient - g;
      const weight = h + l2;
      const otherWeight = otherH + l2;
      gain = (g * g * otherWeight + otherG * otherG * weight) / (weight * otherWeight) - minScore;
    }
    into[k] = into[k]! + gain;
  }
}
