import type { Columns } from './strategy.ts';

// Copies of arrays that a strategy has. It may change an array later, and replace a method of one: `slice` of such an array is a
// function of the strategy. The constructor reads the memory, without a call.

export const ownColumn = (column: Float64Array): Float64Array => new Float64Array(column);

export function ownColumns(columns: Columns): Columns {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, ownColumn(column)]));
}

/** A copy of the first rows. */
export function ownRows(column: Float64Array, rows: number): Float64Array {
  const own = new Float64Array(rows);
  for (let row = 0; row < rows; row++) own[row] = column[row]!;
  return own;
}

/** Undefined unless it is a `Uint8Array`. */
export const ownFlags = (column: unknown): Uint8Array | undefined =>
  ArrayBuffer.isView(column) && column instanceof Uint8Array ? new Uint8Array(column) : undefined;
