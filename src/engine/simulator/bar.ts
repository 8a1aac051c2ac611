import type { Candles } from '../candles.ts';

/** The candle being simulated, reused for every candle: prices travel in its fields so that no call boxes them. */
export class Bar {
  /** Open time, ms. */
  time = Number.NaN;
  open = Number.NaN;
  high = Number.NaN;
  low = Number.NaN;
  close = Number.NaN;
  /** Row of the pair's main candle, also while detail candles are simulated. */
  row = 0;

  /** Loads row `index` of `candles`, which belongs to main row `row`. */
  load(candles: Candles, index: number, row: number): void {
    this.time = candles.timestamp[index]!;
    this.open = candles.open[index]!;
    this.high = candles.high[index]!;
    this.low = candles.low[index]!;
    this.close = candles.close[index]!;
    this.row = row;
  }

  /** Whether a limit order at `price` fills: both ends of the candle count (1.5). */
  contains(price: number): boolean {
    return price >= this.low && price <= this.high;
  }
}
