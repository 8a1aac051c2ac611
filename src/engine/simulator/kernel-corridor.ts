import type { Candles } from '../candles.ts';

/** Rows whose range is measured before it is compared with the corridor. */
const CHUNK = 128;

/** Rows between the samples that a measurement starts from. */
const SAMPLE = 7;

/**
 * The prices between which nothing happens to an open trade, and the range of prices it has seen. Measuring the range of
 * a stretch of candles and comparing it once is what makes long stretches cheap.
 */
export class Corridor {
  /** A candle whose low is at or below it leaves the corridor. */
  bottom = Number.NaN;
  /** A candle whose high is at or above it leaves the corridor. */
  top = Number.NaN;
  /** Lowest and highest price seen since {@link reset}. */
  lowest = Number.NaN;
  highest = Number.NaN;
  /**
   * A sum of opens that nobody needs. The open of an exit lies in a column that is otherwise not read: looking at some opens
   * on the way lets the processor fetch it in time, which saves a fifth of a run.
   */
  opens = Number.NaN;
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  readonly #open: Float64Array;
  #chunkLow = Number.NaN;
  #chunkHigh = Number.NaN;

  constructor({ low, high, open }: Candles) {
    this.#low = low;
    this.#high = high;
    this.#open = open;
  }

  reset(): void {
    this.lowest = Number.POSITIVE_INFINITY;
    this.highest = Number.NEGATIVE_INFINITY;
  }

  /** First row in [from, to) that leaves the corridor, `to` when none does. Rows up to it, itself included, are seen. */
  leave(from: number, to: number): number {
    for (let start = from; start < to; start += CHUNK) {
      const end = Math.min(start + CHUNK, to);
      this.#measure(start, end);
      if (this.#chunkLow <= this.bottom || this.#chunkHigh >= this.top) {
        const row = this.#firstOutside(start);
        this.#measure(start, row + 1);
        this.#widen();
        return row;
      }
      this.#widen();
    }
    return to;
  }

  /** Widens the range seen by one row. */
  see(row: number): void {
    if (this.#low[row]! < this.lowest) this.lowest = this.#low[row]!;
    if (this.#high[row]! > this.highest) this.highest = this.#high[row]!;
  }

  #firstOutside(from: number): number {
    const low = this.#low;
    const high = this.#high;
    const { bottom, top } = this;
    let row = from;
    while (low[row]! > bottom && high[row]! < top) row++;
    return row;
  }

  #widen(): void {
    if (this.#chunkLow < this.lowest) this.lowest = this.#chunkLow;
    if (this.#chunkHigh > this.highest) this.highest = this.#chunkHigh;
  }

  /**
   * Range of the rows [from, to). A walk along prices sets a new extreme again and again, and each one is a mispredicted
   * branch: samples first leave few to be set.
   */
  #measure(from: number, to: number): void {
    const low = this.#low;
    const high = this.#high;
    const open = this.#open;
    let lowest = low[to - 1]!;
    let highest = high[to - 1]!;
    let opens = 0.5;
    for (let row = from; row < to; row += SAMPLE) {
      opens += open[row]!;
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
    }
    const last = to - 1;
    let row = from;
    for (; row < last; row += 2) {
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
      if (low[row + 1]! < lowest) lowest = low[row + 1]!;
      if (high[row + 1]! > highest) highest = high[row + 1]!;
    }
    this.opens = opens;
    this.#chunkLow = lowest;
    this.#chunkHigh = highest;
  }
}
