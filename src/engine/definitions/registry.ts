import type { StrategyDefinition } from '../strategy.ts';
import { type ResolvedParameters, resolveParameters } from './parameters.ts';
import { definitionProblems } from './validate-definition.ts';

/** Invalid strategy definition. The message names the strategy and all of its problems. */
export class StrategyDefinitionError extends Error {
  override readonly name = 'StrategyDefinitionError';
  readonly problems: readonly string[];

  constructor(strategy: string, problems: readonly string[]) {
    super(`Strategy ${strategy}: ${problems.join('; ')}.`);
    this.problems = problems;
  }
}

/** Available strategies by name. */
export interface StrategyRegistry {
  get(name: string): StrategyDefinition | undefined;
  /** Sorted. */
  names(): readonly string[];
  /** A value for every parameter, and the problems of the overrides. */
  resolveParams(
    definition: StrategyDefinition,
    overrides: Readonly<Record<string, unknown>>,
  ): ResolvedParameters;
}

/**
 * Checks all definitions and makes them available by name.
 * @throws StrategyDefinitionError for the first definition that is invalid or has the name of another
 */
export function createStrategyRegistry(definitions: Iterable<StrategyDefinition>): StrategyRegistry {
  const byName = new Map<string, StrategyDefinition>();
  let position = 0;
  for (const definition of definitions) {
    position++;
    const label = typeof definition?.name === 'string' ? definition.name : `number ${position}`;
    const problems = definitionProblems(definition);
    if (byName.has(label)) problems.push('another strategy has the same name');
    if (problems.length > 0) throw new StrategyDefinitionError(label, problems);
    byName.set(definition.name, definition);
  }
  const names = [...byName.keys()].sort();
  return {
    get: (name) => byName.get(name),
    names: () => names,
    resolveParams: (definition, overrides) => resolveParameters(definition.parameters, overrides),
  };
}
