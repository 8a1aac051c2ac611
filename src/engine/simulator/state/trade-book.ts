import type { Candles } from '../../candles.ts';
import { type Direction, LONG } from '../rules/exit-prices.ts';
import { bookedRatio, closeValue, exactCloseValue, profitOf } from '../rules/money.ts';
import type { Terms } from '../terms.ts';
import {
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeTable,
  tradeAt,
} from '../trade-table.ts';
import type { Outcome, Outcomes, Trade } from '../types.ts';
import type { Market } from './market.ts';

/** Trades for which there is room at first; it doubles. */
const ROOM = 256;

/** Rows between the samples that a search for extremes begins with: few further ones then surprise the branch predictor. */
const SAMPLE = 8;

const SIDES = ['long', 'short'] as const;

/** What the book keeps of an open trade when it closes. */
interface Closing {
  readonly market: Market;
  readonly direction: Direction;
  readonly leverage: number;
  /** Main row of the entry order; its signal carries the tag. */
  readonly entryRow: number;
  /** Open times of the candles in which the entry was ordered and filled, ms. */
  readonly openedAt: number;
  readonly filledAt: number;
  readonly stake: number;
  readonly amount: number;
  readonly entryPrice: number;
  readonly paidValue: number;
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

/** The numbers of trades, with room for more of them. */
type Columns = Readonly<Record<TradeNumber, Float64Array>> & {
  readonly market: Uint32Array;
  /** Index of the side: 0 is long. */
  readonly side: Uint32Array;
  /** Main row of the entry order. */
  readonly entryRow: Uint32Array;
  readonly exitReason: Uint32Array;
  readonly leftOpen: Uint8Array;
  /** Time of the entry's fill, ms. */
  readonly filledAt: Float64Array;
};

/**
 * The closed trades of a run in the order of closing: columns of numbers while the run lasts, objects once somebody looks.
 * Searching the candles of a trade for its price range takes as long as simulating the trade: that too waits until then.
 */
export class TradeBook implements Outcomes {
  readonly #terms: Terms;
  readonly #markets: readonly Market[];
  /** Reasons by their place, and the places by reason: a callback may give every trade one of its own. */
  readonly #reasons: string[] = [];
  readonly #places = new Map<string, number>();
  #columns: Columns;
  #room: number;
  #length = 0;
  #table: TradeTable | null = null;
  #trades: readonly Trade[] | null = null;
  #lowest = Number.NaN;
  #highest = Number.NaN;

  /** `markets`: those of the run, each at its own index. `room`: for how many trades. */
  constructor(terms: Terms, markets: readonly Market[], room = ROOM) {
    this.#terms = terms;
    this.#markets = markets;
    this.#room = room;
    this.#columns = columnsFor(room, null);
  }

  get length(): number {
    return this.#length;
  }

  /** All trades as columns, made at the first look. */
  get table(): TradeTable {
    this.#table ??= this.#makeTable();
    return this.#table;
  }

  /** When the entry of each trade was filled, ms; a trade's `openedAt` is when it was ordered. */
  get filledAt(): Float64Array {
    return this.#columns.filledAt.subarray(0, this.#length);
  }

  /** All trades as objects, built at the first look. */
  get trades(): readonly Trade[] {
    this.#trades ??= Array.from({ length: this.#length }, (_, row) => tradeAt(this.table, row));
    return this.#trades;
  }

  /** Books `trade`, closed at `price` in the candle of `closedAt` (ms), and returns its profit. */
  add(trade: Closing, closedAt: number, price: number, reason: string, leftOpen: boolean): number {
    const { direction, amount, funding, entryPrice, leverage } = trade;
    const { fee } = this.#terms;
    const row = this.#length++;
    if (row === this.#room) this.#enlarge();
    const columns = this.#columns;
    const value =
      trade.market.grid === null
        ? closeValue(amount, price, fee, funding, direction)
        : exactCloseValue(amount, price, fee, funding, direction);
    const profit = profitOf(trade.paidValue, value, direction);
    columns.market[row] = trade.market.index;
    columns.side[row] = direction === LONG ? 0 : 1;
    columns.entryRow[row] = trade.entryRow;
    columns.exitReason[row] = this.#indexOf(reason);
    columns.leftOpen[row] = leftOpen ? 1 : 0;
    columns.openedAt[row] = trade.openedAt;
    columns.filledAt[row] = trade.filledAt;
    columns.closedAt[row] = closedAt;
    columns.entryPrice[row] = entryPrice;
    columns.exitPrice[row] = price;
    columns.amount[row] = amount;
    columns.stake[row] = trade.stake;
    columns.leverage[row] = leverage;
    columns.fees[row] = amount * entryPrice * fee + amount * price * fee;
    columns.slippageCost[row] = trade.slippageCost;
    columns.funding[row] = funding;
    columns.profit[row] = profit;
    columns.profitRatio[row] = bookedRatio(profit, trade.paidValue, leverage);
    columns.initialStopPrice[row] = trade.initialStop;
    columns.stopPrice[row] = trade.stop;
    columns.liquidationPrice[row] = trade.liquidation > 0 ? trade.liquidation : Number.NaN;
    columns.lowestPrice[row] = trade.lowest;
    columns.highestPrice[row] = trade.highest;
    return profit;
  }

  at(row: number): Outcome {
    const columns = this.#columns;
    return {
      pair: this.#markets[columns.market[row]!]!.input.pair,
      side: SIDES[columns.side[row]!]!,
      openedAt: columns.openedAt[row]!,
      closedAt: columns.closedAt[row]!,
      exitPrice: columns.exitPrice[row]!,
      profit: columns.profit[row]!,
    };
  }

  /**
   * Puts the trades into the order of closing: one that is left open is booked at the end of the run, and was closed earlier where
   * the candles of its pair end earlier. Those closed at one time stay as they were booked.
   */
  sort(): void {
    const { closedAt } = this.#columns;
    let last = 1;
    while (last < this.#length && closedAt[last - 1]! <= closedAt[last]!) last++;
    if (last >= this.#length) return;
    const order = Array.from({ length: this.#length }, (_, row) => row);
    order.sort((a, b) => closedAt[a]! - closedAt[b]! || a - b);
    for (const column of Object.values(this.#columns)) {
      const before = column.slice(0, this.#length);
      for (const [row, from] of order.entries()) column[row] = before[from]!;
    }
  }

  #enlarge(): void {
    this.#room *= 2;
    this.#columns = columnsFor(this.#room, this.#columns);
  }

  #indexOf(reason: string): number {
    const known = this.#places.get(reason);
    if (known !== undefined) return known;
    this.#places.set(reason, this.#reasons.length);
    return this.#reasons.push(reason) - 1;
  }

  #makeTable(): TradeTable {
    const length = this.#length;
    this.#findRanges();
    const { market, side, exitReason, leftOpen, filledAt: _, ...columns } = this.#columns;
    const numbers = TRADE_NUMBERS.map((name) => [name, columns[name].subarray(0, length)]);
    return {
      length,
      pair: { texts: this.#markets.map(({ input }) => input.pair), index: market.subarray(0, length) },
      side: { texts: SIDES, index: side.subarray(0, length) },
      enterTag: this.#enterTags(),
      exitReason: { texts: this.#reasons, index: exitReason.subarray(0, length) },
      ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
      leftOpen: leftOpen.subarray(0, length),
    };
  }

  #enterTags(): TextColumn<string | null> {
    const { market, entryRow } = this.#columns;
    const places = new Map<string | null, number>();
    const index = new Uint32Array(this.#length);
    for (let row = 0, { length } = index; row < length; row++) {
      const tag = this.#markets[market[row]!]!.enterTag(entryRow[row]!);
      const place = places.get(tag) ?? places.size;
      if (place === places.size) places.set(tag, place);
      index[row] = place;
    }
    return { texts: [...places.keys()], index };
  }

  /** Finds the price ranges of the trades that came without: those of their candles. */
  #findRanges(): void {
    const { timeframeMs } = this.#terms;
    const { market, filledAt, closedAt, lowestPrice, highestPrice } = this.#columns;
    for (let row = 0; row < this.#length; row++) {
      if (!Number.isNaN(lowestPrice[row]!)) continue;
      const { candles } = this.#markets[market[row]!]!;
      const start = candles.timestamp[0]!;
      const from = Math.floor((filledAt[row]! - start) / timeframeMs);
      const to = Math.floor((closedAt[row]! - start) / timeframeMs);
      this.#measure(candles, from, to);
      lowestPrice[row] = this.#lowest;
      highestPrice[row] = this.#highest;
    }
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

/** Columns with room for so many trades, beginning with those of `before`. */
function columnsFor(room: number, before: Columns | null): Columns {
  const copied = <T extends Float64Array | Uint32Array | Uint8Array>(column: T, old: T | undefined): T => {
    if (old) column.set(old);
    return column;
  };
  const numbers = TRADE_NUMBERS.map((name) => [name, copied(new Float64Array(room), before?.[name])]);
  return {
    ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
    market: copied(new Uint32Array(room), before?.market),
    side: copied(new Uint32Array(room), before?.side),
    entryRow: copied(new Uint32Array(room), before?.entryRow),
    exitReason: copied(new Uint32Array(room), before?.exitReason),
    leftOpen: copied(new Uint8Array(room), before?.leftOpen),
    filledAt: copied(new Float64Array(room), before?.filledAt),
  };
}
