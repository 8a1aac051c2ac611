import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { withCallbackContext } from './strategy-errors.ts';

/** Share of the balance that may be traded. */
export const TRADABLE_BALANCE_RATIO = 0.99;

/** Isolated margin: maintenance margin rate, and the share of the distance by which a liquidation comes early. */
const LIQUIDATION = { maintenanceMarginRate: 0.005, buffer: 0.05 } as const;

/** Minutes after which an unfilled order is cancelled. */
const UNFILLED_TIMEOUT_MINUTES = 10;

/** Settings of a run, with what the simulator would otherwise take by default. */
export type RunSettings = SimulationSettings & {
  readonly tradableBalanceRatio: number;
  readonly unfilledTimeoutMinutes: number;
};

/** What the simulator is told: the configuration, and what only the strategy decides. */
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
    ...(strategy.callbacks && { callbacks: withCallbackContext(strategy.callbacks) }),
  };
}
