import { CodedError } from '#contract/values/errors.ts';
import type { KnownStrategy, Strategies } from '#domain/config/strategy-ports.ts';
import type { StrategyWithDigest } from '#domain/ports.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { definitionData } from '#engine/definitions/validate-definition.ts';
import { startupCandles } from '#engine/run/history.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { givenSignals } from '#engine/strategies/given-signals.ts';
import { BacktestError } from '#engine/strategy-errors.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { sha256 } from '../sha256.ts';

/** Built-in strategy by name. The engine version replaces the source in its digest. */
export function findBuiltIn(name: string): StrategyWithDigest | undefined {
  const definition = [...builtInStrategies, givenSignals].find((each) => each.name === name);
  if (!definition) return undefined;
  const digest = sha256(`engine ${ENGINE_VERSION} ${name}`);
  // Built-in strategies keep no state between runs.
  return { definition, digest, load: async () => definition };
}

/** All built-in strategies. Their functions run in this process. */
export function knownBuiltIns(): KnownStrategy[] {
  return builtInStrategies.map(({ name }) => inProcess(findBuiltIn(name)!));
}

/** Strategy of uploaded signals: found by its name and in no list, because it needs a file. */
export const GIVEN_SIGNALS = inProcess(findBuiltIn(givenSignals.name)!);

/** A checked strategy whose functions run in this process: only for code that was reviewed. */
export function inProcess({
  definition,
  digest,
}: Pick<StrategyWithDigest, 'definition' | 'digest'>): KnownStrategy {
  return {
    definition: definitionData(definition),
    digest,
    defaultStartup: startupCandles(definition, defaultParameters(definition.parameters)),
    startupCandles: async (params) => {
      try {
        return startupCandles(definition, params);
      } catch (cause) {
        if (!(cause instanceof BacktestError)) throw cause;
        throw new CodedError('VAL006', { message: cause.message, field: 'config.params', cause });
      }
    },
  };
}

/** Strategies that do not change while this process runs. */
export function fixedStrategies(known: readonly KnownStrategy[]): Strategies {
  const byName = new Map(known.map((each) => [each.definition.name, each]));
  const strategies = sortedByName(known);
  return {
    find: async (name) => (name === GIVEN_SIGNALS.definition.name ? GIVEN_SIGNALS : byName.get(name)),
    list: async () => ({ strategies, broken: [] }),
  };
}

/** Ascending by name. */
export function sortedByName(known: readonly KnownStrategy[]): KnownStrategy[] {
  return known.toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
}
