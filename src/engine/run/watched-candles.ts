import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';

export interface WatchedCandles {
  /** The same columns, to be given to whoever must not write into them. */
  readonly candles: Candles;
  /** Whether anything was written into a column of `candles` since, by however little. */
  readonly changed: () => boolean;
}

/** Columns are hashed when they are first reached for: most strategies read one or two of the six. */
export function watchCandles(candles: Candles): WatchedCandles {
  const hashes = new Map<keyof Candles, number>();
  const watched = {};
  for (const name of CANDLE_COLUMNS) {
    const column = candles[name];
    const get = () => {
      hashes.set(name, hashColumn(column));
      // From here on as plain as any column: it may be read once a row.
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

/** FNV-1a's prime: odd, so that no step of the hash loses a bit. */
const PRIME = 0x01000193;

/** A hash of the column's bits without a copy. The halves of the numbers are hashed side by side, in half the time. */
function hashColumn(column: Float64Array): number {
  const words = new Uint32Array(column.buffer, column.byteOffset, column.length * 2);
  let low = 1;
  let high = 2;
  for (let word = 0; word < words.length; word += 2) {
    low = Math.imul(low ^ words[word]!, PRIME);
    high = Math.imul(high ^ words[word + 1]!, PRIME);
  }
  return Math.imul(low, PRIME) ^ high;
}
