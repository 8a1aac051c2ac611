import { createHash } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StrategyWithDigest } from '#domain/ports.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { sha256 } from '../sha256.ts';
import { isSource, MAX_DIGESTED_BYTES, MAX_SOURCE_BYTES, namedIn } from './source-formats.ts';

export interface StrategyFile extends StrategyWithDigest {
  readonly file: string;
  /** SHA-256 over the file's text and every file that it may import, see {@link strategyDigests}; hex. */
  readonly digest: string;
}

/** Default folder of the users' strategies, next to `src`. */
export const USER_STRATEGIES = join(import.meta.dirname, '../../../strategies');

/*
 * Bundles have no such folder: bundled-strategy-files.ts takes the place of this module there.
 */

/**
 * Loads every strategy file (`*.ts` with a default export) of a folder into this process, sorted by name. A folder that does
 * not exist has no files.
 *
 * @throws Error that names the file which cannot be loaded
 */
export async function loadStrategyFiles(folder = USER_STRATEGIES): Promise<StrategyFile[]> {
  const sources = await digestSources(folder);
  const loader = await importLoader();
  return Promise.all(
    [...strategyDigests(sources)].map((each) => loadFile({ folder, sources }, each, loader)),
  );
}

/**
 * Loads the strategy file that defines a name into this process. Files with the digest, then files that quote the name, are
 * loaded first. A broken file is skipped if another file defines the name. Undefined if no file defines it.
 *
 * @param digest of the file that defined the name before
 * @throws Error that names the broken files, if no loaded file defines the name
 */
export async function findStrategyFile(
  name: string,
  folder = USER_STRATEGIES,
  digest?: string,
): Promise<StrategyFile | undefined> {
  const sources = await digestSources(folder);
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${name}${quote}`);
  const [same, likely, others] = [
    new Map<string, string>(),
    new Map<string, string>(),
    new Map<string, string>(),
  ];
  for (const [file, found] of strategyDigests(sources)) {
    const text = await readFile(join(folder, file), 'utf8');
    const quotes = quoted.some((each) => text.includes(each));
    (found === digest ? same : quotes ? likely : others).set(file, found);
  }
  const first = await findAmong(new Map([...same, ...likely]), name, { folder, sources });
  return first ?? findAmong(others, name, { folder, sources });
}

/** A strategy folder as its digests were computed. */
interface DigestedFolder {
  readonly folder: string;
  readonly sources: ReadonlyMap<string, Source>;
}

async function findAmong(
  digests: ReadonlyMap<string, string>,
  name: string,
  digested: DigestedFolder,
): Promise<StrategyFile | undefined> {
  const problems: string[] = [];
  const loader = await importLoader();
  for (const each of digests) {
    try {
      const loaded = await loadFile(digested, each, loader);
      if (loaded.definition.name === name) return loaded;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return undefined;
}

/**
 * Strategy files of a folder by name, each with its digest; see {@link StrategyFile}.
 *
 * @throws Error that names a link in the folder
 */
export async function digestStrategyFiles(folder: string): Promise<Map<string, string>> {
  return strategyDigests(await digestSources(folder));
}

/** A file that is a strategy, or that one may import. */
export interface Source {
  /** SHA-256, hex. */
  readonly digest: string;
  /** Names of `.ts` files in its text. */
  readonly named: ReadonlySet<string>;
}

/**
 * Every source in a folder and its subfolders by relative path in ascending order. A file that is deleted before it is read is left
 * out, as is a strategy of more than {@link MAX_SOURCE_BYTES}.
 *
 * @throws Error that names a link in the folder
 */
export async function digestSources(folder: string): Promise<Map<string, Source>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(unlessAbsent);
  for (const entry of entries) if (entry.isSymbolicLink()) throw linkRejected(entry);
  const sources = entries.filter((entry) => entry.isFile() && isSource(entry.name));
  const found: (readonly [string, Source])[] = [];
  // A few at a time, which bounds the memory.
  for (let from = 0; from < sources.length; from += AT_ONCE) {
    const read = sources.slice(from, from + AT_ONCE).map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const file = relative(folder, path);
      return [file, await readSource(path, isStrategy(file))] as const;
    });
    for (const [file, source] of await Promise.all(read)) if (source) found.push([file, source]);
  }
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Path in a line of a digest. A line break in a name must not make one line of two. */
const lineName = (file: string) => (/[\p{Cc}"\\]/u.test(file) ? JSON.stringify(file) : file);

function unlessAbsent(error: NodeJS.ErrnoException): Dirent[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
}

/** Every `.ts` file directly in the folder is a strategy. */
const isStrategy = (file: string) => file === basename(file) && file.endsWith('.ts');

/**
 * Strategy files among the sources of a folder, each with the digest over its text and all files that it may import: shared ones, and
 * other strategies that it, or one of these, names.
 */
export function strategyDigests(sources: ReadonlyMap<string, Source>): Map<string, string> {
  const shared = [...sources].filter(([file]) => !isStrategy(file));
  const own = [...sources].filter(([file]) => isStrategy(file));
  const namedByShared = shared.flatMap(([, { named }]) => [...named]);
  return new Map(
    own.map(([file, source]) => {
      const others = new Set([...source.named, ...namedByShared]);
      for (const name of others) for (const each of sources.get(name)?.named ?? []) others.add(each);
      others.delete(file);
      const imported = own.filter(([name]) => others.has(name));
      const lines = [...shared, ...imported].map(([name, { digest }]) => `${lineName(name)} ${digest}\n`);
      return [file, sha256(lines.join('') + source.digest)];
    }),
  );
}

/** Files that are read at the same time. */
const AT_ONCE = 16;

/** Undefined when the file is gone, or a strategy that is too large. The reason why a file cannot be read stands for its content. */
async function readSource(path: string, isOwn: boolean): Promise<Source | undefined> {
  const standsFor = (text: string): Source => ({ digest: sha256(text), named: new Set() });
  try {
    const { size } = await stat(path);
    if (size <= MAX_SOURCE_BYTES) {
      const content = await readFile(path);
      const named = path.endsWith('.json') ? new Set<string>() : namedIn(content);
      return { digest: sha256(content), named };
    }
    if (isOwn) return undefined;
    if (size > MAX_DIGESTED_BYTES) return standsFor('not importable: large');
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk);
    return { digest: hash.digest('hex'), named: new Set() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : standsFor(`unreadable: ${code}`);
  }
}

/** Links are rejected: read access is granted by path, and a link can lead out of the folder. */
const linkRejected = ({ parentPath, name }: Dirent) =>
  new Error(
    `Strategy file ${join(parentPath, name)}: it is a link, which the strategy folder must not contain. Replace it with a copy of the file or folder`,
  );

/** Its indicators are modules of their own in the bundle of local mode, which runs of built-in strategies do not need. */
const importLoader = () => import('./fresh-strategy.ts');

async function loadFile(
  { folder, sources }: DigestedFolder,
  [file, digest]: readonly [string, string],
  { freshStrategy, ownDefinition }: Awaited<ReturnType<typeof importLoader>>,
): Promise<StrategyFile> {
  const path = join(folder, file);
  const fresh = freshStrategy(path, sources);
  try {
    const module = (await import(pathToFileURL(path).href)) as {
      readonly default?: StrategyDefinition;
    };
    if (!module.default)
      throw new Error('it has no default export; write export default defineStrategy({...})');
    return { file, definition: ownDefinition(module.default), digest, ...fresh };
  } catch (cause) {
    throw new Error(`Strategy file ${path}: ${inWords(cause)}`, { cause });
  }
}

/** A syntax error has its position, `file:line`, only in the first line of the stack. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const [position = ''] = cause.stack?.split('\n') ?? [];
  const isSyntaxError = cause.name === 'SyntaxError' && /:\d+$/.test(position);
  return isSyntaxError ? `${cause.message} (${position})` : cause.message;
}
