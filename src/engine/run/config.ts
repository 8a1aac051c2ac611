import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { withCallbackContext } from './strategy-errors.ts';

/** Tradable share of the balance. */
export const TRADABLE_BALANCE_RATIO = 0.99;

/** Isolated margin. `buffer` moves the liquidation price towards the entry by this share of their distance. */
const LIQUIDATION = { maintenanceMarginRate: 0.005, buffer: 0.05 } as const;

/** Minutes after which an unfilled order is cancelled. */
const UNFILLED_TIMEOUT_MINUTES = 10;

/** Simulation settings with explicit defaults, for the report. */
export type RunSettings = SimulationSettings & {
  readonly tradableBalanceRatio: number;
  readonly unfilledTimeoutMinutes: number;
};

/** Settings from the configuration; the strategy decides those that no configuration has. */
export function simulationSettings(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
): RunSettings {
  return {
    timeframeMs: TIMEFRAME_MS[config.timeframe],
    ...(config.timeframe_detail && { detailTimeframeMs: TIMEFRAME_MS[config.timeframe_detail] }),
    startingBalance: config.dry_run_wallet,
    stake:
      config.stake_amount === 'unlimited'
        ? { kind: 'unlimited' }
        : { kind: 'fixed', amount: config.stake_amount },
    tradableBalanceRatio: TRADABLE_BALANCE_RATIO,
    maxOpenTrades: config.max_open_trades,
    fee: config.fee,
    slippage: config.slippage,
    leverage: config.leverage,
    canShort: strategy.canShort ?? false,
    stoploss: config.stoploss,
    ...(config.trailing && { trailing: config.trailing }),
    minimalRoi: config.minimal_roi,
    useExitSignal: strategy.useExitSignal ?? true,
    exitProfitOnly: strategy.exitProfitOnly ?? false,
    exitProfitOffset: strategy.exitProfitOffset ?? 0,
    ignoreRoiIfEntrySignal: strategy.ignoreRoiIfEntrySignal ?? false,
    fillModel: config.fill_model,
    liquidation: config.exchange.startsWith('binance') ? { ...LIQUIDATION, closingFee: 0 } : LIQUIDATION,
    unfilledTimeoutMinutes: strategy.unfilledTimeoutMinutes ?? UNFILLED_TIMEOUT_MINUTES,
    ...(config.protections && { protections: config.protections }),
    ...(strategy.maxAdjustments !== undefined && { maxAdjustments: strategy.maxAdjustments }),
    ...(strategy.callbacks && { callbacks: withCallbackContext(strategy.callbacks) }),
  };
}
