/** Exit reason of a position in a pair of a universe that was delisted within the run. */
export const DELISTED = 'delisted';

/** One filled order of a trade. Money in quote currency; times are candle open times in ms. */
export interface TradeOrder {
  readonly side: 'entry' | 'exit';
  readonly placedAt: number;
  readonly filledAt: number;
  readonly price: number;
  /** Base currency. */
  readonly amount: number;
  readonly fee: number;
  /** Since the fill before it; positive = received. */
  readonly funding: number;
  /** Tag of an entry, reason of an exit. */
  readonly tag: string | null;
}

/** One closed trade. Amounts are in quote currency unless stated; times are candle open times in ms. */
export interface SimulatedTrade {
  readonly pair: string;
  readonly side: 'long' | 'short';
  /** Candle of the entry order, which may be earlier than that of its fill. */
  readonly openedAt: number;
  readonly closedAt: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  /** Base currency. */
  readonly amount: number;
  /** Collateral. */
  readonly stake: number;
  readonly leverage: number;
  readonly enterTag: string | null;
  readonly exitReason: string;
  /** Sum of both fees paid: amount * entry * fee + amount * exit * fee. */
  readonly fees: number;
  /** Cost of slippage against the unslipped prices of entry and exit, never negative. */
  readonly slippageCost: number;
  /** Positive = received. */
  readonly funding: number;
  /** After fees and funding, rounded to 8 decimals. */
  readonly profit: number;
  /** On the collateral, after fees and funding. Computed from the rounded `profit`, not rounded itself. */
  readonly profitRatio: number;
  readonly initialStopPrice: number;
  /** The stop when the trade closed. */
  readonly stopPrice: number;
  readonly liquidationPrice: number | null;
  /** Lowest low of the candles from the entry's fill to the exit's, both included. */
  readonly lowestPrice: number;
  /** Highest high of the same candles. */
  readonly highestPrice: number;
  /** True when the trade was closed only because the data ended. */
  readonly leftOpen: boolean;
  /**
   * The filled orders in the order of filling, of a trade with more than one entry and one exit. `amount` and `stake` of such a
   * trade are those that its last exit closed, and `entryPrice` is the average at that time.
   */
  readonly orders?: readonly TradeOrder[];
}

/** A column of few different strings: row `i` holds `texts[index[i]]`. */
export interface TextColumn<T extends string | null = string> {
  readonly texts: readonly T[];
  readonly index: Uint32Array;
}

/** Numeric fields of a {@link SimulatedTrade}; a column has the unit of its field. */
export const TRADE_NUMBERS = [
  'openedAt',
  'closedAt',
  'entryPrice',
  'exitPrice',
  'amount',
  'stake',
  'leverage',
  'fees',
  'slippageCost',
  'funding',
  'profit',
  'profitRatio',
  'initialStopPrice',
  'stopPrice',
  'liquidationPrice',
  'lowestPrice',
  'highestPrice',
] as const satisfies readonly (keyof SimulatedTrade)[];

export type TradeNumber = (typeof TRADE_NUMBERS)[number];

/**
 * Closed trades as columns of equal length, in the order of closing. Building, reading and collecting twenty thousand
 * objects takes longer than simulating them.
 */
export interface TradeTable extends Readonly<Record<TradeNumber, Float64Array>> {
  readonly length: number;
  readonly pair: TextColumn;
  readonly side: TextColumn<SimulatedTrade['side']>;
  readonly enterTag: TextColumn<string | null>;
  readonly exitReason: TextColumn;
  /** NaN without a liquidation price. */
  readonly liquidationPrice: Float64Array;
  /** 1 for a trade that was closed only because the data ended. */
  readonly leftOpen: Uint8Array;
  /** The orders of the adjusted trades, by row. */
  readonly orders: ReadonlyMap<number, readonly TradeOrder[]>;
}

/** The string in `row`. */
export function textAt<T extends string | null>({ texts, index }: TextColumn<T>, row: number): T {
  return texts[index[row]!]!;
}

/** The trade in `row` as an object. */
export function tradeAt(table: TradeTable, row: number): SimulatedTrade {
  const liquidationPrice = table.liquidationPrice[row]!;
  const orders = table.orders.get(row);
  return {
    pair: textAt(table.pair, row),
    side: textAt(table.side, row),
    openedAt: table.openedAt[row]!,
    closedAt: table.closedAt[row]!,
    entryPrice: table.entryPrice[row]!,
    exitPrice: table.exitPrice[row]!,
    amount: table.amount[row]!,
    stake: table.stake[row]!,
    leverage: table.leverage[row]!,
    enterTag: textAt(table.enterTag, row),
    exitReason: textAt(table.exitReason, row),
    fees: table.fees[row]!,
    slippageCost: table.slippageCost[row]!,
    funding: table.funding[row]!,
    profit: table.profit[row]!,
    profitRatio: table.profitRatio[row]!,
    initialStopPrice: table.initialStopPrice[row]!,
    stopPrice: table.stopPrice[row]!,
    liquidationPrice: Number.isNaN(liquidationPrice) ? null : liquidationPrice,
    lowestPrice: table.lowestPrice[row]!,
    highestPrice: table.highestPrice[row]!,
    leftOpen: table.leftOpen[row] === 1,
    ...(orders && { orders }),
  };
}

/** Result of a trade: the fields that are read without building the columns. */
export type Outcome = Pick<
  SimulatedTrade,
  'pair' | 'side' | 'openedAt' | 'closedAt' | 'exitPrice' | 'exitReason' | 'amount' | 'profit'
>;

/** The trades of a run for code that reads them once and needs no {@link SimulatedTrade} objects. */
export interface Outcomes {
  readonly length: number;
  /** The trade in `row`, in the order of closing. */
  at(row: number): Outcome;
}
