import type { Protection } from '#contract/config/protections.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { MINUTE_MS } from '#contract/values/durations.ts';
import type { ParameterValues, StrategyCallbacks } from '../strategy.ts';
import { type RoiSteps, roiSteps } from './rules/roi.ts';
import type { SimulationSettings } from './types.ts';

/** Settings of a run with every default filled in, in the shape that the hot functions read. */
export interface ResolvedSettings {
  readonly timeframeMs: number;
  readonly timeframeMinutes: number;
  /** Detail candles in a candle; 1 without a detail timeframe. */
  readonly detailPerCandle: number;
  readonly detailTimeframeMs: number;
  readonly conservative: boolean;
  readonly fee: number;
  readonly slippage: number;
  /** Infinity for fills of any size. */
  readonly participation: number;
  /** At least 1. */
  readonly leverage: number;
  readonly canShort: boolean;
  /** Infinity for no limit. */
  readonly maxOpenTrades: number;
  /** 0: a share of the balance. */
  readonly fixedStake: number;
  readonly tradableBalanceRatio: number;
  /** null: the share of the balance counts. */
  readonly availableCapital: number | null;
  readonly amendLastStake: boolean;
  readonly lastStakeMinRatio: number;
  readonly stoploss: number;
  readonly trailing: boolean;
  /** 0 when not set. */
  readonly trailingPositive: number;
  readonly trailingOffset: number;
  readonly trailingOnlyOffset: boolean;
  /** True when a trailing stop hit in the entry candle is priced from the offset (docs/simulation.md#stops-in-the-entry-candle). */
  readonly entryCandleByOffset: boolean;
  readonly roi: RoiSteps;
  readonly useExitSignal: boolean;
  readonly exitProfitOnly: boolean;
  readonly exitProfitOffset: number;
  readonly ignoreRoiIfEntrySignal: boolean;
  /** Of a market without leverage tiers. */
  readonly maintenanceMarginRate: number;
  readonly liquidationBuffer: number;
  readonly liquidationFee: number;
  readonly entryTimeoutMs: number;
  readonly exitTimeoutMs: number;
  /** Detail candles of a candle in which its entry signal acts; Infinity for all. */
  readonly entryCandles: number;
  /** Infinity without a maximum. */
  readonly maxAdjustments: number;
  readonly protections: readonly Protection[];
  /** Several trades of a pair at a time. */
  readonly stacking: boolean;
  /** Cross margin: a fill changes the liquidation prices of all trades. */
  readonly cross: boolean;
  readonly callbacks: StrategyCallbacks;
  readonly params: ParameterValues;
  /** True when the stop may move: it trails, or a callback sets it. */
  readonly movesStop: boolean;
  /** True when an open position must be simulated in every candle: a callback, detail candles or a fill of another pair may act. */
  readonly everyCandle: boolean;
}

/** Fills in the defaults. Throws RangeError on settings that are out of bounds or contradict each other. */
export function resolveSettings(settings: SimulationSettings): ResolvedSettings {
  checkSettings(settings);
  const { timeframeMs, stake, trailing } = settings;
  const { maxAdjustments = Number.POSITIVE_INFINITY, protections = [] } = settings;
  const callbacks = callbacksOf(settings);
  const cross = settings.liquidation.marginMode === 'cross';
  const detailTimeframeMs = settings.detailTimeframeMs ?? timeframeMs;
  if (!(detailTimeframeMs <= timeframeMs) || timeframeMs % detailTimeframeMs !== 0)
    throw new RangeError('The detail timeframe must divide the timeframe');
  const maxOpenTrades = settings.maxOpenTrades > 0 ? settings.maxOpenTrades : Number.POSITIVE_INFINITY;
  if (stake.kind === 'unlimited' && maxOpenTrades === Number.POSITIVE_INFINITY)
    throw new RangeError('An unlimited stake needs a limit of open trades');
  const trailingPositive = trailing?.positive ?? 0;
  const trailingOnlyOffset = trailing?.only_offset_is_reached ?? false;
  return {
    timeframeMs,
    timeframeMinutes: timeframeMs / MINUTE_MS,
    detailPerCandle: timeframeMs / detailTimeframeMs,
    detailTimeframeMs,
    conservative: settings.fillModel === 'conservative',
    fee: settings.fee,
    slippage: settings.slippage,
    participation: settings.participation ?? Number.POSITIVE_INFINITY,
    leverage: Math.max(1, settings.leverage),
    canShort: settings.canShort,
    maxOpenTrades,
    fixedStake: stake.kind === 'fixed' ? stake.amount : 0,
    ...walletSettings(settings),
    stoploss: settings.stoploss,
    trailing: trailing !== undefined,
    trailingPositive,
    trailingOffset: trailing?.offset ?? 0,
    trailingOnlyOffset,
    entryCandleByOffset: trailingOnlyOffset && trailingPositive > 0 && callbacks.customStoploss === undefined,
    roi: roiSteps(settings.minimalRoi),
    useExitSignal: settings.useExitSignal,
    exitProfitOnly: settings.exitProfitOnly,
    exitProfitOffset: settings.exitProfitOffset,
    ignoreRoiIfEntrySignal: settings.ignoreRoiIfEntrySignal,
    maintenanceMarginRate: settings.liquidation.maintenanceMarginRate,
    liquidationBuffer: settings.liquidation.buffer,
    liquidationFee: settings.liquidation.closingFee ?? settings.fee,
    ...orderSettings(settings),
    maxAdjustments,
    protections,
    callbacks,
    params: Object.freeze({ ...settings.params }),
    stacking: settings.positionStacking ?? false,
    cross,
    movesStop: trailing !== undefined || callbacks.customStoploss !== undefined,
    everyCandle:
      cross ||
      detailTimeframeMs < timeframeMs ||
      callbacks.adjustPosition !== undefined ||
      callbacks.customStoploss !== undefined ||
      callbacks.customRoi !== undefined ||
      (callbacks.customExit !== undefined && settings.useExitSignal),
  };
}

function walletSettings(settings: SimulationSettings) {
  return {
    tradableBalanceRatio: settings.tradableBalanceRatio ?? ACCOUNT_DEFAULTS.tradable_balance_ratio,
    availableCapital: settings.availableCapital ?? null,
    amendLastStake: settings.amendLastStakeAmount ?? false,
    lastStakeMinRatio: settings.lastStakeAmountMinRatio ?? ACCOUNT_DEFAULTS.last_stake_amount_min_ratio,
  };
}

function orderSettings(settings: SimulationSettings) {
  const { unfilledTimeoutMinutes = ACCOUNT_DEFAULTS.unfilled_timeout, unfilledTimeout } = settings;
  return {
    entryTimeoutMs: (unfilledTimeout?.entry ?? unfilledTimeoutMinutes) * MINUTE_MS,
    exitTimeoutMs: (unfilledTimeout?.exit ?? unfilledTimeoutMinutes) * MINUTE_MS,
    entryCandles: settings.ignoreEntryAfterCandles ?? Number.POSITIVE_INFINITY,
  };
}

/** The callbacks without those that name the price of a market order. */
function callbacksOf({ callbacks = {}, orderTypes }: SimulationSettings): StrategyCallbacks {
  const { customEntryPrice, customExitPrice, ...others } = callbacks;
  return {
    ...others,
    ...(customEntryPrice && orderTypes?.entry !== 'market' && { customEntryPrice }),
    ...(customExitPrice && orderTypes?.exit !== 'market' && { customExitPrice }),
  };
}

/** Bounds of a number; `above` and `below` exclude themselves. */
interface Bounds {
  readonly from?: number;
  readonly above?: number;
  readonly below?: number;
  readonly to?: number;
}

/**
 * Rejects settings that no simulation can follow: a NaN would pass every comparison and spread to every balance.
 * @throws RangeError naming the setting and its value
 */
function checkSettings(settings: SimulationSettings): void {
  const { stake, trailing, liquidation } = settings;
  check('timeframeMs', settings.timeframeMs, { above: 0 });
  check('startingBalance', settings.startingBalance, { from: 0 });
  if (stake.kind === 'fixed') check('stake.amount', stake.amount, { above: 0 });
  check('tradableBalanceRatio', settings.tradableBalanceRatio, { above: 0, to: 1 });
  check('availableCapital', settings.availableCapital, { above: 0 });
  check('lastStakeAmountMinRatio', settings.lastStakeAmountMinRatio, { from: 0, to: 1 });
  check('fee', settings.fee, { from: 0, below: 1 });
  check('slippage', settings.slippage, { from: 0, below: 1 });
  check('participation', settings.participation, { above: 0 });
  check('leverage', settings.leverage, { above: 0 });
  check('stoploss', settings.stoploss, { to: 0 });
  check('trailing.positive', trailing?.positive, { from: 0 });
  check('trailing.offset', trailing?.offset, { from: 0 });
  check('exitProfitOffset', settings.exitProfitOffset, {});
  check('liquidation.maintenanceMarginRate', liquidation.maintenanceMarginRate, { from: 0, below: 1 });
  check('liquidation.buffer', liquidation.buffer, { from: 0, below: 1 });
  check('liquidation.closingFee', liquidation.closingFee, { from: 0, below: 1 });
  check('unfilledTimeoutMinutes', settings.unfilledTimeoutMinutes, { from: 0 });
  check('unfilledTimeout.entry', settings.unfilledTimeout?.entry, { from: 0 });
  check('unfilledTimeout.exit', settings.unfilledTimeout?.exit, { from: 0 });
  check('ignoreEntryAfterCandles', settings.ignoreEntryAfterCandles, { from: 1 });
  check('maxAdjustments', settings.maxAdjustments, { from: 0 });
  for (const [minutes, ratio] of Object.entries(settings.minimalRoi ?? {})) {
    if (!/^\d+$/.test(minutes))
      throw new RangeError(
        `The setting minimalRoi has the key ${JSON.stringify(minutes)}; keys are whole minutes`,
      );
    check(`minimalRoi.${minutes}`, ratio, { from: -1 });
  }
  if (Number.isNaN(settings.maxOpenTrades))
    throw new RangeError('The setting maxOpenTrades is NaN; it must be a number of trades');
}

function check(name: string, value: number | undefined, bounds: Bounds): void {
  if (value === undefined) return;
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = bounds;
  const { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY } = bounds;
  // An infinite value is outside the open interval for any bounds.
  if (value >= from && value <= to && value > above && value < below) return;
  const limits = Object.entries(bounds).map(([bound, limit]) => ` ${bound} ${limit}`);
  throw new RangeError(`The setting ${name} is ${value}; it must be a finite number${limits.join('')}`);
}
