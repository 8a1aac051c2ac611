import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CodedError } from '#contract/errors.ts';
import { LAYOUT_VERSION } from '#contract/tables.ts';
import { FileLock } from './file-lock.ts';

/** Folder with all data of a local platform. */
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
 * Throws an Error that names the process which uses the folder, the layout version of a folder that another version of
 * Touchstone made, or the reason why there can be no folder.
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
  const dbPath = join(path, 'database.sqlite');
  try {
    checkLayout(path, existsSync(dbPath));
  } catch (error) {
    lock.close();
    throw error;
  }
  const temporaryPath = join(path, 'tasks');
  // Left by a killed platform, whose tasks ended with it.
  rmSync(temporaryPath, { recursive: true, force: true });
  return {
    path,
    temporaryPath,
    dbPath,
    objectsPath: join(path, 'objects'),
    release: () => lock.close(),
  };
}

/** Throws when the used folder was made with another layout; versions before the second recorded none. */
function checkLayout(path: string, isUsed: boolean): void {
  const file = join(path, 'layout-version');
  if (!isUsed) writing(path, () => writeFileSync(file, `${LAYOUT_VERSION}\n`));
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : '1';
  if (found === String(LAYOUT_VERSION)) return;
  throw new Error(
    `The data folder ${path} was made by another version of Touchstone (layout ${found}, this version uses ${LAYOUT_VERSION}): move or delete the folder, or choose another with TOUCHSTONE_HOME.`,
  );
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

const MB = 1024 * 1024;

/**
 * A check that the disk of a folder has room for new work. Below the minimum what is left is kept for recording how
 * running work ends.
 *
 * @param minFreeMb free space that new work needs, MB
 * @returns a function that throws DATA005 while less is free, or while the disk cannot be asked
 */
export function diskSpaceCheck(folder: string, minFreeMb: number): () => Promise<void> {
  return async () => {
    const { bavail, bsize } = await statfs(folder).catch((cause: unknown) => {
      throw new CodedError('DATA005', { message: 'The disk of the data folder cannot be read', cause });
    });
    const freeMb = Math.floor((bavail * bsize) / MB);
    if (freeMb >= minFreeMb) return;
    throw new CodedError('DATA005', {
      message: `The disk of the data folder has ${freeMb} MB free; new work needs ${minFreeMb} MB. Free disk space, then retry the request.`,
      context: { free_mb: freeMb, min_free_mb: minFreeMb },
    });
  };
}
