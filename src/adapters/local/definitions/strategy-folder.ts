import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Changes within this time before a look may happen again without another modification time, ms. */
const CLOCK_STEP_MS = 2_000;

/** Strategy sources of a folder as the file system describes them, without their content. */
export interface FolderLook {
  /** Equal for two looks between which no source was added, removed or changed. */
  readonly signature: string;
  /** Whether a source changed so recently that another change may leave the signature as it is. */
  readonly isRecent: boolean;
  /** Names of strategy files that are folders or devices. */
  readonly notFiles: readonly string[];
  /** Names of all links, whatever their ending. */
  readonly links: readonly string[];
}

/**
 * Names, sizes and times of all `.ts` files in a folder and the folders in it. A folder that does not exist has none.
 *
 * @param now Unix ms
 * @throws Error of the file system
 */
export async function lookAtFolder(folder: string, now: number): Promise<FolderLook> {
  const entries = await entriesOf(folder);
  const sources = entries.filter((entry) => entry.name.endsWith('.ts') || entry.isSymbolicLink());
  const looks = await Promise.all(
    sources.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const stats = await lstat(path, { bigint: true }).catch(() => undefined);
      // A file that has just gone is missing from the next look.
      const state = stats && `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`;
      const changed = stats ? Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs)) : now;
      return { path, name: relative(folder, path), state, changed, entry };
    }),
  );
  looks.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    signature: looks.map(({ name, state }) => `${JSON.stringify(name)} ${state}\n`).join(''),
    isRecent: looks.some(({ changed }) => Math.abs(now - changed) < CLOCK_STEP_MS),
    notFiles: looks
      .filter(({ name, entry }) => !entry.isFile() && !entry.isSymbolicLink() && !name.includes('/'))
      .map(({ name }) => name),
    links: looks.filter(({ entry }) => entry.isSymbolicLink()).map(({ name }) => name),
  };
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
