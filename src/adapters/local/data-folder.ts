import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FileLock } from './file-lock.ts';

/** Where one machine's platform keeps everything. */
export interface DataFolder {
  readonly path: string;
  /** SQLite file of the database. */
  readonly dbPath: string;
  /** Root of the object store. */
  readonly objectsPath: string;
  /** Lets another platform use the folder. */
  release(): void;
}

/** A platform that is being killed as the next one starts is gone within this time. */
const WAIT_FOR_HOLDER_MS = 1_000;

/**
 * Opens the data folder, creating it when absent, and locks it against a second platform until this process ends.
 * Throws an Error that names the process which uses the folder, or says why there can be no folder.
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  makeFolder(path);
  const lock = new FileLock(join(path, 'platform.lock'), WAIT_FOR_HOLDER_MS);
  if (!lock.tryAcquireAs(process.pid)) {
    const holder = lock.holder();
    lock.close();
    throw new Error(
      `The data folder ${path} is in use by process ${holder ?? 'unknown'}: stop that platform, or choose another folder with TOUCHSTONE_HOME.`,
    );
  }
  return {
    path,
    dbPath: join(path, 'database.sqlite'),
    objectsPath: join(path, 'objects'),
    release: () => lock.close(),
  };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const why = REASONS[code] ?? (cause as Error).message;
    throw new Error(`The data folder ${path} cannot be made: ${why}. Choose another with TOUCHSTONE_HOME.`, {
      cause,
    });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'this user may not write there',
  EROFS: 'the disk is read-only',
};
