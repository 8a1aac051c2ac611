import { CodedError } from '#contract/values/errors.ts';
import type { Strategies } from '#domain/config/strategy-ports.ts';
import type { StrategyWithDigest } from '#domain/ports.ts';
import { definitionProblems } from '#engine/definitions/validate-definition.ts';
import { findBuiltIn, fixedStrategies, inProcess, knownBuiltIns } from './known-strategies.ts';
import { findStrategyFile, loadStrategyFiles, type StrategyFile } from './strategy-files.ts';

/**
 * Loads the built-in strategies and those of a folder (default: the users' folder) into this process. Only for bundles,
 * whose files were reviewed before deployment.
 *
 * @throws Error that names the unusable file, or both files that define one name
 */
export async function loadStrategies(folder?: string): Promise<Strategies> {
  const files = await loadStrategyFiles(folder);
  checkFiles(files);
  return fixedStrategies([...knownBuiltIns(), ...files.map(inProcess)]);
}

export const isBuiltIn = (name: string) => findBuiltIn(name) !== undefined;

/**
 * Loads a strategy by name into this process, which must be a task. Undefined when no strategy has the name.
 *
 * @param digest of the source when the job was resolved; a file with this digest is loaded first
 * @throws CodedError VAL006 that names the unusable file
 */
export async function findStrategy(
  name: string,
  folder?: string,
  digest?: string,
): Promise<StrategyWithDigest | undefined> {
  const builtIn = findBuiltIn(name);
  if (builtIn) return builtIn;
  const found = await findStrategyFile(name, folder, digest).catch((cause: Error) => {
    throw new CodedError('VAL006', { message: `Strategy ${name} cannot be loaded. ${cause.message}`, cause });
  });
  const problems = found ? problemsOf(found.definition) : [];
  if (problems.length === 0) return found;
  throw new CodedError('VAL006', { message: `Strategy file ${found!.file}: ${problems.join('; ')}` });
}

function checkFiles(files: readonly StrategyFile[]): void {
  const definedBy = new Map<string, string>();
  for (const { file, definition } of files) {
    const problems = problemsOf(definition);
    const { name } = definition;
    const other = findBuiltIn(name) ? 'a built-in strategy' : definedBy.get(name);
    if (other) problems.push(`${other} has the name ${name} already`);
    if (problems.length > 0) throw new Error(`Strategy file ${file}: ${problems.join('; ')}`);
    definedBy.set(name, `strategy file ${file}`);
  }
}

/** Problems of a definition. The check calls functions of the strategy, which may throw. */
function problemsOf(definition: StrategyFile['definition']): string[] {
  try {
    return definitionProblems(definition);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
