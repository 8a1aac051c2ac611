import { type Candles, createCandles } from '../../candles.ts';

/**
 * The candle being simulated: a cursor on columns, reused for every candle, so that no call boxes a price and a candle in
 * which little is asked costs little.
 */
export class Bar {
  /** Row of the pair's main candle, also while detail candles are simulated. */
  row = 0;
  #candles = createCandles(0);
  #index = 0;
  #isDetail = false;
  readonly #timeframeMs: number;

  constructor(timeframeMs: number) {
    this.#timeframeMs = timeframeMs;
  }

  /** Moves to the main candle `row`. */
  load(candles: Candles, row: number): void {
    if (this.#candles !== candles) this.#candles = candles;
    this.#index = row;
    this.#isDetail = false;
    this.row = row;
  }

  /** Moves from a main candle to another one of the same pair. */
  moveTo(row: number): void {
    this.#index = row;
    this.row = row;
  }

  /** Moves to row `index` of detail candles, which belongs to main row `row`. */
  loadDetail(detail: Candles, index: number, row: number): void {
    if (this.#candles !== detail) this.#candles = detail;
    this.#index = index;
    this.#isDetail = true;
    this.row = row;
  }

  /** Open time, ms. That of a main candle is computed: its column is read nowhere else, and every look would wait for memory. */
  get time(): number {
    const { timestamp } = this.#candles;
    return this.#isDetail ? timestamp[this.#index]! : timestamp[0]! + this.#index * this.#timeframeMs;
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
