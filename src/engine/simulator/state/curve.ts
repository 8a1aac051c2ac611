import { round8 } from '../rules/decimals.ts';
import type { TradeTable } from '../trade-table.ts';
import type { EquityCurve } from '../types.ts';

/** Where the closed trades come to be. */
interface Book {
  readonly table: TradeTable;
  /** When the entry of each trade was filled, ms. */
  readonly filledAt: Float64Array;
}

/**
 * The account of a run. Its equity is written stretch by stretch while the run lasts; the other columns follow from the closed
 * trades, and are made of them at the first look.
 */
export class AccountCurve implements EquityCurve {
  readonly timestamp: Float64Array;
  readonly equity: Float64Array;
  readonly #startingBalance: number;
  readonly #timeframeMs: number;
  readonly #book: Book;
  #balance: Float64Array | null = null;
  #openTrades: Uint16Array | null = null;

  /** `timestamp`: open times of the candles, without holes. `book` may still be empty. */
  constructor(timestamp: Float64Array, startingBalance: number, timeframeMs: number, book: Book) {
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
    let atEnd = 0;
    const { table } = this.#book;
    for (let trade = 0; trade < table.length; trade++) {
      if (table.leftOpen[trade] === 1) {
        atEnd = round8(atEnd + table.profit[trade]!);
        continue;
      }
      const to = this.#rowOf(table.closedAt[trade]!);
      balances.fill(cash, from, to);
      cash = round8(cash + table.profit[trade]!);
      from = to;
    }
    const last = this.timestamp.length - 1;
    balances.fill(cash, from, last);
    return balances.fill(round8(cash + atEnd), Math.max(last, 0));
  }

  #countOpen(): Uint16Array {
    const counts = new Uint16Array(this.timestamp.length);
    // First the changes in each row, then their running sum; both modulo 2^16.
    const { table, filledAt } = this.#book;
    for (let trade = 0; trade < table.length; trade++) {
      counts[this.#rowOf(filledAt[trade]!)]! += 1;
      counts[this.#closingRow(table, trade)]! -= 1;
    }
    for (let row = 1, { length } = counts; row < length; row++) counts[row]! += counts[row - 1]!;
    return counts;
  }

  /** What was left open is closed when the run ends, whenever the candles of its pair did. */
  #closingRow({ leftOpen, closedAt }: TradeTable, trade: number): number {
    return leftOpen[trade] === 1 ? this.timestamp.length - 1 : this.#rowOf(closedAt[trade]!);
  }

  #rowOf(time: number): number {
    return Math.floor((time - this.timestamp[0]!) / this.#timeframeMs);
  }
}
