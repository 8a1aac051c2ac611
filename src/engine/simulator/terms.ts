import type { StrategyCallbacks } from '../strategy.ts';
import { checkSettings } from './check-settings.ts';
import type { SimulationSettings } from './types.ts';

export const MINUTE_MS = 60_000;

/** Settings of a run with every default filled in, in the shape that the inner functions read. */
export interface Terms {
  readonly timeframeMs: number;
  readonly timeframeMinutes: number;
  /** Detail candles in a candle; 1 without a detail timeframe. */
  readonly detailPerCandle: number;
  readonly detailTimeframeMs: number;
  readonly conservative: boolean;
  readonly fee: number;
  readonly slippage: number;
  readonly leverage: number;
  readonly canShort: boolean;
  /** Infinity for no limit. */
  readonly maxOpenTrades: number;
  /** 0: a share of the balance. */
  readonly fixedStake: number;
  readonly tradableBalanceRatio: number;
  readonly amendLastStake: boolean;
  readonly lastStakeMinRatio: number;
  readonly stoploss: number;
  readonly trailing: boolean;
  /** 0 for none. */
  readonly trailingPositive: number;
  readonly trailingOffset: number;
  readonly trailingOnlyOffset: boolean;
  /** Whether a trailing stop hit in the entry candle is priced from the offset (1.8). */
  readonly entryCandleByOffset: boolean;
  /** Minutes, ascending. */
  readonly roiKeys: Float64Array;
  readonly roiRatios: Float64Array;
  readonly useExitSignal: boolean;
  readonly exitProfitOnly: boolean;
  readonly exitProfitOffset: number;
  readonly ignoreRoiIfEntrySignal: boolean;
  readonly maintenanceMarginRate: number;
  readonly liquidationBuffer: number;
  readonly liquidationFee: number;
  readonly orderTimeoutMs: number;
  readonly callbacks: StrategyCallbacks;
  readonly hasCallbacks: boolean;
  /** Whether an open position must be simulated in every candle, because a callback or detail candles may act in any. */
  readonly everyCandle: boolean;
}

/** Derives the terms of a run. Throws RangeError on settings that are out of bounds or contradict each other. */
export function readTerms(settings: SimulationSettings): Terms {
  checkSettings(settings);
  const { timeframeMs, stake, trailing, callbacks = {} } = settings;
  const detailTimeframeMs = settings.detailTimeframeMs ?? timeframeMs;
  if (!(detailTimeframeMs <= timeframeMs) || timeframeMs % detailTimeframeMs !== 0)
    throw new RangeError('The detail timeframe must divide the timeframe');
  const maxOpenTrades = settings.maxOpenTrades > 0 ? settings.maxOpenTrades : Number.POSITIVE_INFINITY;
  if (stake.kind === 'unlimited' && maxOpenTrades === Number.POSITIVE_INFINITY)
    throw new RangeError('An unlimited stake needs a limit of open trades');
  const roi = Object.entries(settings.minimalRoi ?? {})
    .map(([minutes, ratio]) => [Number(minutes), ratio] as const)
    .sort(([a], [b]) => a - b);
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
    leverage: settings.leverage,
    canShort: settings.canShort,
    maxOpenTrades,
    fixedStake: stake.kind === 'fixed' ? stake.amount : 0,
    tradableBalanceRatio: settings.tradableBalanceRatio ?? 0.99,
    amendLastStake: settings.amendLastStakeAmount ?? false,
    lastStakeMinRatio: settings.lastStakeAmountMinRatio ?? 0.5,
    stoploss: settings.stoploss,
    trailing: trailing !== undefined,
    trailingPositive,
    trailingOffset: trailing?.offset ?? 0,
    trailingOnlyOffset,
    entryCandleByOffset: trailingOnlyOffset && trailingPositive > 0 && callbacks.customStoploss === undefined,
    roiKeys: Float64Array.from(roi, ([minutes]) => minutes),
    roiRatios: Float64Array.from(roi, ([, ratio]) => ratio),
    useExitSignal: settings.useExitSignal,
    exitProfitOnly: settings.exitProfitOnly,
    exitProfitOffset: settings.exitProfitOffset,
    ignoreRoiIfEntrySignal: settings.ignoreRoiIfEntrySignal,
    maintenanceMarginRate: settings.liquidation.maintenanceMarginRate,
    liquidationBuffer: settings.liquidation.buffer,
    liquidationFee: settings.liquidation.closingFee ?? settings.fee,
    orderTimeoutMs: (settings.unfilledTimeoutMinutes ?? 10) * MINUTE_MS,
    callbacks,
    everyCandle:
      detailTimeframeMs < timeframeMs ||
      callbacks.customStoploss !== undefined ||
      callbacks.customRoi !== undefined ||
      (callbacks.customExit !== undefined && settings.useExitSignal),
    hasCallbacks: Object.values(callbacks).some((callback) => callback !== undefined),
  };
}
