import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { createStrategyRegistry, type StrategyRegistry } from '#engine/strategies/registry.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { sha256 } from './ids.ts';
import { loadStrategyFiles } from './strategy-files.ts';

/** All strategies of a host, with what identifies the source of each. */
export interface Strategies {
  readonly registry: StrategyRegistry;
  /** Digest of a strategy's source: of its file, or of the engine's version for a built-in one. */
  digestOf(name: string): string;
}

/**
 * The built-in strategies and those of a folder (default: the users' folder).
 * Throws an Error that names the file or the strategy which cannot be used.
 */
export async function loadStrategies(folder?: string): Promise<Strategies> {
  const files = await loadStrategyFiles(folder);
  const registry = createStrategyRegistry([...builtInStrategies, ...files.map((file) => file.definition)]);
  const digests = new Map(files.map(({ definition, digest }) => [definition.name, digest]));
  return {
    registry,
    digestOf: (name) => digests.get(name) ?? sha256(`engine ${ENGINE_VERSION} ${name}`),
  };
}
