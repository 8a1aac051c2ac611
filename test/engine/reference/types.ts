/** One candle as an object: the reference implementation is plain, not fast. `time` is the open time, Unix milliseconds UTC. */
export interface Bar {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
}

/** Signals at the close of one candle. */
export interface Signals {
  enterLong: boolean;
  exitLong: boolean;
  enterShort: boolean;
  exitShort: boolean;
  enterTag?: string;
  exitTag?: string;
}

export interface FundingEvent {
  time: number;
  rate: number;
  mark: number;
}

/** One pair: candles without gaps on the timeframe's grid, the signals of each, its funding events. */
export interface Market {
  pair: string;
  bars: readonly Bar[];
  signals: readonly Signals[];
  funding: readonly FundingEvent[];
  detail: readonly Bar[];
  /** Distance of the stop from the best price that a callback returns in each candle; undefined to leave the stop. */
  customStop?: readonly (number | undefined)[];
  /** What callbacks for limit orders return in each candle. */
  orders?: readonly OrderAnswers[];
}

/** Return values of the callbacks for limit orders in one candle. */
export interface OrderAnswers {
  /** Price of a new entry or exit by signal, as a factor of the open. */
  entry: number;
  exit: number;
  /** True to cancel a waiting order. */
  cancelEntry: boolean;
  cancelExit: boolean;
  /** New price of a waiting order, as a factor of its price; undefined to keep it, null to cancel it. */
  adjustEntry: number | null | undefined;
  adjustExit: number | null | undefined;
  /** Stake to add to an open position, negative to take out, as a factor of its present stake; undefined for none. */
  addStake?: number | undefined;
}

export interface Trailing {
  /** Distance once the offset is passed; the stoploss itself when absent. */
  positive: number | undefined;
  offset: number;
  onlyOffset: boolean;
}

export interface Rules {
  timeframeMinutes: number;
  detailMinutes: number | undefined;
  wallet: number;
  stake: number | 'unlimited';
  tradableBalanceRatio: number;
  maxOpenTrades: number;
  fee: number;
  slippage: number;
  leverage: number;
  canShort: boolean;
  maintenanceRate: number;
  liquidationBuffer: number;
  /** Loss ratio on the stake, a positive number. */
  stoploss: number;
  trailing: Trailing | undefined;
  /** [minutes since the entry, required profit ratio]. */
  roi: readonly (readonly [number, number])[];
  useExitSignal: boolean;
  exitProfitOnly: boolean;
  exitProfitOffset: number;
  ignoreRoiIfEntrySignal: boolean;
  /** True if the strategy has a callback that moves stops. */
  hasCustomStop: boolean;
  /** Minutes after which a waiting order is cancelled. */
  entryTimeout?: number;
  exitTimeout?: number;
  /** Maximum number of additions to a position. */
  maxAdjustments?: number;
}

export type Side = 'long' | 'short';

export interface Position {
  pair: string;
  side: Side;
  /** Time of the first entry order. */
  openTime: number;
  /** Time of its fill; undefined while it waits. */
  filledTime: number | undefined;
  /** Time of the present entry order: a replaced one is placed anew. */
  entryPlaced: number;
  /** True if the entry was a limit order, which has no slippage. */
  atLimit: boolean;
  entry: number;
  amount: number;
  stake: number;
  stop: number;
  /** Ratio behind the current stop, before it is divided by the leverage. */
  stopRatio: number;
  stopMoved: boolean;
  initialStop: number;
  liquidation: number | undefined;
  /** What profit ratios include. */
  funding: number;
  lowest: number;
  highest: number;
  enterTag: string | undefined;
  /** Tag of the present entry order. */
  entryTag: string | undefined;
  /** Exit or addition that waits for its price. */
  order: WaitingOrder | undefined;
  /** Time of the last fill, the funding up to it and from then on. */
  lastFill: number;
  fundingBefore: number;
  fundingSince: number;
  /** Time from which it is summed again after an adjustment at an event; 0 for any. */
  fundedFrom: number;
  slippageCost: number;
  /** Value of all entries with their fees, profit and funding of the partial exits. */
  entriesValue: number;
  realized: number;
  realizedFunding: number;
  /** The part of it that belongs to the amount still held. */
  prepaidFunding: number;
  /** Filled orders. */
  orders: FilledOrder[];
}

interface FilledOrder {
  side: 'entry' | 'exit';
  placed: number;
  filled: number;
  price: number;
  amount: number;
  funding: number;
  tag: string | undefined;
}

interface WaitingOrder {
  kind: 'exit' | 'addition';
  amount: number;
  /** Reason of an exit: that of the last attempt to place it. */
  reason?: string;
  /** Of the attempt that placed it. */
  tag: string | undefined;
  price: number;
  placed: number;
  /** True for an order at a price of the strategy or of the ROI table, which has no slippage. */
  atLimit: boolean;
}

export interface ReferenceTrade {
  orders: readonly FilledOrder[];
  pair: string;
  side: Side;
  reason: string;
  enterTag: string | undefined;
  openTime: number;
  closeTime: number;
  entry: number;
  exit: number;
  amount: number;
  stake: number;
  funding: number;
  profit: number;
  ratio: number;
  fees: number;
  slippageCost: number;
  initialStop: number;
  stop: number;
  liquidation: number | undefined;
  lowest: number;
  highest: number;
}

export interface OrderCounters {
  timedOutEntries: number;
  timedOutExits: number;
  cancelledEntries: number;
  cancelledExits: number;
  replacedEntries: number;
  replacedExits: number;
}

export interface Outcome {
  /** In the order of closing. */
  trades: ReferenceTrade[];
  finalBalance: number;
  rejectedSignals: number;
  orders: OrderCounters;
  /** Smallest amount of money, positive or negative, that an order of all that was left could use; infinite without any. */
  smallestRest: number;
  /** Balance with open positions valued, at the close of each candle of the clock. */
  equity: { time: number; value: number; balance: number; openTrades: number }[];
}
