import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { contentOf, type FileContent } from './file-name.ts';

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly content: FileContent | { readonly kind: 'unreadable'; readonly reason: string };
}

export interface FoundMarks extends FoundFile {
  readonly content: Extract<FileContent, { kind: 'marks' }>;
}

export interface Found {
  /** In the order of their paths. */
  readonly files: readonly FoundFile[];
  /** Mark prices at hand for the funding rates among them. */
  readonly marks: readonly FoundMarks[];
  /** Exchanges that their paths name. */
  readonly exchanges: readonly string[];
}

/**
 * Looks at a file, or at every one in a folder and the folders in it, by its name alone. Links inside the folder are not
 * followed, so nothing outside it is read and no circle is walked; names that begin with a dot are passed over.
 * @throws Error when `path` is neither a file nor a folder, or may not be looked at
 */
export async function findFiles(path: string): Promise<Found> {
  const root = resolve(path);
  const info = await stat(root).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new Error(`${path} does not exist`, { cause }) : cause;
  });
  if (info.isDirectory()) {
    const files = await filesIn(root);
    return found(files, files);
  }
  if (!info.isFile()) throw new Error(`${path} is neither a file nor a folder`);
  const file = { path: root, bytes: info.size, content: contentOf(slashed(root)) };
  const beside = file.content.kind === 'rates' ? await filesIn(dirname(root), { deep: false }) : [file];
  return found([file], beside);
}

function found(files: readonly FoundFile[], beside: readonly FoundFile[]): Found {
  const named = files.flatMap(({ content }) => ('exchange' in content && content.exchange) || []);
  return {
    files,
    marks: beside.filter((file): file is FoundMarks => file.content.kind === 'marks'),
    exchanges: [...new Set(named)].sort(),
  };
}

async function filesIn(folder: string, { deep } = { deep: true }): Promise<FoundFile[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return [{ path: folder, bytes: 0, content: { kind: 'unreadable', reason: (error as Error).message } }];
  }
  const inside: FoundFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) inside.push(await fileAt(path, entry));
    else if (deep) inside.push(...(await filesIn(path)));
  }
  return inside;
}

async function fileAt(path: string, entry: Dirent): Promise<FoundFile> {
  if (entry.isSymbolicLink()) return { path, bytes: 0, content: other('a link; links are not followed') };
  if (!entry.isFile()) return { path, bytes: 0, content: other('not an ordinary file') };
  // A file that is gone by now is met when it is read.
  const bytes = await lstat(path).then(
    (info) => info.size,
    () => 0,
  );
  return { path, bytes, content: contentOf(slashed(path)) };
}

const other = (reason: string): FileContent => ({ kind: 'other', reason });

const slashed = (path: string) => path.split(sep).join('/');
