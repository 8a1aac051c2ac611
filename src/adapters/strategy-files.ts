import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StrategyWithDigest } from '#domain/ports.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { sha256 } from './ids.ts';
import { tryStrategyFiles } from './local/strategy-trial.ts';

/** A strategy with the digest of the file that defines it. */
export interface StrategyFile extends StrategyWithDigest {
  readonly file: string;
  /** sha-256 over the file's text and that of every file in the folders beside it, which it may import; hex. */
  readonly digest: string;
}

/** The folder beside `src` into which users put their strategies. */
const USER_STRATEGIES = join(import.meta.dirname, '../../strategies');

/*
 * Bundles have no folder to read: the build replaces this module by one that holds the folder's files.
 */

/**
 * Loads every strategy file (`*.ts` with a default export) of a folder, by name, in a trial first; a folder that does
 * not exist holds none.
 *
 * @param limitMs for each file
 * @throws Error that names the file which cannot be loaded
 */
export async function loadStrategyFiles(folder = USER_STRATEGIES, limitMs?: number): Promise<StrategyFile[]> {
  const digests = await digestStrategyFiles(folder);
  await tryStrategyFiles(folder, [...digests.keys()], limitMs);
  return Promise.all([...digests].map(([file, digest]) => loadFile(folder, file, digest)));
}

/**
 * Loads the strategy file that defines a name, in a trial first: it may have been written while the platform runs.
 * Files that quote the name are asked before the others, and one that cannot be loaded is passed over as long as another
 * defines the name. Undefined when none does.
 *
 * @param limitMs for each file
 * @throws Error that names the files which cannot be loaded, one of which may define the name
 */
export async function findStrategyFile(
  name: string,
  folder = USER_STRATEGIES,
  limitMs?: number,
): Promise<StrategyFile | undefined> {
  const digests = await digestStrategyFiles(folder);
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${name}${quote}`);
  const [likely, others] = [new Map<string, string>(), new Map<string, string>()];
  for (const [file, digest] of digests) {
    const text = await readFile(join(folder, file), 'utf8');
    (quoted.some((each) => text.includes(each)) ? likely : others).set(file, digest);
  }
  return (await findAmong(likely, name, folder, limitMs)) ?? findAmong(others, name, folder, limitMs);
}

async function findAmong(
  digests: ReadonlyMap<string, string>,
  name: string,
  folder: string,
  limitMs: number | undefined,
): Promise<StrategyFile | undefined> {
  const problems: string[] = [];
  for (const [file, digest] of digests) {
    try {
      await tryStrategyFiles(folder, [file], limitMs);
      const loaded = await loadFile(folder, file, digest);
      if (loaded.definition.name === name) return loaded;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return undefined;
}

/** The strategy files of a folder, in the order of their names, each with its digest; see {@link StrategyFile}. */
export async function digestStrategyFiles(folder: string): Promise<Map<string, string>> {
  const found = await readdir(folder, { recursive: true }).catch(() => []);
  const sources = found.filter((file) => file.endsWith('.ts')).sort();
  const texts = new Map(
    await Promise.all(sources.map(async (file) => [file, await readFile(join(folder, file))] as const)),
  );
  const isShared = (file: string) => file !== basename(file);
  const shared = sources.filter(isShared).map((file) => `${file} ${sha256(texts.get(file)!)}\n`);
  const strategies = sources.filter((file) => !isShared(file));
  return new Map(strategies.map((file) => [file, sha256(shared.join('') + sha256(texts.get(file)!))]));
}

async function loadFile(folder: string, file: string, digest: string): Promise<StrategyFile> {
  const path = join(folder, file);
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: StrategyDefinition };
    if (!module.default)
      throw new Error('it has no default export; write export default defineStrategy({...})');
    return { file, definition: module.default, digest };
  } catch (cause) {
    throw new Error(`Strategy file ${path}: ${inWords(cause)}`, { cause });
  }
}

/** Of a syntax error only the stack's first line tells the place, `file:line`. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const [place = ''] = cause.stack?.split('\n') ?? [];
  return cause.name === 'SyntaxError' && /:\d+$/.test(place) ? `${cause.message} (${place})` : cause.message;
}
