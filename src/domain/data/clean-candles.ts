import { type Candles, createCandles } from '#engine/candles.ts';

export interface CleanBounds {
  /** Open times wanted: `[start, end)` ms; `end` is no later than the open candle. */
  readonly start: number;
  readonly end: number;
  /** Length of a candle, ms. */
  readonly step: number;
}

export interface CleanedCandles {
  /** Ascending by time, each time once, on the grid. */
  readonly candles: Candles;
  /** Rows left out because they cannot be true; those outside the bounds are not counted. */
  readonly rejected: number;
}

/**
 * What may be stored of candles from outside: within the bounds, on the timeframe's grid, in ascending order,
 * low <= open, close <= high, prices above 0, volume not negative. Of two candles of one time the later row counts.
 */
export function cleanCandles(raw: Candles, bounds: CleanBounds): CleanedCandles {
  const rows = new Map<number, number>();
  let rejected = 0;
  for (let i = 0; i < raw.timestamp.length; i++) {
    const time = raw.timestamp[i]!;
    if (!isPlausible(raw, i) || time % bounds.step !== 0) rejected++;
    else if (time >= bounds.start && time < bounds.end) rows.set(time, i);
  }
  const order = [...rows.keys()].sort((a, b) => a - b).map((time) => rows.get(time)!);
  return { candles: pickRows(raw, order), rejected };
}

function isPlausible({ timestamp, open, high, low, close, volume }: Candles, i: number): boolean {
  return (
    Number.isSafeInteger(timestamp[i]!) &&
    low[i]! > 0 &&
    high[i]! < Infinity &&
    low[i]! <= Math.min(open[i]!, close[i]!) &&
    high[i]! >= Math.max(open[i]!, close[i]!) &&
    volume[i]! >= 0 &&
    volume[i]! < Infinity
  );
}

/** The candles of those rows, in that order. */
export function pickRows(candles: Candles, rows: readonly number[]): Candles {
  const picked = createCandles(rows.length);
  rows.forEach((row, i) => {
    picked.timestamp[i] = candles.timestamp[row]!;
    picked.open[i] = candles.open[row]!;
    picked.high[i] = candles.high[row]!;
    picked.low[i] = candles.low[row]!;
    picked.close[i] = candles.close[row]!;
    picked.volume[i] = candles.volume[row]!;
  });
  return picked;
}
