import { round8 } from './accounting.ts';
import type { EquityCurve, Outcomes } from './types.ts';

/**
 * The account of a run. Its equity is written stretch by stretch while the run lasts; the other columns follow from the closed
 * trades, and are made of them at the first look.
 */
export class AccountCurve implements EquityCurve {
  readonly timestamp: Float64Array;
  readonly equity: Float64Array;
  readonly #startingBalance: number;
  readonly #timeframeMs: number;
  readonly #book: Outcomes;
  #balance: Float64Array | null = null;
  #openTrades: Uint16Array | null = null;

  /** `timestamp`: open times of the candles, without holes. `book` may still be empty. */
  constructor(timestamp: Float64Array, startingBalance: number, timeframeMs: number, book: Outcomes) {
    this.timestamp = timestamp;
    this.equity = new Float64Array(timestamp.length);
    this.#startingBalance = startingBalance;
    this.#timeframeMs = timeframeMs;
    this.#book = book;
  }

  get balance(): Float64Array {
    this.#balance ??= this.#balances();
    return this.#balance;
  }

  get openTrades(): Uint16Array {
    this.#openTrades ??= this.#countOpen();
    return this.#openTrades;
  }

  #balances(): Float64Array {
    const balances = new Float64Array(this.timestamp.length);
    let cash = this.#startingBalance;
    let from = 0;
    for (let trade = 0; trade < this.#book.length; trade++) {
      const { closedAt, leftOpen, profit } = this.#book.at(trade);
      const to = this.#closingRow(closedAt, leftOpen);
      balances.fill(cash, from, to);
      cash = round8(cash + profit);
      from = to;
    }
    return balances.fill(cash, from);
  }

  #countOpen(): Uint16Array {
    const counts = new Uint16Array(this.timestamp.length);
    // First the changes in each row, then their running sum; both modulo 2^16.
    for (let trade = 0; trade < this.#book.length; trade++) {
      const { openedAt, closedAt, leftOpen } = this.#book.at(trade);
      counts[this.#rowOf(openedAt)]! += 1;
      counts[this.#closingRow(closedAt, leftOpen)]! -= 1;
    }
    for (let row = 1, { length } = counts; row < length; row++) counts[row]! += counts[row - 1]!;
    return counts;
  }

  /** What was left open is closed when the run ends, whenever the candles of its pair did. */
  #closingRow(closedAt: number, leftOpen: boolean): number {
    return leftOpen ? this.timestamp.length - 1 : this.#rowOf(closedAt);
  }

  #rowOf(time: number): number {
    return Math.floor((time - this.timestamp[0]!) / this.#timeframeMs);
  }
}
