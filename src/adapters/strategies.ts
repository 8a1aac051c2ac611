import { CodedError } from '#contract/errors.ts';
import type { StrategyWithDigest } from '#domain/ports.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { createStrategyRegistry, type StrategyRegistry } from '#engine/strategies/registry.ts';
import { definitionProblems } from '#engine/strategies/validate-definition.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { sha256 } from './ids.ts';
import { findStrategyFile, loadStrategyFiles, type StrategyFile } from './strategy-files.ts';

/** All strategies of a host, with what identifies the source of each. */
export interface Strategies {
  readonly registry: StrategyRegistry;
  /** Digest of a strategy's source: of its file, or of the engine's version for a built-in one. */
  digestOf(name: string): string;
}

/**
 * The built-in strategies and those of a folder (default: the users' folder).
 * Throws an Error that names the file which cannot be used, or both files that define one name.
 */
export async function loadStrategies(folder?: string): Promise<Strategies> {
  const files = await loadStrategyFiles(folder);
  checkFiles(files);
  const registry = createStrategyRegistry([...builtInStrategies, ...files.map((file) => file.definition)]);
  const digests = new Map(files.map(({ definition, digest }) => [definition.name, digest]));
  return {
    registry,
    digestOf: (name) => digests.get(name) ?? digestOfBuiltIn(name),
  };
}

const digestOfBuiltIn = (name: string) => sha256(`engine ${ENGINE_VERSION} ${name}`);

/**
 * One strategy by its name, without loading any other; undefined when there is none. A task asks for it: the users'
 * files may have changed since the platform started.
 *
 * @param limitMs for each file to load
 * @throws CodedError VAL006 that names the file which cannot be used
 */
export async function findStrategy(
  name: string,
  folder?: string,
  limitMs?: number,
): Promise<StrategyWithDigest | undefined> {
  const builtIn = builtInStrategies.find((definition) => definition.name === name);
  if (builtIn) return { definition: builtIn, digest: digestOfBuiltIn(name) };
  const found = await findStrategyFile(name, folder, limitMs).catch((cause: Error) => {
    throw new CodedError('VAL006', { message: `Strategy ${name} cannot be loaded. ${cause.message}`, cause });
  });
  const problems = found ? problemsOf(found.definition) : [];
  if (problems.length === 0) return found;
  throw new CodedError('VAL006', { message: `Strategy file ${found!.file}: ${problems.join('; ')}` });
}

function checkFiles(files: readonly StrategyFile[]): void {
  const definedBy = new Map(builtInStrategies.map(({ name }) => [name, 'a built-in strategy']));
  for (const { file, definition } of files) {
    const problems = problemsOf(definition);
    const other = definedBy.get(definition.name);
    if (other) problems.push(`${other} has the name ${definition.name} already`);
    if (problems.length > 0) throw new Error(`Strategy file ${file}: ${problems.join('; ')}`);
    definedBy.set(definition.name, `strategy file ${file}`);
  }
}

/** Its own functions are asked too, and may throw. */
function problemsOf(definition: StrategyFile['definition']): string[] {
  try {
    return definitionProblems(definition);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
