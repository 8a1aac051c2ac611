// Signal columns have one byte per row and are read four rows at a time. Reading a million rows one by one takes as long as
// simulating them.

const LOWEST_BITS = 0x01010101;
const OTHER_BITS = ~LOWEST_BITS;

/** First row with a value above `max`; the length without one. */
export function firstAbove(column: Uint8Array, max: number): number {
  let row = max === 1 ? rowsOfBits(column) : 0;
  while (row < column.length && column[row]! <= max) row++;
  return row;
}

/** Number of rows that are 1, in a column of zeros and ones. */
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

/** Number of leading rows that are 0 or 1: all rows before the word with the first other value. */
function rowsOfBits(column: Uint8Array): number {
  const { head, words } = inWords(column);
  for (let row = 0; row < head; row++) if (column[row]! > 1) return row;
  const { length } = words;
  let index = 0;
  while (index < length && (words[index]! & OTHER_BITS) === 0) index++;
  return head + 4 * index;
}

/** The column as four-byte words after the first `head` rows; up to three rows remain after the words. */
function inWords({ buffer, byteOffset, length }: Uint8Array) {
  const head = Math.min(length, -byteOffset & 3);
  const words = (length - head) >>> 2;
  return { head, words: new Int32Array(buffer, words > 0 ? byteOffset + head : 0, words) };
}
