/**
 * Candles of one series as columns. All columns have the same length; row `i` is one candle.
 * Rows are ascending by time and on the timeframe's grid.
 */
export interface Candles {
  /** Open time of each candle, Unix milliseconds UTC. */
  readonly timestamp: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  /** Volume in base currency. */
  readonly volume: Float64Array;
}

/** Names of the numeric columns of {@link Candles}, in storage order. */
export const CANDLE_COLUMNS = ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const;

/** Allocates `length` zeroed candles. */
export function createCandles(length: number): Candles {
  return {
    timestamp: new Float64Array(length),
    open: new Float64Array(length),
    high: new Float64Array(length),
    low: new Float64Array(length),
    close: new Float64Array(length),
    volume: new Float64Array(length),
  };
}

/** Getter, then array, of each property of lazy candles. */
const given = new WeakMap<object, Map<keyof Candles, unknown>>();

/** Candles of which a column is made at its first read: most code reads one or two of the six. */
export function lazyCandles(make: (name: keyof Candles) => Float64Array): Candles {
  const candles = {};
  const properties = new Map<keyof Candles, unknown>();
  given.set(candles, properties);
  for (const name of CANDLE_COLUMNS) {
    const get = () => {
      const value = make(name);
      // A plain property from now on: it may be read once per row.
      Object.defineProperty(candles, name, { value, enumerable: true });
      properties.set(name, value);
      return value;
    };
    properties.set(name, get);
    Object.defineProperty(candles, name, { get, enumerable: true, configurable: true });
  }
  return candles as Candles;
}

/** True if each property of {@link lazyCandles} is the one that was given, and not one of the strategy's. */
export function isIntact(candles: Candles): boolean {
  const properties = given.get(candles);
  return CANDLE_COLUMNS.every((name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(candles, name) ?? {};
    return (get ?? value) === properties?.get(name);
  });
}

/** A view (no copy) of the candles in rows `[from, to)`. */
export function sliceCandles(candles: Candles, from: number, to: number): Candles {
  return {
    timestamp: candles.timestamp.subarray(from, to),
    open: candles.open.subarray(from, to),
    high: candles.high.subarray(from, to),
    low: candles.low.subarray(from, to),
    close: candles.close.subarray(from, to),
    volume: candles.volume.subarray(from, to),
  };
}

/** Index of the first candle that opens at or after `time` (ms); `length` without one. Binary search. */
export function indexAtOrAfter(timestamps: Float64Array, time: number): number {
  let low = 0;
  let high = timestamps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** All rows of the parts, in their order: the part itself when there is only one. */
export function joinCandles(parts: readonly Candles[]): Candles {
  if (parts.length === 1) return parts[0]!;
  const joined = createCandles(parts.reduce((rows, part) => rows + part.timestamp.length, 0));
  let row = 0;
  for (const part of parts) {
    for (const name of Object.keys(joined) as (keyof Candles)[]) joined[name].set(part[name], row);
    row += part.timestamp.length;
  }
  return joined;
}
