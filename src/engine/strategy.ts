import type { RoiTable, TrailingStop } from '#contract/backtests/backtest.ts';
import type { OrderTypes, UnfilledTimeout } from '#contract/config/account.ts';
import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import type { Protection } from '#contract/config/protections.ts';
import type { OrderView, StoredData, StoredValue } from './callback-values.ts';
import type { Candles } from './candles.ts';
import type { DeclaredStartup } from './startup.ts';
import type { Timeframe } from './timeframe.ts';

export type { OrderView, Protection, RoiTable, StoredData, StoredValue, TrailingStop };

/** Settings of the ML engine that a strategy or a request may set. */
export type MlEngineOverrides = Readonly<Partial<Omit<ResolvedMlEngine, 'enabled'>>>;

/** Computed columns by name, each as long as the candles. `NaN` where an indicator is not yet defined. */
export type Columns = Readonly<Record<string, Float64Array>>;

/**
 * Signals of one pair, each column as long as the candles, 1 where the signal is set.
 * Row `i` is decided from candles `0..i` only; the simulator acts on it at the open of candle `i + 1`.
 */
export interface Signals {
  readonly enterLong?: Uint8Array;
  readonly exitLong?: Uint8Array;
  readonly enterShort?: Uint8Array;
  readonly exitShort?: Uint8Array;
  /** Tag of an entry on row `i`: an index into `tags`, 0 for none. */
  readonly enterTag?: Uint8Array;
  /** Tag of an exit on row `i`: an index into `tags`, 0 for none. It replaces the reason `exit_signal`. */
  readonly exitTag?: Uint8Array;
  /** Tag strings; index 0 is unused. */
  readonly tags?: readonly string[];
}

/** What `signals` returned, before collisions and models drop entries; for given signals the columns of the file. */
export interface ReturnedSignals extends Signals {
  /** Of given signals: factor of the stake of each candle's entry. */
  readonly stake_ratio?: Float64Array;
}

/** Columns that the ML engine adds for `signals` and callbacks; absent in a run without it. */
export interface PredictionColumns {
  /** Probability that the row's label is 1; NaN where nothing is predicted. */
  readonly ml_probability: Float64Array;
  /** 1 where a model predicts the row, else 0. */
  readonly do_predict: Float64Array;
}

/** Value of an unknown label: its row is not used for training. */
export const UNKNOWN_LABEL = 255;

/** Prediction target of the ML engine. */
export interface MlLabel {
  /** 1 or 0 per candle, {@link UNKNOWN_LABEL} where it is unknown. */
  readonly labels: Uint8Array;
  /** Candles until a row's label is known: it depends on rows up to `row + horizon`. At least 1. */
  readonly horizon: number;
}

/** One tunable number of a strategy, with its range for optimization. */
interface NumberParameter {
  readonly kind: 'integer' | 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly description: string;
}

/** One tunable choice of a strategy. */
interface ChoiceParameter {
  readonly kind: 'choice';
  readonly default: string | number | boolean;
  readonly choices: readonly (string | number | boolean)[];
  readonly description: string;
}

export type Parameter = NumberParameter | ChoiceParameter;
export type ParameterSpec = Readonly<Record<string, Parameter>>;

/** Parameter values by name, as a run uses them. */
export type ParameterValues<S extends ParameterSpec = ParameterSpec> = {
  readonly [K in keyof S]: S[K] extends ChoiceParameter ? S[K]['choices'][number] : number;
};

/** The trade that a callback is called for: read-only, valid during the call only. */
export interface TradeView {
  readonly pair: string;
  readonly side: 'long' | 'short';
  /** Open time of the candle of the first entry order, ms. */
  readonly openedAt: number;
  /** Average price of the entries, quote currency. */
  readonly entryPrice: number;
  /** Held now, base currency. */
  readonly amount: number;
  /** Collateral of the amount held now, quote currency. */
  readonly stake: number;
  readonly leverage: number;
  readonly enterTag: string | null;
  readonly stopPrice: number;
  /** Filled entry orders: 1, and 1 for each addition. 0 while the first entry waits. */
  readonly entries: number;
  /** Filled partial exits. */
  readonly exits: number;
  /** Profit of the partial exits so far, quote currency. */
  readonly realizedProfit: number;
  /** What the strategy keeps for this trade; empty when the trade is ordered. */
  readonly data: StoredData;
}

/** Limits of an adjustment, quote currency. Valid during the call only. */
export interface AdjustmentLimits {
  /** Least value of an order, leverage included, and of what a partial exit leaves; 0 without a minimum. */
  readonly minStake: number;
  /** Largest stake that the wallet and the exchange allow for an addition. */
  readonly maxStake: number;
}

/** The account at the open of the forming candle, quote currency. */
export interface AccountWallet {
  /** Total less the collateral of positions and waiting entries. */
  readonly free: number;
  /** Starting balance plus the profit of all exits. */
  readonly total: number;
  /** Total plus the unrealized profit at the open: after entry fees and funding so far, before exit fees. */
  readonly equity: number;
}

/** A trade at the open of the forming candle: values that change no more. */
export interface OpenTrade extends Omit<TradeView, 'data'> {
  /** Profit ratio at the open, after both fees, times leverage; 0 while the entry waits. */
  readonly profit: number;
  /** What the strategy keeps for the trade. Only its own callbacks can change it. */
  readonly data: Pick<StoredData, 'get'>;
}

/** Limits of an entry, quote currency. Valid during the call only. */
export interface EntryLimits {
  /** Least stake that the exchange accepts; 0 without a minimum. */
  readonly minStake: number;
  /** Largest stake that the wallet, at the open, and the exchange allow. */
  readonly maxStake: number;
}

/** Stake of an adjustment with the tag of its order. */
export interface TaggedStake {
  readonly stake: number;
  readonly tag: string;
}

/** What all callbacks of a simulation have in common. */
interface SimulationContext<S extends ParameterSpec> {
  /** Open time of the candle now forming, ms. */
  readonly time: number;
  readonly params: ParameterValues<S>;
  /** What the strategy keeps for the simulation; empty at its start. */
  readonly state: StoredData;
  /** Fee of one fill, a ratio of its value. */
  readonly fee: number;
  /** The account at the open of the candle, computed at each read. What happens inside the candle is not known. */
  readonly wallet: AccountWallet;
  /** The trades of all pairs at that open, waiting entries included, in the order of opening; a new list at each read. */
  readonly openTrades: readonly OpenTrade[];
}

export interface CallbackContext<S extends ParameterSpec = ParameterSpec> extends SimulationContext<S> {
  /** Row of the candle now forming; signals and columns may be read at `index - 1` and before, never later. */
  readonly index: number;
  readonly pair: string;
  readonly candles: Candles;
  readonly columns: Columns;
  /** Columns of informative timeframes and pairs by their keys, as `signals` gets them; empty without any. */
  readonly informative: Readonly<Record<string, Columns>>;
  /** What `signals` returned for the pair. */
  readonly signals: ReturnedSignals;
  /** Tag of the trade; before there is one, that of the entry signal. */
  readonly enterTag: string | null;
}

export interface LoopContext<S extends ParameterSpec = ParameterSpec> extends SimulationContext<S> {
  /** The pairs that have the candle now forming and at least one before it, in their order. Valid during the call only. */
  readonly pairs: readonly CallbackContext<S>[];
}

/**
 * Callbacks of the simulation.
 * Prices are in quote currency, profits are ratios after both fees, times leverage.
 */
export interface StrategyCallbacks<S extends ParameterSpec = ParameterSpec> {
  leverage?(context: CallbackContext<S>, side: 'long' | 'short', proposed: number): number;
  customStake?(
    context: CallbackContext<S>,
    side: 'long' | 'short',
    proposed: number,
    limits: EntryLimits,
  ): number;
  customEntryPrice?(context: CallbackContext<S>, side: 'long' | 'short', proposed: number): number;
  customExitPrice?(context: CallbackContext<S>, trade: TradeView, proposed: number, profit: number): number;
  confirmEntry?(context: CallbackContext<S>, side: 'long' | 'short', price: number): boolean;
  confirmExit?(context: CallbackContext<S>, trade: TradeView, price: number, reason: string): boolean;
  /** Distance from the candle's best price as a ratio of the stake, or null to leave the stop. It may only tighten. */
  customStoploss?(
    context: CallbackContext<S>,
    trade: TradeView,
    bestPrice: number,
    profit: number,
  ): number | null;
  /** Required profit ratio now, or null for the ROI table. */
  customRoi?(context: CallbackContext<S>, trade: TradeView, minutes: number): number | null;
  /** A string closes the trade at the open with that reason. */
  customExit?(context: CallbackContext<S>, trade: TradeView, price: number, profit: number): string | null;
  /**
   * Distance of the stop from the price of an order that was just filled, as a ratio of the stake, or null to leave the stop.
   * Called after each entry, addition and partial exit. Unlike `customStoploss` it may also widen the stop.
   */
  afterFill?(context: CallbackContext<S>, trade: TradeView, price: number, profit: number): number | null;
  /**
   * Called once per candle for an open position, before its stop and exits: a positive stake adds to the position, a negative
   * one takes that part of its collateral out, null or 0 changes nothing. `price` is the candle's open, `profit` the ratio there.
   */
  adjustPosition?(
    context: CallbackContext<S>,
    trade: TradeView,
    price: number,
    profit: number,
    limits: AdjustmentLimits,
  ): number | TaggedStake | null;
  /** Called once in every candle of the strategy's timeframe, before the pairs. */
  loopStart?(context: LoopContext<S>): void;
  /**
   * Called after each fill, before `afterFill`. An entry or addition is part of the trade by then, an exit is not yet taken from
   * it. Not called for trades that are closed because the data ends.
   */
  orderFilled?(context: CallbackContext<S>, trade: TradeView, order: OrderView): void;
  /** Called once per later candle for an entry or addition that waits and has not timed out: true cancels it. */
  checkEntryTimeout?(context: CallbackContext<S>, trade: TradeView, order: OrderView): boolean;
  /** Called once per later candle for an exit that waits and has not timed out: true cancels it. */
  checkExitTimeout?(context: CallbackContext<S>, trade: TradeView, order: OrderView): boolean;
  /** Called once per later candle for a waiting exit: the same price keeps it, another replaces it, null cancels it. */
  adjustExitPrice?(context: CallbackContext<S>, trade: TradeView, price: number): number | null;
  /** Called once per later candle for a waiting entry or addition: the same price keeps it, another replaces it, null cancels it. */
  adjustEntryPrice?(context: CallbackContext<S>, trade: TradeView, price: number): number | null;
}

/** Names of all callbacks; a record, so that the compiler requires every key of {@link StrategyCallbacks}. */
export const CALLBACK_NAMES = Object.keys({
  leverage: true,
  customStake: true,
  customEntryPrice: true,
  customExitPrice: true,
  confirmEntry: true,
  confirmExit: true,
  customStoploss: true,
  customRoi: true,
  customExit: true,
  afterFill: true,
  adjustPosition: true,
  adjustEntryPrice: true,
  adjustExitPrice: true,
  checkEntryTimeout: true,
  checkExitTimeout: true,
  orderFilled: true,
  loopStart: true,
} satisfies Readonly<Record<keyof StrategyCallbacks, true>>) as (keyof StrategyCallbacks)[];

/** Candles of another pair that a strategy reads and does not trade. */
export interface InformativePair {
  /** `BASE/QUOTE:SETTLE`, or `BASE/{stake}`: `{stake}` is what follows the `/` of the traded pair. */
  readonly pair: string;
  /** At least as long as the timeframe of the run. */
  readonly timeframe: Timeframe;
}

/**
 * Columns of informative timeframes (`informative['4h']`) and pairs (`informative['BTC/{stake} 1d']`), already shifted so
 * that a row holds closed candles only.
 */
export type InformativeColumns<
  C extends Columns = Columns,
  T extends Timeframe = Timeframe,
  I extends InformativePair = InformativePair,
> = Readonly<
  (Timeframe extends T ? Partial<Record<T, C>> : Record<T, C>) & Record<`${I['pair']} ${I['timeframe']}`, C>
>;

/** How a chart draws a column. */
interface PlotColumn {
  /** Name, `#hex` or `rgba()`. */
  readonly color?: string;
  /** Column up to which the area is filled. */
  readonly fillTo?: string;
  /** Default `line`. */
  readonly type?: 'line' | 'bar' | 'scatter';
}

/** How charts draw the columns of a strategy: over the candles, and in panels below them. */
export interface Plot {
  readonly main?: Readonly<Record<string, PlotColumn>>;
  /** Columns by the name of their panel; `levels` are horizontal lines. */
  readonly panels?: Readonly<Record<string, Readonly<Record<string, PlotColumn | readonly number[]>>>>;
}

/** Series whose candles a function gets. */
export interface SeriesInfo {
  readonly pair: string;
  readonly timeframe: Timeframe;
}

/**
 * A strategy. `S`: its parameters. `C`: the columns of its indicators. `T`: the informative timeframes that it reads. `I`: the
 * informative pairs. {@link defineStrategy} infers all four.
 */
export interface StrategyDefinition<
  S extends ParameterSpec = ParameterSpec,
  C extends Columns = Columns,
  T extends Timeframe = Timeframe,
  I extends InformativePair = InformativePair,
> {
  /** Unique name, as `config.strategy` gives it. */
  readonly name: string;
  readonly description: string;
  readonly timeframe: Timeframe;
  /** Other timeframes that a run may use, besides 1m, 5m, 15m, 1h, 4h and 1d. */
  readonly timeframes?: readonly Timeframe[];
  /** Default pairs, `BASE/QUOTE:SETTLE`. */
  readonly pairs: readonly string[];
  /** Default stake per trade in quote currency. */
  readonly stakeAmount: number;
  readonly parameters: S;
  /**
   * Candles needed before the first valid signal: for every timeframe, or by timeframe with that of the strategy; or a function of the
   * parameters that returns either. A timeframe that is not named, and another one of the run, take that of the strategy.
   */
  readonly startupCandles:
    | number
    | DeclaredStartup
    | ((params: ParameterValues<S>) => number | DeclaredStartup);
  /** Higher timeframes whose columns signals, callbacks and features read as `informative[timeframe]`. */
  readonly informativeTimeframes?: readonly T[];
  /** Other pairs whose columns these read as `informative['<pair> <timeframe>']`. */
  readonly informative?: readonly I[];
  /** Computed per series, which `info` names: on the base candles, on those of each informative timeframe and pair. */
  indicators(candles: Candles, params: ParameterValues<S>, info: SeriesInfo): C;
  signals(
    candles: Candles,
    columns: C & Partial<PredictionColumns>,
    params: ParameterValues<S>,
    informative: InformativeColumns<C, T, I>,
    info: SeriesInfo,
  ): Signals;
  /** Features of the ML engine: a value per candle, from rows up to its own. Default: see src/engine/ml/training-inputs.ts. */
  mlFeatures?(
    candles: Candles,
    columns: C,
    params: ParameterValues<S>,
    informative: InformativeColumns<C, T, I>,
    info: SeriesInfo,
  ): Columns;
  /** Prediction target. Default: 1 if the close is higher in 12 candles. */
  mlLabel?(candles: Candles, params: ParameterValues<S>): MlLabel;
  /**
   * Default ML settings of a strategy that reads predictions in `signals`. Such a strategy always runs with the ML engine, and
   * its entries are not gated. Entries of other strategies are gated by the probability.
   */
  readonly mlEngine?: MlEngineOverrides;
  readonly canShort?: boolean;
  /** Negative ratio of the stake, for example -0.1. */
  readonly stoploss: number;
  readonly trailing?: TrailingStop;
  readonly minimalRoi?: RoiTable;
  /** Rules that lock pairs against entries after losses. */
  readonly protections?: readonly Protection[];
  /** Default 1. */
  readonly leverage?: number;
  /** Default true. */
  readonly useExitSignal?: boolean;
  readonly exitProfitOnly?: boolean;
  readonly exitProfitOffset?: number;
  readonly ignoreRoiIfEntrySignal?: boolean;
  /** Minutes after which an unfilled entry or exit order is cancelled. Default 10. */
  readonly unfilledTimeoutMinutes?: number;
  /** The same per side, minutes; the other side keeps `unfilledTimeoutMinutes`. */
  readonly unfilledTimeout?: Partial<UnfilledTimeout>;
  /** A `market` order fills at the open: its price callback is not called. Default: `limit` for both sides. */
  readonly orderTypes?: Partial<OrderTypes>;
  /** Detail candles of a candle in which its entry signal acts. Default: all of them. */
  readonly ignoreEntryAfterCandles?: number;
  /** How charts draw the columns. Default: chosen by the chart. */
  readonly plot?: Plot;
  /** Maximum number of additions to a position by `adjustPosition`. Default: no maximum. */
  readonly maxAdjustments?: number;
  readonly callbacks?: StrategyCallbacks<S>;
}

/**
 * Declares a strategy. A file in `strategies/` that exports one as default is available by its name.
 * The value is checked when it is registered (see src/engine/definitions/registry.ts), not here.
 */
export function defineStrategy<
  const S extends ParameterSpec,
  C extends Columns,
  const T extends Timeframe = never,
  const I extends InformativePair = never,
>(definition: StrategyDefinition<S, C, T, I>): StrategyDefinition {
  // The types of parameters and columns serve the author only: the engine passes what it declares.
  return definition as unknown as StrategyDefinition;
}
