import { canonicalJson } from '#engine/digest.ts';
import type { RunConfig, RunSettings } from '#engine/run/config.ts';
import type { PairDataSummary } from '#engine/run/prepare-pair.ts';

/** Everything that decided the numbers: the configuration, and what the strategy and the engine added to it. */
export interface ReportSettings extends RunConfig {
  readonly precision: 'exchange' | 'none';
  /** Open times over all pairs, ISO 8601. */
  readonly first_candle: string;
  readonly last_candle: string;
  readonly startup_candles: number;
  readonly can_short: boolean;
  readonly use_exit_signal: boolean;
  readonly exit_profit_only: boolean;
  readonly exit_profit_offset: number;
  readonly ignore_roi_if_entry_signal: boolean;
  readonly unfilled_timeout_minutes: number;
  readonly callbacks: readonly string[];
  readonly tradable_balance_ratio: number;
  readonly margin_mode: 'isolated';
  readonly maintenance_margin_rate: number;
  readonly liquidation_buffer: number;
}

/** @param startup candles before the start that the strategy needs */
export function reportSettings(
  config: RunConfig,
  settings: RunSettings,
  startup: number,
  data: readonly PairDataSummary[],
): ReportSettings {
  return {
    // In one order of keys: a database gives those of a map back in any.
    ...(JSON.parse(canonicalJson({ precision: 'none', ...config })) as Required<RunConfig>),
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
