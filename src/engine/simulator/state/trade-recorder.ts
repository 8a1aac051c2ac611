import type { Candles } from '../../candles.ts';
import { round8 } from '../rules/decimals.ts';
import { bookedRatio, closeValue, exactCloseValue, profitOf } from '../rules/money.ts';
import { LONG } from '../rules/prices.ts';
import {
  type Outcome,
  type Outcomes,
  type SimulatedTrade,
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeOrder,
  type TradeTable,
  tradeAt,
} from '../trade-table.ts';
import type { CandleCursor } from './candle-cursor.ts';
import type { Market } from './market.ts';
import type { SimulationMemory } from './memory.ts';
import type { OrderHistory } from './order-history.ts';
import type { Position } from './position.ts';

/** Trades of a block of records. */
const BLOCK = 512;

// A record has the fields of TRADE_NUMBERS in their order, then these.
const MARKET = TRADE_NUMBERS.length;
/** Main row of the entry order; its signal carries the tag. */
const ENTRY_ROW = MARKET + 1;
/** 1 for a short, plus 2 for a trade left open, plus 4 * index of the exit reason. */
const KIND = MARKET + 2;
/** Time of the entry's fill, ms. */
const FILLED_AT = MARKET + 3;
/** Index of the orders of an adjusted trade, -1 without. */
const HISTORY = MARKET + 4;
/** What gaps beyond its stop earned, quote currency. */
const GAP_PROFIT = MARKET + 5;
const RECORD = MARKET + 6;

const OPENED_AT = TRADE_NUMBERS.indexOf('openedAt');
const CLOSED_AT = TRADE_NUMBERS.indexOf('closedAt');
const EXIT_PRICE = TRADE_NUMBERS.indexOf('exitPrice');
const AMOUNT = TRADE_NUMBERS.indexOf('amount');
const PROFIT = TRADE_NUMBERS.indexOf('profit');
const PROFIT_RATIO = TRADE_NUMBERS.indexOf('profitRatio');

/** A closed trade; `market` is the index of its market. */
export interface Closed
  extends Pick<SimulatedTrade, 'side' | 'closedAt' | 'profit' | 'profitRatio' | 'exitReason'> {
  readonly market: number;
}

/** Rows between the samples that a search for extremes begins with: few later rows then surprise the branch predictor. */
const SAMPLE = 8;

const SIDES = ['long', 'short'] as const;

/**
 * The closed trades of a run in the order of closing: records of numbers during the run, columns and objects at the first read.
 * Searching the candles of a trade for its price range takes as long as simulating the trade: that too waits until then.
 */
export class TradeRecorder implements Outcomes {
  readonly #fee = Number.NaN;
  readonly #markets: readonly Market[];
  readonly #memory: SimulationMemory;
  readonly #blocks: Float64Array[] = [];
  /** Exit reasons by index, and the reverse: a callback may give every trade a reason of its own. */
  readonly #reasons: string[] = [];
  readonly #reasonIndex = new Map<string, number>();
  /** The reason last looked up, and its index: most trades end for the same one. */
  #lastReason: string | null = null;
  #lastIndex = -1;
  readonly #histories: OrderHistory[] = [];
  /** Partial exits in the order of time. */
  readonly partialExits: { readonly time: number; readonly profit: number }[] = [];
  #length = 0;
  #lastClosedAt = Number.NEGATIVE_INFINITY;
  #isSorted = true;
  #table: TradeTable | null = null;
  #trades: readonly SimulatedTrade[] | null = null;

  /** `markets`: those of the run, each at its own index. */
  constructor(fee: number, markets: readonly Market[], memory: SimulationMemory) {
    this.#fee = fee;
    this.#markets = markets;
    this.#memory = memory;
  }

  get length(): number {
    return this.#length;
  }

  /** All trades as columns, built at the first read. */
  get table(): TradeTable {
    this.#table ??= this.#makeTable();
    return this.#table;
  }

  /** All trades as objects, built at the first read. */
  get trades(): readonly SimulatedTrade[] {
    this.#trades ??= Array.from({ length: this.#length }, (_, row) => tradeAt(this.table, row));
    return this.#trades;
  }

  /** Time of the entry's fill of each trade, ms; `openedAt` is that of the order. */
  get filledAt(): Float64Array {
    return this.#column(FILLED_AT);
  }

  /** What each trade earned by stops that filled at their price in a candle that opened beyond it, quote currency. */
  get gapProfit(): Float64Array {
    return this.#column(GAP_PROFIT);
  }

  /** Profit that partial exits of the trade in `row` had realized before it closed. */
  realizedBefore(row: number): number {
    const history = this.#read(row, HISTORY);
    return history < 0 ? 0 : this.#histories[history]!.realizedProfit;
  }

  /** Records a trade, closed in the present candle, and returns the profit of its last exit. */
  add(position: Position, { time: closedAt }: CandleCursor, leftOpen: boolean): number {
    const { market, direction, amount, entryPrice, exitPrice, leverage, paidValue, history } = position;
    const fee = this.#fee;
    const { openFunding } = position;
    const value =
      market.orderRules === null
        ? closeValue(amount, exitPrice, fee, openFunding, direction)
        : exactCloseValue(amount, exitPrice, fee, openFunding, direction);
    const lastProfit = profitOf(paidValue, value, direction);
    const profit = history === null ? lastProfit : round8(history.realizedProfit + lastProfit);
    const invested = history === null ? paidValue : history.entriesValue;
    if (closedAt < this.#lastClosedAt) this.#isSorted = false;
    this.#lastClosedAt = closedAt;
    const row = this.#length++;
    if (row % BLOCK === 0) this.#blocks.push(this.#memory.block(this.#blocks.length, BLOCK * RECORD));
    const block = this.#blocks[this.#blocks.length - 1]!;
    let at = (row % BLOCK) * RECORD;
    block[at++] = position.openedAt;
    block[at++] = closedAt;
    block[at++] = entryPrice;
    block[at++] = exitPrice;
    block[at++] = amount;
    block[at++] = position.stake;
    block[at++] = leverage;
    block[at++] = history === null ? amount * entryPrice * fee + amount * exitPrice * fee : history.fees;
    block[at++] = position.slippageCost;
    block[at++] = position.fundingSum.total;
    block[at++] = profit;
    block[at++] = bookedRatio(profit, invested, leverage);
    block[at++] = position.initialStop;
    block[at++] = position.stop;
    block[at++] = position.liquidation > 0 ? position.liquidation : Number.NaN;
    block[at++] = position.lowest;
    block[at++] = position.highest;
    block[at++] = market.index;
    block[at++] = position.entryRow;
    block[at++] =
      (direction === LONG ? 0 : 1) + (leftOpen ? 2 : 0) + 4 * this.#indexOf(position.order.reason);
    block[at++] = position.filledAt;
    block[at++] = history === null ? -1 : this.#histories.push(history) - 1;
    block[at++] = position.gapProfit;
    return lastProfit;
  }

  /** What protections read of the trade in `row`. */
  closed(row: number): Closed {
    const kind = this.#read(row, KIND);
    return {
      market: this.#read(row, MARKET),
      side: SIDES[kind & 1]!,
      closedAt: this.#read(row, CLOSED_AT),
      profit: this.#read(row, PROFIT),
      profitRatio: this.#read(row, PROFIT_RATIO),
      exitReason: this.#reasons[kind >>> 2]!,
    };
  }

  at(row: number): Outcome {
    const kind = this.#read(row, KIND);
    return {
      pair: this.#markets[this.#read(row, MARKET)]!.input.pair,
      side: SIDES[kind & 1]!,
      openedAt: this.#read(row, OPENED_AT),
      closedAt: this.#read(row, CLOSED_AT),
      exitPrice: this.#read(row, EXIT_PRICE),
      exitReason: this.#reasons[kind >>> 2]!,
      amount: this.#read(row, AMOUNT),
      profit: this.#read(row, PROFIT),
    };
  }

  /**
   * Sorts the trades in place by their time of closing. A trade left open is recorded at the end of the run, but closed earlier
   * if the candles of its pair end earlier. Trades closed at the same time keep their order.
   */
  sort(): void {
    if (this.#isSorted) return;
    const closedAt = this.#column(CLOSED_AT);
    const order = Array.from({ length: this.#length }, (_, row) => row);
    order.sort((a, b) => closedAt[a]! - closedAt[b]! || a - b);
    const before = this.#blocks.map((block) => block.slice());
    for (const [row, from] of order.entries()) {
      const at = (from % BLOCK) * RECORD;
      const record = before[Math.floor(from / BLOCK)]!.subarray(at, at + RECORD);
      this.#blocks[Math.floor(row / BLOCK)]!.set(record, (row % BLOCK) * RECORD);
    }
  }

  #read(row: number, field: number): number {
    return this.#blocks[Math.floor(row / BLOCK)]![(row % BLOCK) * RECORD + field]!;
  }

  #column(field: number): Float64Array {
    const column = new Float64Array(this.#length);
    let row = 0;
    for (const block of this.#blocks)
      for (let at = field; row < column.length && at < block.length; at += RECORD) column[row++] = block[at]!;
    return column;
  }

  #indexOf(reason: string): number {
    if (reason === this.#lastReason) return this.#lastIndex;
    this.#lastReason = reason;
    this.#lastIndex = this.#reasonIndex.get(reason) ?? this.#reasons.push(reason) - 1;
    this.#reasonIndex.set(reason, this.#lastIndex);
    return this.#lastIndex;
  }

  #makeTable(): TradeTable {
    const numbers = Object.fromEntries(
      TRADE_NUMBERS.map((name, field) => [name, this.#column(field)]),
    ) as Record<TradeNumber, Float64Array>;
    const market = Uint32Array.from(this.#column(MARKET));
    const kind = Uint32Array.from(this.#column(KIND));
    this.#findRanges(market, numbers);
    return {
      length: this.#length,
      pair: { texts: this.#markets.map(({ input }) => input.pair), index: market },
      side: { texts: SIDES, index: kind.map((each) => each & 1) },
      enterTag: this.#enterTags(market),
      exitReason: { texts: this.#reasons, index: kind.map((each) => each >>> 2) },
      ...numbers,
      leftOpen: Uint8Array.from(kind, (each) => (each >>> 1) & 1),
      orders: this.#orders(),
    };
  }

  #orders(): Map<number, readonly TradeOrder[]> {
    const orders = new Map<number, readonly TradeOrder[]>();
    if (this.#histories.length === 0) return orders;
    for (const [row, history] of this.#column(HISTORY).entries())
      if (history >= 0) orders.set(row, this.#histories[history]!.orders);
    return orders;
  }

  #enterTags(market: Uint32Array): TextColumn<string | null> {
    const entryRow = this.#column(ENTRY_ROW);
    const known = new Map<string | null, number>();
    const index = new Uint32Array(this.#length);
    for (let row = 0, { length } = index; row < length; row++) {
      const tag = this.#markets[market[row]!]!.enterTag(entryRow[row]!);
      const position = known.get(tag) ?? known.size;
      if (position === known.size) known.set(tag, position);
      index[row] = position;
    }
    return { texts: [...known.keys()], index };
  }

  /** Finds the price ranges of the trades that were recorded without: those of their candles. */
  #findRanges(market: Uint32Array, numbers: Record<TradeNumber, Float64Array>): void {
    const { closedAt, lowestPrice, highestPrice } = numbers;
    const filledAt = this.#column(FILLED_AT);
    for (let row = 0; row < this.#length; row++) {
      if (!Number.isNaN(lowestPrice[row]!)) continue;
      const traded = this.#markets[market[row]!]!;
      const from = traded.rowAt(filledAt[row]!);
      const to = traded.rowAt(closedAt[row]!);
      lowestPrice[row] = lowestIn(traded.candles, from, to);
      highestPrice[row] = highestIn(traded.candles, from, to);
    }
  }
}

/** Lowest price of the rows [from, to]. */
function lowestIn({ low }: Candles, from: number, to: number): number {
  let lowest = low[to]!;
  for (let row = from; row < to; row += SAMPLE) if (low[row]! < lowest) lowest = low[row]!;
  for (let row = from; row < to; row++) if (low[row]! < lowest) lowest = low[row]!;
  return lowest;
}

/** Highest price of the rows [from, to]. */
function highestIn({ high }: Candles, from: number, to: number): number {
  let highest = high[to]!;
  for (let row = from; row < to; row += SAMPLE) if (high[row]! > highest) highest = high[row]!;
  for (let row = from; row < to; row++) if (high[row]! > highest) highest = high[row]!;
  return highest;
}
