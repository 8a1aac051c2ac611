import type { StrategyCallbacks, StrategyDefinition } from '../strategy.ts';

type FunctionField = 'startupCandles' | 'indicators' | 'signals' | 'mlFeatures' | 'mlLabel' | 'callbacks';

/** Strategy definition without its functions: plain data, and which optional functions exist. */
export interface DefinitionData extends Omit<StrategyDefinition, FunctionField> {
  /** Names of the callbacks that the definition has, sorted. */
  readonly callbacks: readonly (keyof StrategyCallbacks)[];
  /** Whether the definition has `mlFeatures`; without it the default features apply. */
  readonly ownFeatures: boolean;
  /** Whether the definition has `mlLabel`; without it the default label applies. */
  readonly ownLabel: boolean;
}

/**
 * Data of a sound definition, copied field by field: only own properties, no functions.
 *
 * @param definition one without {@link import('./validate-definition.ts').definitionProblems}
 */
export function definitionData(definition: StrategyDefinition): DefinitionData {
  const { startupCandles, indicators, signals, mlFeatures, mlLabel, callbacks, ...data } = definition;
  return {
    ...data,
    callbacks: (Object.keys(callbacks ?? {}) as (keyof StrategyCallbacks)[]).sort(),
    ownFeatures: mlFeatures !== undefined,
    ownLabel: mlLabel !== undefined,
  };
}
