import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { sha256 } from './ids.ts';

/** A strategy with the digest of the file that defines it. */
export interface StrategyFile {
  readonly file: string;
  readonly definition: StrategyDefinition;
  /** sha-256 of the file's text, hex. */
  readonly digest: string;
}

/** The folder beside `src` into which users put their strategies. */
const USER_STRATEGIES = join(import.meta.dirname, '../../strategies');

/**
 * Loads every strategy file (`*.ts` with a default export) of a folder, by name; a folder that does not exist holds
 * none. Bundles have no folder to read: the build replaces this module by one that holds the folder's files.
 * Throws an Error that names the file which cannot be loaded.
 */
export async function loadStrategyFiles(folder = USER_STRATEGIES): Promise<StrategyFile[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(files.map((file) => loadFile(folder, file)));
}

async function loadFile(folder: string, file: string): Promise<StrategyFile> {
  const path = join(folder, file);
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: StrategyDefinition };
    if (!module.default)
      throw new Error('it has no default export; write export default defineStrategy({...})');
    return { file, definition: module.default, digest: sha256(await readFile(path)) };
  } catch (cause) {
    throw new Error(`Strategy file ${path}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
