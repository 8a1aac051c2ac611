import type { Candles } from '../candles.ts';
import { closeValue, openValue, profitOf, profitRatioOf } from './accounting.ts';
import type { Market } from './market.ts';
import { type Direction, LONG } from './rules.ts';
import type { Terms } from './terms.ts';
import { type TextColumn, type TradeTable, tradeAt } from './trade-table.ts';
import type { Outcome, Outcomes, Trade } from './types.ts';

// Places of a trade's numbers in its record.
const MARKET = 0;
const DIRECTION = 1;
const ENTRY_ROW = 2;
const OPENED_AT = 3;
const CLOSED_AT = 4;
const REASON = 5;
const STAKE = 6;
const LEVERAGE = 7;
const AMOUNT = 8;
const ENTRY_PRICE = 9;
const EXIT_PRICE = 10;
const SLIPPAGE = 11;
const FUNDING = 12;
const INITIAL_STOP = 13;
const STOP = 14;
const LIQUIDATION = 15;
const LOWEST = 16;
const HIGHEST = 17;
const LEFT_OPEN = 18;
const RECORD = 19;

/** Records of a block. */
const BLOCK = 512;

/** Rows between the samples that a search for extremes begins with: few further ones then surprise the branch predictor. */
const SAMPLE = 8;

/** What the book keeps of an open trade when it closes. */
interface Closing {
  readonly market: Market;
  readonly direction: Direction;
  readonly leverage: number;
  /** Main row of the entry order; its signal carries the tag. */
  readonly entryRow: number;
  /** Open time of the entry candle, ms. */
  readonly openedAt: number;
  readonly stake: number;
  readonly amount: number;
  readonly entryPrice: number;
  readonly openValue: number;
  readonly slippageCost: number;
  readonly funding: number;
  readonly initialStop: number;
  readonly stop: number;
  /** 0 for none. */
  readonly liquidation: number;
  /** Lowest and highest price from the entry to the exit; NaN: those of the candles from the one's to the other's. */
  readonly lowest: number;
  readonly highest: number;
}

/**
 * The closed trades of a run in the order of closing: records of numbers while the run lasts, columns or objects once
 * somebody looks. Searching the candles of a trade for its price range takes as long as simulating the trade.
 */
export class TradeBook implements Outcomes {
  readonly #terms: Terms;
  readonly #markets: readonly Market[];
  readonly #blocks: Float64Array[] = [];
  readonly #reasons: string[] = [];
  readonly #reasonIndex = new Map<string, number>();
  #length = 0;
  #table: TradeTable | null = null;
  #trades: readonly Trade[] | null = null;
  #lowest = Number.NaN;
  #highest = Number.NaN;

  /** `markets`: those of the run, each at its own index. */
  constructor(terms: Terms, markets: readonly Market[]) {
    this.#terms = terms;
    this.#markets = markets;
  }

  get length(): number {
    return this.#length;
  }

  /** All trades as columns, made at the first look. */
  get table(): TradeTable {
    this.#table ??= this.#makeTable();
    return this.#table;
  }

  /** All trades as objects, built at the first look. */
  get trades(): readonly Trade[] {
    this.#trades ??= Array.from({ length: this.#length }, (_, row) => tradeAt(this.table, row));
    return this.#trades;
  }

  /** Books `trade`, closed at `price` in the candle of `closedAt` (ms), and returns its profit. */
  add(trade: Closing, closedAt: number, price: number, reason: string, leftOpen: boolean): number {
    const { direction, amount, funding } = trade;
    const row = this.#length++;
    if (row % BLOCK === 0) this.#blocks.push(new Float64Array(BLOCK * RECORD));
    const block = this.#blocks[this.#blocks.length - 1]!;
    const at = (row % BLOCK) * RECORD;
    block[at + MARKET] = trade.market.index;
    block[at + DIRECTION] = direction;
    block[at + ENTRY_ROW] = trade.entryRow;
    block[at + OPENED_AT] = trade.openedAt;
    block[at + CLOSED_AT] = closedAt;
    block[at + REASON] = this.#indexOf(reason);
    block[at + STAKE] = trade.stake;
    block[at + LEVERAGE] = trade.leverage;
    block[at + AMOUNT] = amount;
    block[at + ENTRY_PRICE] = trade.entryPrice;
    block[at + EXIT_PRICE] = price;
    block[at + SLIPPAGE] = trade.slippageCost;
    block[at + FUNDING] = funding;
    block[at + INITIAL_STOP] = trade.initialStop;
    block[at + STOP] = trade.stop;
    block[at + LIQUIDATION] = trade.liquidation;
    block[at + LOWEST] = trade.lowest;
    block[at + HIGHEST] = trade.highest;
    block[at + LEFT_OPEN] = leftOpen ? 1 : 0;
    const value = closeValue(amount, price, this.#terms.fee, funding, direction);
    return profitOf(trade.openValue, value, direction);
  }

  at(row: number): Outcome {
    const { fee } = this.#terms;
    const block = this.#blocks[Math.floor(row / BLOCK)]!;
    const at = (row % BLOCK) * RECORD;
    const direction = block[at + DIRECTION] as Direction;
    const amount = block[at + AMOUNT]!;
    const exitPrice = block[at + EXIT_PRICE]!;
    const open = openValue(amount, block[at + ENTRY_PRICE]!, fee, direction);
    const close = closeValue(amount, exitPrice, fee, block[at + FUNDING]!, direction);
    return {
      pair: this.#markets[block[at + MARKET]!]!.input.pair,
      side: direction === LONG ? 'long' : 'short',
      openedAt: block[at + OPENED_AT]!,
      closedAt: block[at + CLOSED_AT]!,
      exitPrice,
      profit: profitOf(open, close, direction),
      leftOpen: block[at + LEFT_OPEN] === 1,
    };
  }

  #indexOf(reason: string): number {
    const known = this.#reasonIndex.get(reason);
    if (known !== undefined) return known;
    this.#reasonIndex.set(reason, this.#reasons.length);
    return this.#reasons.push(reason) - 1;
  }

  #makeTable(): TradeTable {
    const length = this.#length;
    const numbers = (place: number) => this.#column(place, new Float64Array(length));
    const indexes = (place: number) => this.#column(place, new Uint32Array(length));
    const directions = this.#column(DIRECTION, new Int8Array(length));
    const money = {
      amount: numbers(AMOUNT),
      entryPrice: numbers(ENTRY_PRICE),
      exitPrice: numbers(EXIT_PRICE),
      leverage: numbers(LEVERAGE),
      funding: numbers(FUNDING),
    };
    return {
      length,
      pair: { texts: this.#markets.map(({ input }) => input.pair), index: indexes(MARKET) },
      side: {
        texts: ['long', 'short'],
        index: new Uint32Array(directions.map((each) => (each === LONG ? 0 : 1))),
      },
      enterTag: this.#enterTags(),
      exitReason: { texts: this.#reasons, index: indexes(REASON) },
      openedAt: numbers(OPENED_AT),
      closedAt: numbers(CLOSED_AT),
      stake: numbers(STAKE),
      slippageCost: numbers(SLIPPAGE),
      ...money,
      ...priced(money, directions, this.#terms.fee),
      initialStopPrice: numbers(INITIAL_STOP),
      stopPrice: numbers(STOP),
      liquidationPrice: numbers(LIQUIDATION).map((price) => (price > 0 ? price : Number.NaN)),
      ...this.#priceRanges(),
      leftOpen: this.#column(LEFT_OPEN, new Uint8Array(length)),
    };
  }

  /** Copies what stands in one place of every record. */
  #column<T extends Float64Array | Uint32Array | Uint8Array | Int8Array>(place: number, out: T): T {
    for (let row = 0, { length } = out; row < length; row++)
      out[row] = this.#blocks[Math.floor(row / BLOCK)]![(row % BLOCK) * RECORD + place]!;
    return out;
  }

  #enterTags(): TextColumn<string | null> {
    const places = new Map<string | null, number>();
    const index = new Uint32Array(this.#length);
    for (let row = 0, { length } = index; row < length; row++) {
      const block = this.#blocks[Math.floor(row / BLOCK)]!;
      const at = (row % BLOCK) * RECORD;
      const tag = this.#markets[block[at + MARKET]!]!.enterTag(block[at + ENTRY_ROW]!);
      const place = places.get(tag) ?? places.size;
      if (place === places.size) places.set(tag, place);
      index[row] = place;
    }
    return { texts: [...places.keys()], index };
  }

  #priceRanges(): Pick<TradeTable, 'lowestPrice' | 'highestPrice'> {
    const lowestPrice = new Float64Array(this.#length);
    const highestPrice = new Float64Array(this.#length);
    for (let row = 0, { length } = lowestPrice; row < length; row++) {
      const block = this.#blocks[Math.floor(row / BLOCK)]!;
      const at = (row % BLOCK) * RECORD;
      this.#findRange(this.#markets[block[at + MARKET]!]!, block, at);
      lowestPrice[row] = this.#lowest;
      highestPrice[row] = this.#highest;
    }
    return { lowestPrice, highestPrice };
  }

  /** Sets `#lowest` and `#highest` to the prices of a record, or to those of its candles when it has none. */
  #findRange({ candles }: Market, block: Float64Array, at: number): void {
    this.#lowest = block[at + LOWEST]!;
    this.#highest = block[at + HIGHEST]!;
    if (!Number.isNaN(this.#lowest)) return;
    const { timeframeMs } = this.#terms;
    const start = candles.timestamp[0]!;
    const from = Math.floor((block[at + OPENED_AT]! - start) / timeframeMs);
    const to = Math.floor((block[at + CLOSED_AT]! - start) / timeframeMs);
    this.#measure(candles, from, to);
  }

  /** Sets `#lowest` and `#highest` to the range of the rows [from, to]. */
  #measure({ low, high }: Candles, from: number, to: number): void {
    let lowest = low[to]!;
    let highest = high[to]!;
    for (let row = from; row < to; row += SAMPLE) {
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
    }
    for (let row = from; row < to; row++) {
      if (low[row]! < lowest) lowest = low[row]!;
      if (high[row]! > highest) highest = high[row]!;
    }
    this.#lowest = lowest;
    this.#highest = highest;
  }
}

/** What follows from the prices, amounts and fees of trades. */
function priced(
  money: Pick<TradeTable, 'amount' | 'entryPrice' | 'exitPrice' | 'leverage' | 'funding'>,
  directions: Int8Array,
  fee: number,
): Pick<TradeTable, 'fees' | 'profit' | 'profitRatio'> {
  const fees = new Float64Array(directions.length);
  const profit = new Float64Array(directions.length);
  const profitRatio = new Float64Array(directions.length);
  for (let row = 0, { length } = fees; row < length; row++) {
    const direction = directions[row] as Direction;
    const amount = money.amount[row]!;
    const entryPrice = money.entryPrice[row]!;
    const exitPrice = money.exitPrice[row]!;
    const open = openValue(amount, entryPrice, fee, direction);
    const close = closeValue(amount, exitPrice, fee, money.funding[row]!, direction);
    fees[row] = amount * entryPrice * fee + amount * exitPrice * fee;
    profit[row] = profitOf(open, close, direction);
    profitRatio[row] = profitRatioOf(open, close, money.leverage[row]!, direction);
  }
  return { fees, profit, profitRatio };
}
