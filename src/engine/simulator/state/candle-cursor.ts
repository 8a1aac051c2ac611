import { type Candles, createCandles } from '../../candles.ts';
import type { Market } from './market.ts';

/**
 * The candle being simulated: a cursor on columns, reused for every candle. A call then boxes no price, and a candle of which
 * little is read costs little.
 */
export class CandleCursor {
  /** Row of the pair's main candle, also while detail candles are simulated. */
  row = 0;
  /** Open time, ms. */
  time = Number.NaN;
  /** True for a detail candle. */
  isDetail = false;
  #candles = createCandles(0);
  #index = 0;

  /** Moves to the main candle `row`. */
  load(market: Market, row: number): void {
    if (this.#candles !== market.candles) this.#candles = market.candles;
    this.isDetail = false;
    this.moveTo(market, row);
  }

  /** Moves from a main candle to another one of the same pair. */
  moveTo(market: Market, row: number): void {
    this.#index = row;
    this.row = row;
    this.time = market.timeOf(row);
  }

  /** Moves to row `index` of detail candles, within the main candle `row`. */
  loadDetail(detail: Candles, index: number, row: number): void {
    if (this.#candles !== detail) this.#candles = detail;
    this.isDetail = true;
    this.#index = index;
    this.row = row;
    this.time = detail.timestamp[index]!;
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

  /** True when a limit order at `price` fills: both ends of the candle count. */
  contains(price: number): boolean {
    return price >= this.low && price <= this.high;
  }
}
