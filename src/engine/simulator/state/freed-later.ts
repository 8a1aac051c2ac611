/** What trades that ended inside one candle leave. */
class Ends {
  /** End of that candle, ms. */
  until = Number.NEGATIVE_INFINITY;
  slots = 0;
  collateral = 0;
  profit = 0;

  begin(until: number): void {
    this.until = until;
    this.slots = 0;
    this.collateral = 0;
    this.profit = 0;
  }
}

/**
 * Slots and money of trades that ended inside a candle. In the conservative fill model they are free from the next candle on; the
 * freqtrade model gives them to entries of the same candle, which then are counted.
 */
export class FreedLater {
  slots = 0;
  /** Collateral less the loss, quote currency. */
  collateral = 0;
  /** Profit; a loss counts at once. */
  profit = 0;
  /** Main candles and detail candles end at different times: a pair without detail candles ends a trade in the main one. */
  readonly #main = new Ends();
  readonly #detail = new Ends();
  #until = Number.NEGATIVE_INFINITY;

  /**
   * Adds an exit inside a candle.
   *
   * @param until end of the candle, ms
   * @param slots 1, or 0 for a partial exit
   * @param collateral of what was closed
   */
  add(until: number, isDetail: boolean, slots: number, collateral: number, profit: number): void {
    const ends = isDetail ? this.#detail : this.#main;
    if (ends.until !== until) ends.begin(until);
    if (until > this.#until) this.#until = until;
    ends.slots += slots;
    if (profit > 0) ends.profit += profit;
    ends.collateral += Math.max(0, profit > 0 ? collateral : collateral + profit);
  }

  /** True if anything is not free at `time`, ms: the sums are then those of that time. */
  read(time: number): boolean {
    if (this.#until <= time) return false;
    const hasMain = this.#main.until > time;
    const hasDetail = this.#detail.until > time;
    this.slots = (hasMain ? this.#main.slots : 0) + (hasDetail ? this.#detail.slots : 0);
    this.collateral = (hasMain ? this.#main.collateral : 0) + (hasDetail ? this.#detail.collateral : 0);
    this.profit = (hasMain ? this.#main.profit : 0) + (hasDetail ? this.#detail.profit : 0);
    return true;
  }
}
