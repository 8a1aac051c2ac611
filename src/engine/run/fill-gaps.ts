import { CANDLE_COLUMNS, type Candles, createCandles } from '#engine/candles.ts';

/** Candles without holes. */
export interface FilledCandles {
  readonly candles: Candles;
  /** How many were put in. */
  readonly filled: number;
}

/**
 * Fills holes in the grid with flat candles at the previous close and without volume, as upstream does when it loads data.
 * The very same columns come back when there is no hole.
 *
 * @param candles ascending, on the grid
 * @param stepMs length of a candle, ms
 */
export function fillGaps(candles: Candles, stepMs: number): FilledCandles {
  const rows = candles.timestamp.length;
  if (rows === 0) return { candles, filled: 0 };
  const first = candles.timestamp[0]!;
  const expected = (candles.timestamp[rows - 1]! - first) / stepMs + 1;
  if (expected === rows) return { candles, filled: 0 };
  const out = createCandles(expected);
  let source = 0;
  for (let row = 0; row < expected; row++) {
    const time = first + row * stepMs;
    if (candles.timestamp[source] === time) {
      for (const name of CANDLE_COLUMNS) out[name][row] = candles[name][source]!;
      source++;
      continue;
    }
    const price = out.close[row - 1]!;
    out.timestamp[row] = time;
    out.open[row] = price;
    out.high[row] = price;
    out.low[row] = price;
    out.close[row] = price;
  }
  return { candles: out, filled: expected - rows };
}
