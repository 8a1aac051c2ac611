import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isSource, MAX_SOURCE_BYTES } from '../strategies/source-formats.ts';

/** File systems with coarse times: a second change within this interval may have the same modification time, ms. */
const CLOCK_STEP_MS = 2_000;

/** File metadata of the strategy sources in a folder, without content. */
export interface FolderLook {
  /** Equal for two looks between which no source was added, removed or changed. */
  readonly signature: string;
  /** True if a source changed so recently that another change may not change the signature. */
  readonly isRecent: boolean;
  /** Names of strategy files that are folders or devices. */
  readonly notFiles: readonly string[];
  /** Names of strategy files that are too large to be read. */
  readonly tooLarge: readonly string[];
  /** Names of all links, with any extension. */
  readonly links: readonly string[];
}

/**
 * Names, sizes and times of all sources in a folder and its subfolders. A folder that does not exist has no files.
 *
 * @param now Unix ms
 * @throws Error of the file system
 */
export async function lookAtFolder(folder: string, now: number): Promise<FolderLook> {
  const entries = await entriesOf(folder);
  const sources = entries.filter((entry) => isSource(entry.name) || entry.isSymbolicLink());
  const looks = await Promise.all(
    sources.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const stats = await lstat(path, { bigint: true }).catch(() => undefined);
      // A file deleted just now is missing from the next look.
      const state = stats && `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`;
      const changed = stats ? Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs)) : now;
      return { name: relative(folder, path), state, size: stats?.size ?? 0n, changed, entry };
    }),
  );
  looks.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    signature: looks.map(({ name, state }) => `${JSON.stringify(name)} ${state}\n`).join(''),
    isRecent: looks.some(({ changed }) => Math.abs(now - changed) < CLOCK_STEP_MS),
    notFiles: looks
      .filter(({ name, entry }) => !entry.isFile() && !entry.isSymbolicLink() && isStrategy(name))
      .map(({ name }) => name),
    tooLarge: looks
      .filter(({ name, entry, size }) => entry.isFile() && size > MAX_SOURCE_BYTES && isStrategy(name))
      .map(({ name }) => name),
    links: looks.filter(({ entry }) => entry.isSymbolicLink()).map(({ name }) => name),
  };
}

const isStrategy = (name: string) => !name.includes('/') && name.endsWith('.ts');

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
