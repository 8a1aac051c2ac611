import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom } from '#engine/random.ts';

export const MINUTE = 60_000;
export const START = Date.UTC(2024, 0, 1);

/** Random walk of `count` valid candles from `from`, deterministic by seed. */
export function walk(count: number, stepMs: number, seed = 1, from = START): Candles {
  const random = createRandom(seed);
  const candles = createCandles(count);
  let price = 100;
  for (let row = 0; row < count; row++) {
    const open = price;
    price *= 1 + (random() - 0.5) * 0.02;
    candles.timestamp[row] = from + row * stepMs;
    candles.open[row] = open;
    candles.close[row] = price;
    candles.high[row] = Math.max(open, price) * (1 + random() * 0.005);
    candles.low[row] = Math.min(open, price) * (1 - random() * 0.005);
    candles.volume[row] = random() * 100;
  }
  return candles;
}

/** Candles without the given rows. */
export function without(candles: Candles, rows: readonly number[]): Candles {
  const keep = (column: Float64Array) => column.filter((_, row) => !rows.includes(row));
  return {
    timestamp: keep(candles.timestamp),
    open: keep(candles.open),
    high: keep(candles.high),
    low: keep(candles.low),
    close: keep(candles.close),
    volume: keep(candles.volume),
  };
}
