import type { OrderTypes, UnfilledTimeout } from '#contract/config/account.ts';
import type { Protection } from '#contract/config/protections.ts';
import type { MarginMode } from '#contract/values/account-limits.ts';
import type { FillModel } from '#contract/values/backtest-limits.ts';
import type { Candles } from '../candles.ts';
import type { Instrument } from '../instrument.ts';
import type { DailyCosts } from '../slippage/daily-costs.ts';
import type { Drawdown } from '../stats/drawdown.ts';
import type {
  Columns,
  ParameterValues,
  ReturnedSignals,
  RoiTable,
  Signals,
  StrategyCallbacks,
  TrailingStop,
} from '../strategy.ts';
import type { PairMembership } from '../universe/membership.ts';
import type { PriceTicks } from './rules/precision.ts';
import type { SimulationMemory } from './state/memory.ts';
import type { PathRecorder } from './state/path-recorder.ts';
import type { Outcomes, SimulatedTrade, TradeTable } from './trade-table.ts';

/** Funding events of one perpetual: equal-length columns, ascending by time. */
export interface FundingEvents {
  /** Event time, ms. */
  readonly timestamp: Float64Array;
  /** Ratio per event; positive: longs pay shorts. */
  readonly rate: Float64Array;
  /** Mark price at the event, quote currency. */
  readonly markPrice: Float64Array;
}

/** Arrays whose rows appear as time passes. */
export interface KeptRows {
  /** Shows the rows that are known at `time`, ms, and hides the others. */
  moveTo(time: number): void;
  /** Shows all rows. */
  reveal(): void;
}

/**
 * Input of one pair. Columns are aligned with `candles`; startup candles are cut off.
 * Candles have no gaps; a pair may start later or end earlier than the others. The order of pairs is the whitelist's.
 */
export interface PairInput {
  readonly pair: string;
  readonly candles: Candles;
  /** Unshifted: row `i` acts at the open of candle `i + 1`. */
  readonly signals: Signals;
  /** Of a pair of a universe: `signals` has the entries of its times only. Absent: no entry was removed. */
  readonly universe?: PairUniverse;
  /** Indicator columns, for callbacks only. */
  readonly columns?: Columns;
  /** Informative columns by their keys, for callbacks only. */
  readonly informative?: Readonly<Record<string, Columns>>;
  /** What `signals` returned, in arrays of its own, for callbacks only. */
  readonly returned?: ReturnedSignals;
  /** Candles for callbacks, with the rows of `candles`. Default: copies of `candles`. */
  readonly seen?: Candles;
  /** Arrays that the strategy may have kept: before each callback they show the rows that are known. */
  readonly kept?: readonly KeptRows[];
  readonly funding?: FundingEvents;
  /** Candles of `detailTimeframeMs`, any range; a main candle without all of its detail candles is simulated as one. */
  readonly detail?: Candles;
  /** Prices and amounts follow its steps and limits; without it prices and amounts are not rounded, and orders have no minimum. */
  readonly instrument?: Instrument;
  /** The price ticks of all candles that were loaded, startup included; without them those that `candles` show. */
  readonly ticks?: PriceTicks;
  /** Spread and impact of market fills; without them the settings' slippage is all. */
  readonly costs?: DailyCosts;
  /** The same with an impact, by which the capacity is measured. */
  readonly impactCosts?: DailyCosts;
}

/** Where entries of a pair were removed: the signals before that, which still decide whether an exit is held back. */
interface PairUniverse extends PairMembership {
  readonly signals: Signals;
}

type Stake =
  | { readonly kind: 'fixed'; readonly amount: number }
  /** Divide the balance by `maxOpenTrades`; profits compound. */
  | { readonly kind: 'unlimited' };

export interface SimulationSettings {
  readonly timeframeMs: number;
  readonly detailTimeframeMs?: number;
  /** Wallet at the start, quote currency. */
  readonly startingBalance: number;
  readonly stake: Stake;
  /** Share of the balance that may be traded. Default 0.99. */
  readonly tradableBalanceRatio?: number;
  /** Quote currency that may be traded, and the profit of closed trades; in place of the share. */
  readonly availableCapital?: number;
  /** Give the last trade what is left in place of its full stake. Default false. */
  readonly amendLastStakeAmount?: boolean;
  /** Least share of the full stake that such a trade gets. Default 0.5. */
  readonly lastStakeAmountMinRatio?: number;
  /** Maximum number of concurrent open trades; Infinity for no limit. */
  readonly maxOpenTrades: number;
  /** Fee rate per side, for example 0.0005. */
  readonly fee: number;
  /** Adverse price move of every market fill, as a ratio of the price (entry and exit). Default 0. */
  readonly slippage: number;
  /** Largest fill as a share of the volume of the candle before it. Default: any. */
  readonly participation?: number;
  readonly leverage: number;
  readonly canShort: boolean;
  /** Negative ratio of the stake. */
  readonly stoploss: number;
  readonly trailing?: TrailingStop;
  readonly minimalRoi?: RoiTable;
  readonly useExitSignal: boolean;
  readonly exitProfitOnly: boolean;
  readonly exitProfitOffset: number;
  readonly ignoreRoiIfEntrySignal: boolean;
  readonly fillModel: FillModel;
  /** Maintenance margin rate and safety buffer are ratios. Applied when leverage > 1 or the side is short. */
  readonly liquidation: {
    /** Default isolated. */
    readonly marginMode?: MarginMode;
    /** Of a market without leverage tiers. */
    readonly maintenanceMarginRate: number;
    readonly buffer: number;
    /** Fee of the closing order that the exchange sets aside. Default: `fee`; 0 for Binance. */
    readonly closingFee?: number;
  };
  /** Age at which an unfilled order of either side is cancelled. Default 10. */
  readonly unfilledTimeoutMinutes?: number;
  /** The same per side, minutes. */
  readonly unfilledTimeout?: Partial<UnfilledTimeout>;
  /** A side with market orders calls no price callback. Default: limit orders. */
  readonly orderTypes?: Partial<OrderTypes>;
  /** Detail candles of a candle in which its entry signal acts. Default: all of them. */
  readonly ignoreEntryAfterCandles?: number;
  /** A pair may have several trades at a time. Default false. */
  readonly positionStacking?: boolean;
  /** Maximum number of additions to a position. Default: no maximum. */
  readonly maxAdjustments?: number;
  readonly protections?: readonly Protection[];
  readonly callbacks?: StrategyCallbacks;
  /** Parameter values for callbacks. Default: none. */
  readonly params?: ParameterValues;
}

/**
 * The account at candle closes: equal-length columns on one clock for all pairs. The first row is the candle after the earliest
 * first candle, because no signal can act before. The last row is the latest last candle, after the forced exits.
 */
export interface EquityCurve {
  /** Open time of each candle, ms. */
  readonly timestamp: Float64Array;
  /**
   * `balance` plus the unrealized profit of open trades at the candle's close: after their entry fee and the funding so
   * far, before exit fees. A pair whose data has ended is valued at its last close, unless it was delisted.
   */
  readonly equity: Float64Array;
  /** Largest drawdowns of `equity`, after the starting balance. */
  readonly drawdown: Drawdown;
  /** Free cash plus collateral of open trades: the start plus the profit of closed trades. */
  readonly balance: Float64Array;
  /** Open positions after the candle, without waiting entry orders. */
  readonly openTrades: Uint16Array;
}

export interface SimulationCounters {
  /** Entry signals that found no slot free; with detail candles, in none of those in which they acted. */
  readonly rejectedSignals: number;
  readonly timedOutEntries: number;
  readonly timedOutExits: number;
  /** Entry orders that the strategy cancelled, or that could not be replaced. */
  readonly cancelledEntries: number;
  /** Waiting entry orders that were replaced at another price. */
  readonly replacedEntries: number;
  /** Exit orders that the strategy cancelled by `adjustExitPrice`. */
  readonly cancelledExits: number;
  /** Waiting exit orders that the strategy replaced at another price. */
  readonly replacedExits: number;
}

/** A time in which a protection allowed no entry. */
export interface Lock {
  /** null: all pairs. */
  readonly pair: string | null;
  /** null: both sides. */
  readonly side: 'long' | 'short' | null;
  /** Open time of the candle of the exit, ms. */
  readonly from: number;
  /** Open time of the first candle that may have an entry again, ms. */
  readonly until: number;
  readonly reason: string;
}

/** What the volume of candles left unfilled of one pair. */
export interface PairFills {
  readonly pair: string;
  /** Entries and additions of which a part was dropped, and the value of these parts, quote currency. */
  readonly cappedEntries: number;
  readonly droppedValue: number;
  /** Attempts to exit that filled less than their amount, or nothing. */
  readonly cappedExits: number;
}

export interface Simulation {
  /** null without a slippage model. */
  readonly fills: readonly PairFills[] | null;
  readonly outcomes: Outcomes;
  /** In the order in which protections made them. */
  readonly locks: readonly Lock[];
  /** The trades as columns, built at the first read. */
  readonly table: TradeTable;
  /** The trades as objects, in the order of closing; built at the first read. */
  readonly trades: readonly SimulatedTrade[];
  /** null with `equity: false`. */
  readonly curve: EquityCurve | null;
  /** Starting balance plus the profits of all trades, forced exits included. */
  readonly finalBalance: number;
  readonly counters: SimulationCounters;
  /** False if the other fill model would give the same trades. May be true without a difference. */
  readonly dependsOnFillModel: boolean;
  /**
   * Closed trades whose entry or addition took a slot or money that another trade left later in the same candle, and their profit, quote
   * currency. 0 in the conservative model, in which both are free from the next candle on.
   */
  readonly freedLater: { readonly entries: number; readonly profit: number };
  /**
   * What each trade earned by stops that filled at their price although the candle opened beyond it, quote currency; built at each read.
   * 0 in the conservative model, in which they fill at the open.
   */
  readonly gapProfit: Float64Array;
}

export interface SimulateOptions {
  /** Compute the equity curve. Default true. */
  readonly equity?: boolean;
  /** Columns of an earlier run to overwrite. Default: new ones. */
  readonly memory?: SimulationMemory;
  /** Records the levels of each trade. Default: they are not recorded. */
  readonly paths?: PathRecorder | undefined;
  /** Called with the share done, 0 to 1, at most about a hundred times; returning false throws `SimulationStopped`. */
  readonly onProgress?: (share: number) => boolean | undefined;
}
