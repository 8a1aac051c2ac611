import type { BinnedMatrix } from '../bins.ts';
import type { ClassifierSettings } from '../settings.ts';
import { packedHessian } from './gradients.ts';
import { type HistogramBuilder, subtractHistogram, type TreeColumns } from './histogram.ts';
import type { HistogramPool } from './histogram-pool.ts';
import { partitionRows, type RowOrder } from './partition.ts';
import { bestSplit, type Split, type SplitRules } from './split.ts';
import { createTree, splitLeaf, type Tree } from './tree.ts';

/** What a tree is grown from. */
export interface Growth {
  readonly binned: BinnedMatrix;
  readonly columns: TreeColumns;
  /** The tree's rows with their packed gradients; growing changes the order. */
  readonly order: RowOrder;
  /** How many rows the order has. */
  readonly count: number;
  /** Whether position and row are the same at the start. */
  readonly isEveryRow: boolean;
  readonly rules: SplitRules;
  readonly settings: ClassifierSettings;
  readonly histograms: HistogramBuilder;
  readonly pool: HistogramPool;
  /** By feature: loss reduction, added to. */
  readonly gains: Float64Array;
}

/** Rows that end in one leaf, or in several of the same value: positions of the order. */
export interface LeafRows {
  readonly nodes: readonly number[];
  readonly from: number;
  readonly to: number;
}

export interface GrownTree {
  readonly tree: Tree;
  readonly leaves: readonly LeafRows[];
}

/** A leaf that may yet be split. */
interface OpenLeaf {
  readonly node: number;
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  /** Packed gradients. */
  readonly total: number;
  readonly histogram: Float64Array;
  readonly split: Split;
}

/** Packed gradients of the first `count` positions. */
export function sumPacked({ order, count }: Growth): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += order.packed![i]!;
  return total;
}

/** The histogram of all positions. */
export function rootHistogram({ columns, order, count, isEveryRow, histograms, pool }: Growth): Float64Array {
  const root = pool.take();
  const rows = isEveryRow ? null : order.rows;
  histograms({ columns, rows, packed: order.packed!, from: 0, to: count }, root);
  return root;
}

/**
 * Grows a tree leaf by leaf: `depthwise_gbdt` splits every leaf that may be split down to `max_depth`, `leafwise_gbdt` always
 * the one with the largest gain (of equal ones the oldest) until there are `max_leaves`.
 */
export function growTree(growth: Growth): GrownTree {
  const { settings, count, pool, columns } = growth;
  const tree = createTree();
  const leaves: LeafRows[] = [];
  const isLeafwise = settings.kind === 'leafwise_gbdt';
  const mostLeaves = isLeafwise ? settings.max_leaves : Number.POSITIVE_INFINITY;

  const open: OpenLeaf[] = [];
  const add = (leaf: Omit<OpenLeaf, 'split'>) => {
    const split = bestSplit(columns, leaf.histogram, leaf.total, growth.rules);
    if (split.column >= 0) open.push({ ...leaf, split });
    else close(leaf);
  };
  const close = (leaf: Pick<OpenLeaf, 'node' | 'from' | 'to'> & { readonly histogram?: Float64Array }) => {
    if (leaf.histogram) pool.give(leaf.histogram);
    leaves.push({ nodes: [leaf.node], from: leaf.from, to: leaf.to });
  };
  add({ node: 0, from: 0, to: count, depth: 0, total: sumPacked(growth), histogram: rootHistogram(growth) });

  while (open.length > 0 && leaves.length + open.length < mostLeaves) {
    const leaf = isLeafwise ? takeLargestGain(open) : open.pop()!;
    const isLast = leaves.length + open.length + 2 >= mostLeaves || leaf.depth + 1 >= settings.max_depth;
    for (const child of splitOpenLeaf(growth, tree, leaf, isLast)) {
      if (child.histogram) add({ ...child, histogram: child.histogram });
      else close(child);
    }
  }
  for (const leaf of open) close(leaf);
  return { tree, leaves };
}

function takeLargestGain(open: OpenLeaf[]): OpenLeaf {
  let best = 0;
  for (let k = 1; k < open.length; k++) if (open[k]!.split.gain > open[best]!.split.gain) best = k;
  return open.splice(best, 1)[0]!;
}

/** The children, each with its histogram unless it cannot be split any further. */
function splitOpenLeaf(growth: Growth, tree: Tree, leaf: OpenLeaf, isLast: boolean) {
  const { binned, columns, order, rules, gains } = growth;
  const { from, to, depth, total, split } = leaf;
  const feature = columns.features[split.column]!;
  gains[feature]! += split.gain / rules.scoreUnits;
  const node = splitLeaf(tree, leaf.node, feature, split);
  const middle = partitionRows(order, from, to, binned, feature, split.bin, split.missingLeft);
  const left = { node, from, to: middle, depth: depth + 1, total: split.left };
  const right = { node: node + 1, from: middle, to, depth: depth + 1, total: total - split.left };
  const isSplittable = (packed: number) => !isLast && packedHessian(packed) >= 2 * rules.minChild;
  const [leftHistogram, rightHistogram] = childHistograms(
    growth,
    leaf.histogram,
    { ...left, isNeeded: isSplittable(left.total) },
    { ...right, isNeeded: isSplittable(right.total) },
  );
  return [
    { ...left, histogram: leftHistogram },
    { ...right, histogram: rightHistogram },
  ];
}

interface ChildRows {
  readonly from: number;
  readonly to: number;
  readonly isNeeded: boolean;
}

/** Builds the smaller child's histogram and takes the larger one's from the parent's, whose memory it gets. */
export function childHistograms(
  { columns, order, histograms, pool }: Growth,
  parent: Float64Array,
  left: ChildRows,
  right: ChildRows,
): [Float64Array | undefined, Float64Array | undefined] {
  if (!left.isNeeded && !right.isNeeded) {
    pool.give(parent);
    return [undefined, undefined];
  }
  const isLeftSmaller = left.to - left.from <= right.to - right.from;
  const smaller = isLeftSmaller ? left : right;
  const larger = isLeftSmaller ? right : left;
  const built = pool.take();
  const { rows, packed } = order;
  histograms({ columns, rows, packed: packed!, from: smaller.from, to: smaller.to }, built);
  if (larger.isNeeded) subtractHistogram(parent, built);
  else pool.give(parent);
  if (!smaller.isNeeded) pool.give(built);
  const ofSmaller = smaller.isNeeded ? built : undefined;
  const ofLarger = larger.isNeeded ? parent : undefined;
  return isLeftSmaller ? [ofSmaller, ofLarger] : [ofLarger, ofSmaller];
}
