import { closeValue, profitOf } from './accounting.ts';
import { KernelTrade } from './kernel-trade.ts';
import type { Market } from './market.ts';
import type { Direction } from './rules.ts';
import type { Terms } from './terms.ts';
import { TradeBook } from './trade-book.ts';
import type { TradeTable } from './trade-table.ts';
import type { Outcome, Outcomes, Trade } from './types.ts';

// Places of a trade's numbers in its record, which is one cache line long.
const ENTRY_ROW = 0;
const EXIT_ROW = 1;
const DIRECTION = 2;
/** Index of the exit's reason; `-1 - index` when the trade was left open. */
const REASON = 3;
const STAKE = 4;
const EXIT_PRICE = 5;
const SLIPPAGE = 6;
const STOP = 7;
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

  get trades(): readonly Trade[] {
    return this.#whole().trades;
  }

  at(row: number): Outcome {
    return this.#whole().at(row);
  }

  /** Books `trade`, which has its exit, closed in `exitRow`, and returns its profit. */
  add(trade: KernelTrade, exitRow: number, leftOpen: boolean): number {
    const { direction, exitPrice } = trade;
    const row = this.#length++;
    if (row % BLOCK === 0) this.#blocks.push(new Float64Array(BLOCK * RECORD));
    const block = this.#blocks[this.#blocks.length - 1]!;
    const at = (row % BLOCK) * RECORD;
    const reason = this.#indexOf(trade.exitReason);
    block[at + ENTRY_ROW] = trade.entryRow;
    block[at + EXIT_ROW] = exitRow;
    block[at + DIRECTION] = direction;
    block[at + REASON] = leftOpen ? -1 - reason : reason;
    block[at + STAKE] = trade.stake;
    block[at + EXIT_PRICE] = exitPrice;
    block[at + SLIPPAGE] = trade.slippageCost;
    block[at + STOP] = trade.stop;
    if (this.#fundings) this.#fundings.push(trade.funding);
    const value = closeValue(trade.amount, exitPrice, this.#terms.fee, trade.funding, direction);
    return profitOf(trade.openValue, value, direction);
  }

  #indexOf(reason: string): number {
    const reasons = this.#reasons;
    // They are few: quicker than a map, and than `indexOf`, which is not compiled with its caller.
    for (let index = 0; index < reasons.length; index++) if (reasons[index] === reason) return index;
    return reasons.push(reason) - 1;
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
      trade.open(block[at + ENTRY_ROW]!, block[at + DIRECTION] as Direction, block[at + STAKE]!);
      trade.slippageCost = block[at + SLIPPAGE]!;
      trade.stop = block[at + STOP]!;
      trade.funding = this.#fundings?.[row] ?? 0;
      const reason = block[at + REASON]!;
      const leftOpen = reason < 0;
      const text = this.#reasons[leftOpen ? -1 - reason : reason]!;
      book.add(trade, trade.timeOf(block[at + EXIT_ROW]!), block[at + EXIT_PRICE]!, text, leftOpen);
    }
    return book;
  }
}
