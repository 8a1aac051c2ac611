import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { exitRules } from '../definitions/exit-rules.ts';
import type { SimulationSettings } from '../simulator/types.ts';
import type { ParameterValues, StrategyDefinition } from '../strategy.ts';
import { withCallbackContext } from '../strategy-errors.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';

/** `buffer` moves the liquidation price towards the entry by this share of their distance. */
const LIQUIDATION = { maintenanceMarginRate: 0.005, buffer: 0.05 } as const;

/** Simulation settings with explicit defaults, for the report. */
export type RunSettings = SimulationSettings & {
  readonly tradableBalanceRatio: number;
  readonly unfilledTimeoutMinutes: number;
};

/** Settings from the configuration; the strategy decides those that no configuration has. */
export function simulationSettings(
  definition: StrategyDefinition,
  config: ResolvedBacktestConfig,
): RunSettings {
  const strategy = config.trading_mode === 'spot' ? inSpot(definition) : definition;
  return {
    timeframeMs: TIMEFRAME_MS[config.timeframe],
    ...(config.timeframe_detail && { detailTimeframeMs: TIMEFRAME_MS[config.timeframe_detail] }),
    startingBalance: config.dry_run_wallet,
    stake:
      config.stake_amount === 'unlimited'
        ? { kind: 'unlimited' }
        : { kind: 'fixed', amount: config.stake_amount },
    tradableBalanceRatio: config.tradable_balance_ratio ?? ACCOUNT_DEFAULTS.tradable_balance_ratio,
    ...walletOptions(config),
    maxOpenTrades: config.max_open_trades,
    fee: config.fee,
    slippage: config.slippage,
    ...participationOf(config),
    leverage: config.leverage,
    canShort: strategy.canShort ?? false,
    stoploss: config.stoploss,
    ...(config.trailing && { trailing: config.trailing }),
    minimalRoi: config.minimal_roi,
    ...exitRules(strategy),
    fillModel: config.fill_model,
    liquidation: {
      ...LIQUIDATION,
      ...(config.exchange.startsWith('binance') && { closingFee: 0 }),
      ...(config.margin_mode && { marginMode: config.margin_mode }),
    },
    ...(config.position_stacking && { positionStacking: true }),
    unfilledTimeoutMinutes:
      config.unfilled_timeout?.entry ?? strategy.unfilledTimeoutMinutes ?? ACCOUNT_DEFAULTS.unfilled_timeout,
    ...(config.unfilled_timeout && { unfilledTimeout: config.unfilled_timeout }),
    ...(config.order_types && { orderTypes: config.order_types }),
    ...(config.ignore_entry_after_candles !== undefined && {
      ignoreEntryAfterCandles: config.ignore_entry_after_candles,
    }),
    ...(config.protections && { protections: config.protections }),
    ...adjustmentLimit(config.max_adjustments, strategy.maxAdjustments),
    ...(strategy.callbacks && { callbacks: withCallbackContext(strategy.callbacks) }),
    params: config.params as ParameterValues,
  };
}

function walletOptions(
  config: ResolvedBacktestConfig,
): Pick<SimulationSettings, 'availableCapital' | 'amendLastStakeAmount' | 'lastStakeAmountMinRatio'> {
  const { available_capital, amend_last_stake_amount, last_stake_amount_min_ratio } = config;
  return {
    ...(available_capital !== undefined && { availableCapital: available_capital }),
    ...(amend_last_stake_amount && { amendLastStakeAmount: true }),
    ...(last_stake_amount_min_ratio !== undefined && {
      lastStakeAmountMinRatio: last_stake_amount_min_ratio,
    }),
  };
}

/** The limit of the configuration, null for none, or that of the strategy. */
function adjustmentLimit(
  configured: number | null | undefined,
  declared: number | undefined,
): Pick<SimulationSettings, 'maxAdjustments'> {
  const limit = configured === undefined ? declared : configured;
  return limit == null ? {} : { maxAdjustments: limit };
}

/** The strategy without what spot lacks: shorts, and the callback `leverage`, which could only return 1. */
function inSpot(strategy: StrategyDefinition): StrategyDefinition {
  if (!strategy.callbacks) return { ...strategy, canShort: false };
  const { leverage: _, ...callbacks } = strategy.callbacks;
  return { ...strategy, canShort: false, callbacks };
}

function participationOf({
  slippage_model: model,
}: ResolvedBacktestConfig): Pick<SimulationSettings, 'participation'> {
  return model?.participation === undefined ? {} : { participation: model.participation };
}
