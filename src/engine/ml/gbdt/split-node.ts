import { packedHessian } from './gradients.ts';
import type { Growth } from './growth.ts';
import { subtractHistogram } from './histogram.ts';
import { partitionRows } from './partition.ts';
import type { Split } from './split.ts';

/** The rows of a node: positions of the order. */
export interface NodeRows {
  readonly from: number;
  readonly to: number;
  /** Packed gradients. */
  readonly total: number;
  /** Absent where the node is too small to be split, or as deep as it may be. */
  readonly histogram: Float64Array | undefined;
}

/** All rows, which are the root's. */
export function rootRows({ columns, order, count, isEveryRow, histograms, pool }: Growth) {
  const packed = order.packed!;
  let total = 0;
  for (let i = 0; i < count; i++) total += packed[i]!;
  const histogram = pool.take();
  histograms({ columns, rows: isEveryRow ? null : order.rows, packed, from: 0, to: count }, histogram);
  return { from: 0, to: count, total, histogram };
}

/**
 * The rows of both children, the left one's first. The node's histogram is used up.
 *
 * @param isLast whether neither child will be split
 */
export function splitNode(
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
  // Packed gradients are moved along for the histograms only.
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

/** Builds the smaller child's histogram and takes the larger one's from the parent's, whose memory it gets. */
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
