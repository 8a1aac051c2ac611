import type { FeatureMatrix } from '../ml/index.ts';

/** FNV-1a's prime: odd, so that no step of the hash loses a bit. */
const PRIME = 0x01000193;

/** A text that is the same for matrices of the same values, and for others is not, but for one chance in 2^64. */
export function contentKey({ columns, rows }: FeatureMatrix): string {
  let low = rows;
  let high = columns.length;
  for (const column of columns) {
    const words = new Uint32Array(column.buffer, column.byteOffset, rows * 2);
    for (let word = 0; word < words.length; word += 2) {
      low = Math.imul(low ^ words[word]!, PRIME);
      // Each half of a number reaches both halves of the hash.
      high = Math.imul(high ^ words[word + 1]! ^ (low >>> 13), PRIME);
    }
    low ^= high >>> 11;
  }
  return `${low >>> 0}.${high >>> 0}`;
}
