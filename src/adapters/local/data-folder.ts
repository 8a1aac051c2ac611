import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { FileLock } from './file-lock.ts';

/** Where one machine's platform keeps everything. */
export interface DataFolder {
  readonly path: string;
  /** SQLite file of the database. */
  readonly dbPath: string;
  /** Root of the object store. */
  readonly objectsPath: string;
  /** For temporary files of tasks: empty when the folder is opened. */
  readonly temporaryPath: string;
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
  const lock = writing(path, () => new FileLock(join(path, 'platform.lock'), WAIT_FOR_HOLDER_MS));
  if (!writing(path, () => lock.tryAcquireAs(process.pid))) {
    const holder = lock.holder();
    lock.close();
    throw new Error(
      `The data folder ${path} is in use by process ${holder ?? 'unknown'}: stop that platform, or choose another folder with TOUCHSTONE_HOME.`,
    );
  }
  const temporaryPath = join(path, 'tasks');
  // Of a platform that was killed: its tasks ended with it.
  rmSync(temporaryPath, { recursive: true, force: true });
  return {
    path,
    temporaryPath,
    dbPath: join(path, 'database.sqlite'),
    objectsPath: join(path, 'objects'),
    release: () => lock.close(),
  };
}

/** The first writes into the folder: where they fail, every other one would. */
function writing<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw new Error(
      `The data folder ${path} cannot be written to: ${(cause as Error).message}. Make it writable and free space on its disk, or choose another with TOUCHSTONE_HOME.`,
      { cause },
    );
  }
}

function makeFolder(path: string): void {
  try {
    if (!isFolder(path)) makeEach(path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const why = REASONS[code] ?? (cause as Error).message;
    throw new Error(`The data folder ${path} cannot be made: ${why}. Choose another with TOUCHSTONE_HOME.`, {
      cause,
    });
  }
}

/** Folder by folder: Node's own recursion never ends where the system says that a folder to be made does not exist. */
function makeEach(path: string): void {
  if (!existsSync(dirname(path))) makeEach(dirname(path));
  try {
    // Other people's accounts have no business in it.
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another platform that starts has made it.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOENT: 'there can be no folders in that place',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
};
