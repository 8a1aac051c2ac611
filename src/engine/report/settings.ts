import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ReportPairData, ReportSettings } from '#contract/report.ts';
import { canonicalJson } from '#engine/digest.ts';
import type { RunSettings } from '#engine/run/config.ts';

/** @param startup candles before the start that the strategy needs */
export function reportSettings(
  config: ResolvedBacktestConfig,
  settings: RunSettings,
  startup: number,
  data: readonly ReportPairData[],
): ReportSettings {
  return {
    // In one order of keys: a database gives those of a map back in any.
    ...(JSON.parse(canonicalJson(config)) as ResolvedBacktestConfig),
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
    callbacks: Object.keys(settings.callbacks ?? {}).sort(),
    tradable_balance_ratio: settings.tradableBalanceRatio,
    margin_mode: 'isolated',
    maintenance_margin_rate: settings.liquidation.maintenanceMarginRate,
    liquidation_buffer: settings.liquidation.buffer,
  };
}
