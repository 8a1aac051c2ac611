import type { BinnedMatrix } from '../features.ts';

/** Rows in the order of the tree's nodes: each node holds a range, ascending within it. */
export interface RowOrder {
  readonly rows: Int32Array;
  /** Packed gradients by position; null when no histogram is built. */
  readonly packed: Float64Array | null;
  /** Buffers of the same lengths for the rows that go right. */
  readonly spareRows: Int32Array;
  readonly sparePacked: Float64Array | null;
}

/**
 * Moves the rows of [from, to) that go left before those that go right; both keep their order.
 *
 * @returns the position of the first row on the right
 */
export function partitionRows(
  order: RowOrder,
  from: number,
  to: number,
  binned: BinnedMatrix,
  feature: number,
  bin: number,
  missingLeft: boolean,
): number {
  const column = binned.bins[feature]!;
  const first = bin + 1;
  // The bins that go right are a range. It ends with the bin of missing values, or before it.
  const span = binned.cuts[feature]!.length + 1 - first - (missingLeft ? 1 : 0);
  const { rows, packed, spareRows, sparePacked } = order;
  return packed && sparePacked
    ? splitBoth(rows, packed, spareRows, sparePacked, from, to, column, first, span)
    : splitRows(rows, spareRows, from, to, column, first, span);
}

// Branch-free, because the side of a row is unpredictable.
function splitBoth(
  rows: Int32Array,
  packed: Float64Array,
  spareRows: Int32Array,
  sparePacked: Float64Array,
  from: number,
  to: number,
  column: Uint8Array,
  first: number,
  span: number,
): number {
  let left = from;
  let right = 0;
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    const value = packed[i]!;
    const distance = column[row]! - first;
    const goesLeft = (distance | (span - distance)) >>> 31;
    rows[left] = row;
    packed[left] = value;
    spareRows[right] = row;
    sparePacked[right] = value;
    left += goesLeft;
    right += 1 - goesLeft;
  }
  for (let k = 0; k < right; k++) {
    rows[left + k] = spareRows[k]!;
    packed[left + k] = sparePacked[k]!;
  }
  return left;
}

function splitRows(
  rows: Int32Array,
  spareRows: Int32Array,
  from: number,
  to: number,
  column: Uint8Array,
  first: number,
  span: number,
): number {
  let left = from;
  let right = 0;
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    const distance = column[row]! - first;
    const goesLeft = (distance | (span - distance)) >>> 31;
    rows[left] = row;
    spareRows[right] = row;
    left += goesLeft;
    right += 1 - goesLeft;
  }
  for (let k = 0; k < right; k++) rows[left + k] = spareRows[k]!;
  return left;
}
