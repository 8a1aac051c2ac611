import type { BrokenStrategyFile, StrategyConfiguration } from '#contract/config/strategy.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import { allOrderOptions } from '#engine/definitions/account-options.ts';
import { exitRules } from '#engine/definitions/exit-rules.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { startupRowsOf, trainingRows } from '#engine/run/history.ts';
import { ownStartup } from '#engine/startup.ts';
import { findStrategy } from './find-strategy.ts';
import type { KnownStrategy, Strategies } from './strategy-ports.ts';

export interface StrategyConfigurations {
  /** Ascending by name. */
  readonly items: readonly StrategyConfiguration[];
  readonly broken: readonly BrokenStrategyFile[];
}

/** All strategy configurations, and the strategy files that cannot be used. */
export async function listStrategies(deps: {
  readonly strategies: Strategies;
}): Promise<StrategyConfigurations> {
  const { strategies, broken } = await deps.strategies.list();
  return { items: strategies.map(configuration), broken };
}

/** One strategy configuration; throws RES004 with the known names, or with the error of its file. */
export async function getStrategy(
  deps: { readonly strategies: Strategies },
  name: string,
): Promise<StrategyConfiguration> {
  const notFound = { field: 'name', unknown: 'RES004', key: 'name' } as const;
  return configuration(await findStrategy(deps.strategies, name, notFound));
}

function configuration({ definition, defaultStartup }: KnownStrategy): StrategyConfiguration {
  const { timeframe } = definition;
  const exits = exitRules(definition);
  const ml = definition.mlEngine && mlEngineOf(definition);
  return {
    strategy: definition.name,
    pairs: definition.pairs,
    timeframe,
    stake_amount: definition.stakeAmount,
    ml_engine: { enabled: ml !== undefined, model_type: ml?.model_type ?? 'none' },
    description: definition.description,
    startup_candles: ml
      ? startupRowsOf(definition, defaultStartup, timeframe, ml) + trainingRows(timeframe, ml)
      : ownStartup(defaultStartup),
    can_short: definition.canShort ?? false,
    leverage: definition.leverage ?? BACKTEST_DEFAULTS.leverage,
    stoploss: definition.stoploss,
    minimal_roi: definition.minimalRoi ?? {},
    trailing: definition.trailing ?? null,
    protections: definition.protections ?? [],
    use_exit_signal: exits.useExitSignal,
    exit_profit_only: exits.exitProfitOnly,
    exit_profit_offset: exits.exitProfitOffset,
    ignore_roi_if_entry_signal: exits.ignoreRoiIfEntrySignal,
    ...allOrderOptions(definition),
    max_adjustments: definition.maxAdjustments ?? null,
    callbacks: definition.callbacks,
    informative_timeframes: definition.informativeTimeframes ?? [],
    informative: definition.informative ?? [],
    parameters: definition.parameters,
    plot: definition.plot ?? null,
  };
}
