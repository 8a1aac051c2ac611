import type { FeatureMatrix } from '../ml/index.ts';

/** Odd, so that no step of the hash loses a bit (MurmurHash3's). */
const LOW_FACTOR = 0x85ebca6b;
const HIGH_FACTOR = 0xc2b2ae35;

/** A text that is the same for matrices of the same names and values, and for others is not, but for one chance in 2^64. */
export function contentKey({ names, columns, rows }: FeatureMatrix): string {
  let low = rows;
  let high = columns.length;
  for (const column of columns) {
    const words = new Uint32Array(column.buffer, column.byteOffset, rows * 2);
    for (let word = 0; word < words.length; word += 2) {
      // Products carry upwards alone: what small whole numbers differ by, their highest bits, is brought down again.
      low = Math.imul(low ^ high ^ words[word]!, LOW_FACTOR);
      low ^= low >>> 15;
      high = Math.imul(high ^ low ^ words[word + 1]!, HIGH_FACTOR);
      high ^= high >>> 13;
    }
  }
  return `${names.join()} ${low >>> 0}.${high >>> 0}`;
}
