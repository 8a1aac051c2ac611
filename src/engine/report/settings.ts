import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportPairData, ReportSettings } from '#contract/backtests/report.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { canonicalJson } from '../digest.ts';
import type { RunSettings } from '../run/simulation-settings.ts';

/** @param startup candles before the start that the strategy needs, or its own object of them */
export function reportSettings(
  config: ResolvedBacktestConfig,
  settings: RunSettings,
  startup: ReportSettings['startup_candles'],
  data: readonly ReportPairData[],
): ReportSettings {
  const { max_adjustments: _, ...stated } = config;
  return {
    // Sorted keys: a database does not keep the order of keys.
    ...(JSON.parse(canonicalJson(stated)) as typeof stated),
    first_candle: data.map((pair) => pair.first).sort()[0]!,
    last_candle: data
      .map((pair) => pair.last)
      .sort()
      .at(-1)!,
    startup_candles: startup,
    can_short: settings.canShort,
    use_exit_signal: settings.useExitSignal,
    exit_profit_only: settings.exitProfitOnly,
    exit_profit_offset: settings.exitProfitOffset,
    ignore_roi_if_entry_signal: settings.ignoreRoiIfEntrySignal,
    unfilled_timeout_minutes: settings.unfilledTimeoutMinutes,
    ...(settings.maxAdjustments !== undefined && { max_adjustments: settings.maxAdjustments }),
    callbacks: Object.keys(settings.callbacks ?? {}).sort(),
    tradable_balance_ratio: settings.tradableBalanceRatio,
    ...(config.trading_mode !== 'spot' && {
      margin_mode: settings.liquidation.marginMode ?? ACCOUNT_DEFAULTS.margin_mode,
      maintenance_margin_rate: settings.liquidation.maintenanceMarginRate,
      liquidation_buffer: settings.liquidation.buffer,
    }),
  };
}
