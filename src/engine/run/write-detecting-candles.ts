import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';

export interface WriteDetectingCandles {
  /** The same columns, for code that must not write into them. */
  readonly candles: Candles;
  /** Whether a bit of a column changed since it was first read from `candles`. */
  readonly changed: () => boolean;
}

/** Detects writes into candles. Columns are hashed when they are first read: most strategies read one or two of the six. */
export function detectWrites(candles: Candles): WriteDetectingCandles {
  const hashes = new Map<keyof Candles, number>();
  const watched = {};
  for (const name of CANDLE_COLUMNS) {
    const column = candles[name];
    const get = () => {
      hashes.set(name, hashColumn(column));
      // From here on a plain property: it may be read once per row.
      Object.defineProperty(watched, name, { value: column, enumerable: true });
      return column;
    };
    Object.defineProperty(watched, name, { get, enumerable: true, configurable: true });
  }
  return {
    candles: watched as Candles,
    changed: () => [...hashes].some(([name, hash]) => hashColumn(candles[name]) !== hash),
  };
}

/** Odd, so that no step of the hash loses a bit; small, so that a product with 32 bits is exact as a number. */
const FACTOR = 31;

/**
 * Hash of the column's bits without a copy, as four independent hashes: each step of one depends on the step before.
 * Products of numbers, not `Math.imul`, which is a function call before TurboFan.
 */
function hashColumn(column: Float64Array): number {
  const words = new Uint32Array(column.buffer, column.byteOffset, column.length * 2);
  const whole = words.length & ~3;
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  for (let word = 0; word < whole; word += 4) {
    a = ((a ^ words[word]!) * FACTOR) | 0;
    b = ((b ^ words[word + 1]!) * FACTOR) | 0;
    c = ((c ^ words[word + 2]!) * FACTOR) | 0;
    d = ((d ^ words[word + 3]!) * FACTOR) | 0;
  }
  for (let word = whole; word < words.length; word++) a = ((a ^ words[word]!) * FACTOR) | 0;
  return ((((((a * FACTOR) ^ b) * FACTOR) ^ c) * FACTOR) ^ d) | 0;
}
