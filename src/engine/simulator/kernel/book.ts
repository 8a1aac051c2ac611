import { LONG, SHORT } from '../rules/exit-prices.ts';
import { closeValue, exactCloseValue, profitOf } from '../rules/money.ts';
import type { Market } from '../state/market.ts';
import { TradeBook } from '../state/trade-book.ts';
import type { Terms } from '../terms.ts';
import type { TradeTable } from '../trade-table.ts';
import type { Outcome, Outcomes, Trade } from '../types.ts';
import { KernelTrade } from './trade.ts';

// Places of a trade's numbers in its record, which is one cache line long.
const ENTRY_ROW = 0;
const EXIT_ROW = 1;
/** `4 * reason`, and 2 for a trade that was left open, and 1 for a long one. */
const KIND = 2;
const STAKE = 3;
const EXIT_PRICE = 4;
const SLIPPAGE = 5;
const STOP = 6;
const PROFIT = 7;
const RECORD = 8;

/** Records of a block. */
const BLOCK = 512;

/**
 * The closed trades of a kernel run in the order of closing. While it lasts only what cannot be computed again is kept: writing
 * all numbers of a trade takes a tenth of a run. Once somebody looks, each trade is opened again for the rest.
 */
export class KernelBook implements Outcomes {
  readonly #terms: Terms;
  readonly #market: Market;
  readonly #blocks: Float64Array[] = [];
  /** Of each trade; null where the pair has none. */
  readonly #fundings: number[] | null;
  readonly #reasons: string[] = [];
  #length = 0;
  #full: TradeBook | null = null;

  constructor(terms: Terms, market: Market) {
    this.#terms = terms;
    this.#market = market;
    this.#fundings = market.funding ? [] : null;
  }

  get length(): number {
    return this.#length;
  }

  get table(): TradeTable {
    return this.#whole().table;
  }

  /** The entries of the kernel are filled when they are ordered. */
  get filledAt(): Float64Array {
    return this.table.openedAt;
  }

  get trades(): readonly Trade[] {
    return this.#whole().trades;
  }

  at(row: number): Outcome {
    const block = this.#blocks[Math.floor(row / BLOCK)]!;
    const at = (row % BLOCK) * RECORD;
    return {
      pair: this.#market.input.pair,
      side: (block[at + KIND]! & 1) === 1 ? 'long' : 'short',
      openedAt: this.#timeOf(block[at + ENTRY_ROW]!),
      closedAt: this.#timeOf(block[at + EXIT_ROW]!),
      exitPrice: block[at + EXIT_PRICE]!,
      profit: block[at + PROFIT]!,
    };
  }

  /** Books `trade`, which has its exit, closed in `exitRow`, and returns its profit. */
  add(trade: KernelTrade, exitRow: number, leftOpen: boolean): number {
    const { direction, exitPrice } = trade;
    const row = this.#length++;
    if (row % BLOCK === 0) this.#blocks.push(new Float64Array(BLOCK * RECORD));
    const block = this.#blocks[this.#blocks.length - 1]!;
    const at = (row % BLOCK) * RECORD;
    const { amount, funding } = trade;
    const { fee } = this.#terms;
    const value =
      this.#market.grid === null
        ? closeValue(amount, exitPrice, fee, funding, direction)
        : exactCloseValue(amount, exitPrice, fee, funding, direction);
    const profit = profitOf(trade.paidValue, value, direction);
    block[at + ENTRY_ROW] = trade.entryRow;
    block[at + EXIT_ROW] = exitRow;
    block[at + KIND] =
      4 * this.#indexOf(trade.exitReason) + (leftOpen ? 2 : 0) + (direction === LONG ? 1 : 0);
    block[at + STAKE] = trade.orderedStake;
    block[at + EXIT_PRICE] = exitPrice;
    block[at + SLIPPAGE] = trade.slippageCost;
    block[at + STOP] = trade.stop;
    block[at + PROFIT] = profit;
    if (this.#fundings) this.#fundings.push(trade.funding);
    return profit;
  }

  #indexOf(reason: string): number {
    const reasons = this.#reasons;
    // They are few: quicker than a map, and than `indexOf`, which is not compiled with its caller.
    for (let index = 0; index < reasons.length; index++) if (reasons[index] === reason) return index;
    return reasons.push(reason) - 1;
  }

  #timeOf(row: number): number {
    return this.#market.candles.timestamp[0]! + row * this.#terms.timeframeMs;
  }

  #whole(): TradeBook {
    this.#full ??= this.#openAgain();
    return this.#full;
  }

  #openAgain(): TradeBook {
    const book = new TradeBook(this.#terms, [this.#market], this.#length);
    const trade = new KernelTrade(this.#market, this.#terms);
    for (let row = 0; row < this.#length; row++) {
      const block = this.#blocks[Math.floor(row / BLOCK)]!;
      const at = (row % BLOCK) * RECORD;
      const kind = block[at + KIND]!;
      trade.open(block[at + ENTRY_ROW]!, (kind & 1) === 1 ? LONG : SHORT, block[at + STAKE]!);
      trade.slippageCost = block[at + SLIPPAGE]!;
      trade.stop = block[at + STOP]!;
      trade.funding = this.#fundings ? this.#fundings[row]! : 0;
      const closedAt = this.#timeOf(block[at + EXIT_ROW]!);
      book.add(trade, closedAt, block[at + EXIT_PRICE]!, this.#reasons[kind >> 2]!, (kind & 2) === 2);
    }
    return book;
  }
}
