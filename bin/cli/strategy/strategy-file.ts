import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { digestStrategyFiles, USER_STRATEGIES } from '#adapters/strategies/strategy-files.ts';
import { LocalEnv } from '#contract/env/env.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { readEnv } from '#runtime/env.ts';
import { UsageError } from '../options.ts';

/** Folder of the user's strategy files. */
export const strategiesFolder = () => readEnv(LocalEnv).STRATEGIES_DIRECTORY ?? USER_STRATEGIES;

/** Names of the strategies that the platform runs, as far as the names of their files tell. */
export async function strategyNames(): Promise<string[]> {
  const files = await digestStrategyFiles(strategiesFolder());
  return [
    ...builtInStrategies.map(({ name }) => name),
    ...[...files.keys()].map((file) => basename(file, '.ts')),
  ];
}

/** The file at this path, or the file in the folder that defines this name. @throws UsageError */
export async function findStrategyFile(strategy: string, folder: string): Promise<string> {
  if (strategy.endsWith('.ts')) {
    if (existsSync(strategy)) return resolve(strategy);
    throw new UsageError(`File ${strategy} does not exist`);
  }
  const files = [...(await digestStrategyFiles(folder)).keys()];
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${strategy}${quote}`);
  const found = files.find((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return /\bname:/.test(text) && quoted.some((each) => text.includes(`name: ${each}`));
  });
  const named = found ?? files.find((file) => basename(file, '.ts') === strategy);
  if (named) return join(folder, named);
  const known = await strategyNames();
  throw new UsageError(`Strategy ${strategy} does not exist in ${folder}. Available: ${known.join(', ')}`);
}
