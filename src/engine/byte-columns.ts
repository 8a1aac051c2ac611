/**
 * Columns of signals, a byte a row, read four rows at a time: reading a million of them one by one takes as long as
 * simulating them.
 */

const LOWEST_BITS = 0x01010101;

/** First row with a value above `most`, the length when there is none. */
export function firstAbove(column: Uint8Array, most: number): number {
  let row = most === 1 ? rowsOfBits(column) : 0;
  while (row < column.length && column[row]! <= most) row++;
  return row;
}

/** Rows that are 1, in a column of zeros and ones. */
export function countSet(column: Uint8Array): number {
  const { head, words } = inWords(column);
  let count = 0;
  for (let row = 0; row < head; row++) count += column[row]!;
  for (let index = 0, { length } = words; index < length; index++) {
    const word = words[index]!;
    // The highest byte of the product is the sum of all four.
    if (word !== 0) count += Math.imul(word, LOWEST_BITS) >>> 24;
  }
  for (let row = head + 4 * words.length, { length } = column; row < length; row++) count += column[row]!;
  return count;
}

/** A number of rows from the first on that are certainly 0 or 1: all before the four in which the first other one is. */
function rowsOfBits(column: Uint8Array): number {
  const { head, words } = inWords(column);
  for (let row = 0; row < head; row++) if (column[row]! > 1) return row;
  let index = 0;
  while (index < words.length && (words[index]! & ~LOWEST_BITS) === 0) index++;
  return head + 4 * index;
}

/** The rows behind the first `head` ones as numbers of four bytes; up to three remain behind them. */
function inWords({ buffer, byteOffset, length }: Uint8Array) {
  const head = Math.min(length, -byteOffset & 3);
  const words = (length - head) >>> 2;
  return { head, words: new Int32Array(buffer, words > 0 ? byteOffset + head : 0, words) };
}
