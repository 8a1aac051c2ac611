import type { BinnedMatrix } from '../features.ts';
import type { Kernel } from '../wasm/kernel.ts';

/** Addresses of what all rounds use, in the kernel's memory. */
export interface TrainingMemory {
  readonly kernel: Kernel;
  /** Log-odds of all rows. */
  readonly scores: number;
  /** By fitted row: 1 for label 0, -1 for label 1. */
  readonly signs: number;
  /** By fitted row. */
  readonly weights: number;
  readonly gradient: number;
  readonly hessian: number;
  /** Packed gradients by fitted row; before that, a buffer of the losses. */
  readonly packed: number;
  /** Rows in the order of a tree's nodes: each node holds a range, ascending within it. */
  readonly order: number;
  /** Rows from which a tree is not grown, in the same kind of order. */
  readonly routed: number;
  /** Buffer for the rows that go right. */
  readonly spare: number;
  /** By feature: a byte for each row. */
  readonly columns: readonly number[];
}

/** Takes the memory for `rows` rows, the first `fitted` of which are fitted. */
export function takeTrainingMemory(
  kernel: Kernel,
  { bins }: BinnedMatrix,
  rows: number,
  fitted: number,
): TrainingMemory {
  // The rows are processed in pairs.
  const doubles = (count: number) => kernel.take(8 * (count + 1));
  const memory = {
    kernel,
    scores: doubles(rows),
    signs: doubles(fitted),
    weights: doubles(fitted),
    gradient: doubles(fitted),
    hessian: doubles(fitted),
    packed: doubles(fitted),
    order: kernel.take(4 * rows),
    routed: kernel.take(4 * rows),
    spare: kernel.take(4 * (rows + 1)),
    columns: bins.map(() => kernel.take(rows)),
  };
  bins.forEach((column, feature) => {
    kernel.u8(memory.columns[feature]!, rows).set(column);
  });
  return memory;
}

/**
 * Moves the rows of [from, to) of an order that go left before those that go right; both keep their order.
 *
 * @returns the position of the first row on the right
 */
export function partitionRows(
  { kernel, spare, columns }: TrainingMemory,
  order: number,
  from: number,
  to: number,
  { cuts }: BinnedMatrix,
  feature: number,
  { bin, missingLeft }: { readonly bin: number; readonly missingLeft: boolean },
): number {
  const first = bin + 1;
  // The bins that go right are a range. It ends with the bin of missing values, or before it.
  const span = cuts[feature]!.length + 1 - first - (missingLeft ? 1 : 0);
  return kernel.run.partition(order, spare, from, to, columns[feature]!, first, span);
}
