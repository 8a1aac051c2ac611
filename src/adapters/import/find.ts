import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { TradingMode } from '#contract/values/trading-modes.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { type FileContent, other } from './file-content.ts';
import { exchangeFor } from './market-symbols.ts';
import { candidate, recognize } from './recognize.ts';
import type { Hints } from './recognizer.ts';

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  /** Name of the recognizer that knows the file; empty if none does. */
  readonly recognizer: string;
  readonly content: FileContent | { readonly kind: 'unreadable'; readonly reason: string };
}

export interface FoundMarks extends FoundFile {
  readonly content: Extract<FileContent, { kind: 'marks' }>;
}

export interface Found {
  /** Sorted by path; a download that a browser repeated comes after the first. */
  readonly files: readonly FoundFile[];
  /** Mark prices available for the funding rates among the files. */
  readonly marks: readonly FoundMarks[];
  /** Exchanges in the paths of perpetuals. */
  readonly exchanges: readonly string[];
  /** Exchanges in the paths of spot pairs. */
  readonly spotExchanges: readonly string[];
  /** Statements of the user. */
  readonly hints?: Hints;
}

/**
 * Finds a file, or every file in a folder and its subfolders, and recognizes its kind. Links inside the folder are not followed, so
 * the search stays in the folder and ends. Names that begin with a dot are skipped.
 * @throws Error when `path` is neither a file nor a folder, or cannot be read
 */
export async function findFiles(path: string, hints: Hints = {}): Promise<Found> {
  const root = resolve(path);
  const info = await stat(root).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new Error(`${path} does not exist`, { cause }) : cause;
  });
  if (info.isDirectory()) {
    const files = await filesIn(root, hints);
    return found(files, files, hints);
  }
  if (!info.isFile()) throw new Error(`${path} is neither a file nor a folder`);
  const siblings = await ordinaryFiles(dirname(root));
  const file = {
    path: root,
    bytes: info.size,
    ...(await recognize(candidate(root, siblings.add(basename(root)), hints))),
  };
  const others =
    file.content.kind === 'rates' ? await filesIn(dirname(root), hints, { deep: false }) : [file];
  return found([file], others, hints);
}

/** Names of the ordinary files in a folder; empty if it cannot be read. */
async function ordinaryFiles(folder: string): Promise<Set<string>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return namesOf(entries);
}

const namesOf = (entries: readonly Dirent[]) =>
  new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));

function found(files: readonly FoundFile[], siblings: readonly FoundFile[], hints: Hints): Found {
  const named = (mode: TradingMode) => {
    const exchanges = files.flatMap(({ content }) => {
      if (!('exchange' in content) || !content.exchange) return [];
      if (content.kind === 'table') {
        return (content.mode ?? mode) === mode ? exchangeFor(content.exchange, mode) : [];
      }
      return tradingModeOf(content.symbol) === mode ? content.exchange : [];
    });
    return [...new Set(exchanges)].sort();
  };
  return {
    files,
    marks: siblings.filter((file): file is FoundMarks => file.content.kind === 'marks'),
    exchanges: named('futures'),
    spotExchanges: named('spot'),
    hints,
  };
}

async function filesIn(folder: string, hints: Hints, { deep } = { deep: true }): Promise<FoundFile[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return [unrecognized(folder, { kind: 'unreadable', reason: (error as Error).message })];
  }
  const siblings = namesOf(entries);
  const inside: FoundFile[] = [];
  for (const entry of entries.sort((a, b) => (orderOf(a.name) < orderOf(b.name) ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) inside.push(await fileAt(path, entry, siblings, hints));
    else if (deep) inside.push(...(await filesIn(path, hints)));
  }
  return inside;
}

/** Browsers name repeated downloads `chart (1).csv`: the newer one comes later, so that its rows count. */
function orderOf(name: string): string {
  return name.replace(
    / \((\d+)\)(\.[^/]+)$/,
    (_, number: string, end: string) => `${end} ${number.padStart(4, '0')}`,
  );
}

async function fileAt(
  path: string,
  entry: Dirent,
  siblings: ReadonlySet<string>,
  hints: Hints,
): Promise<FoundFile> {
  if (entry.isSymbolicLink()) return unrecognized(path, other('a link; links are not followed'));
  if (!entry.isFile()) return unrecognized(path, other('not an ordinary file'));
  // A file deleted by now fails when it is read.
  const bytes = await lstat(path).then(
    (info) => info.size,
    () => 0,
  );
  return { path, bytes, ...(await recognize(candidate(path, siblings, hints))) };
}

const unrecognized = (path: string, content: FoundFile['content']): FoundFile => ({
  path,
  bytes: 0,
  recognizer: '',
  content,
});
