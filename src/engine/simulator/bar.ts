import { type Candles, createCandles } from '../candles.ts';

/**
 * The candle being simulated: a cursor on columns, reused for every candle, so that no call boxes a price and a candle in
 * which little is asked costs little.
 */
export class Bar {
  /** Row of the pair's main candle, also while detail candles are simulated. */
  row = 0;
  #candles = createCandles(0);
  #index = 0;

  /** Moves to row `index` of `candles`, which belongs to main row `row`. */
  load(candles: Candles, index: number, row: number): void {
    if (this.#candles !== candles) this.#candles = candles;
    this.#index = index;
    this.row = row;
  }

  /** Open time, ms. */
  get time(): number {
    return this.#candles.timestamp[this.#index]!;
  }
  get open(): number {
    return this.#candles.open[this.#index]!;
  }
  get high(): number {
    return this.#candles.high[this.#index]!;
  }
  get low(): number {
    return this.#candles.low[this.#index]!;
  }
  get close(): number {
    return this.#candles.close[this.#index]!;
  }

  /** Whether a limit order at `price` fills: both ends of the candle count (1.5). */
  contains(price: number): boolean {
    return price >= this.low && price <= this.high;
  }
}
