import { CodedError } from '#contract/errors.ts';
import { startupRows, trainingRows } from '#engine/run/history.ts';
import type { StrategyRegistry } from '#engine/strategies/registry.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { mlEngineOf } from '#engine/walk-forward/settings.ts';

/** A strategy's configuration as clients read it. */
export interface StrategyConfiguration {
  readonly strategy: string;
  readonly pairs: readonly string[];
  readonly timeframe: string;
  readonly stake_amount: number;
  readonly ml_engine: { readonly enabled: boolean; readonly model_type: string };
  readonly description: string;
  readonly startup_candles: number;
  readonly can_short: boolean;
  readonly leverage: number;
  readonly stoploss: number;
  readonly minimal_roi: Readonly<Record<string, number>>;
  readonly trailing: NonNullable<StrategyDefinition['trailing']> | null;
  readonly parameters: StrategyDefinition['parameters'];
}

/** All strategy configurations, by name. */
export function listStrategies(deps: { readonly strategies: StrategyRegistry }): StrategyConfiguration[] {
  return deps.strategies.names().map((name) => configuration(deps.strategies.get(name)!, deps.strategies));
}

/** One strategy configuration; throws RES004 with the known names. */
export function getStrategy(
  deps: { readonly strategies: StrategyRegistry },
  name: string,
): StrategyConfiguration {
  const found = deps.strategies.get(name);
  if (found) return configuration(found, deps.strategies);
  throw new CodedError('RES004', {
    field: 'name',
    context: { name: name.slice(0, 100), known: deps.strategies.names() },
  });
}

function configuration(strategy: StrategyDefinition, strategies: StrategyRegistry): StrategyConfiguration {
  const defaults = strategies.resolveParams(strategy, {}).values;
  const ml = strategy.mlEngine && mlEngineOf(strategy);
  return {
    strategy: strategy.name,
    pairs: strategy.pairs,
    timeframe: strategy.timeframe,
    stake_amount: strategy.stakeAmount,
    ml_engine: { enabled: ml !== undefined, model_type: ml?.model_type ?? 'none' },
    description: strategy.description,
    startup_candles: ml
      ? startupRows(strategy, defaults, strategy.timeframe, ml) + trainingRows(strategy.timeframe, ml)
      : strategy.startupCandles(defaults),
    can_short: strategy.canShort ?? false,
    leverage: strategy.leverage ?? 1,
    stoploss: strategy.stoploss,
    minimal_roi: strategy.minimalRoi ?? {},
    trailing: strategy.trailing ?? null,
    parameters: strategy.parameters,
  };
}
