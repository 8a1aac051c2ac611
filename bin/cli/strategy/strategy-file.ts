import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { digestStrategyFiles, USER_STRATEGIES } from '#adapters/strategies/strategy-files.ts';
import { LocalEnv } from '#contract/env/env.ts';
import { STRATEGY_NAME } from '#engine/definitions/validate-definition.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { readEnv } from '#runtime/env.ts';
import { UsageError } from '../options.ts';

/** Folder of the user's strategy files. */
export const strategiesFolder = () => readEnv(LocalEnv).STRATEGIES_DIRECTORY ?? USER_STRATEGIES;

/**
 * Names of the strategies that the platform runs, as far as the names of their files tell. Others than a strategy can have are left out: a
 * shell inserts a name as it is.
 */
export async function strategyNames(): Promise<string[]> {
  const files = await digestStrategyFiles(strategiesFolder());
  return [
    ...builtInStrategies.map(({ name }) => name),
    ...[...files.keys()].map((file) => basename(file, '.ts')).filter((name) => STRATEGY_NAME.test(name)),
  ];
}

/** The file at this path, or the file in the folder that defines this name. @throws UsageError */
export async function findStrategyFile(strategy: string, folder: string): Promise<string> {
  if (strategy.endsWith('.ts')) {
    if (existsSync(strategy)) return resolve(strategy);
    throw new UsageError(`File ${strategy} does not exist`);
  }
  const names = await loadedNames(folder);
  const files = [...names.keys()];
  const named =
    files.find((file) => names.get(file) === strategy) ??
    files.find((file) => basename(file, '.ts') === strategy);
  if (named) return join(folder, named);
  const known = await strategyNames();
  throw new UsageError(`Strategy ${strategy} does not exist in ${folder}. Available: ${known.join(', ')}`);
}

/** Name of the strategy that a file defines; of one that cannot be loaded, that of the file. */
export async function nameDefinedIn(file: string): Promise<string> {
  const names = await loadedNames(dirname(file));
  return names.get(basename(file)) ?? basename(file, '.ts');
}

/** Names of the strategies by file. Each file is loaded in a sandboxed process, because code may compute the name. */
async function loadedNames(folder: string): Promise<ReadonlyMap<string, string | null>> {
  const { LocalStrategies } = await import('#adapters/definitions/local-strategies.ts');
  const strategies = new LocalStrategies({ folder });
  return strategies.names().finally(() => strategies.close());
}
