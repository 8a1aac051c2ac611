import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CodedError } from '#contract/values/errors.ts';
import { LAYOUT_VERSION, OLDEST_LAYOUT } from '#contract/values/tables.ts';
import { FileLock } from './file-lock.ts';
import { isRunning } from './is-running.ts';

/** Folder with all data of a local platform. */
export interface DataFolder {
  readonly path: string;
  /** Random name of the platform, which its events have in their source. A copy of the folder gets another one. */
  readonly id: string;
  /** SQLite file of the database. */
  readonly dbPath: string;
  /** Layout of the database: this version's, or an earlier one that must be upgraded before use. */
  readonly layout: number;
  /** Root of the object store. */
  readonly objectsPath: string;
  /** For temporary files of tasks; it is empty when the folder is opened. */
  readonly temporaryPath: string;
  /** Releases the lock, so that another platform can use the folder. */
  release(): void;
}

/** Another process uses a data folder: a platform that runs, starts or stops. */
export class DataFolderInUseError extends Error {}

/** Maximum wait for a platform that is being killed while this one starts. */
const WAIT_FOR_HOLDER_MS = 1_000;

/**
 * Opens the data folder, creating it when absent, and locks it against a second platform until this process ends.
 *
 * @throws DataFolderInUseError
 * @throws Error when another version of Touchstone created it, or it cannot be created
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  makeFolder(path);
  const lock = writing(path, () => new FileLock(join(path, 'platform.lock'), WAIT_FOR_HOLDER_MS));
  if (!writing(path, () => lock.tryAcquireAs(process.pid))) {
    const holder = lock.holder();
    lock.close();
    throw new DataFolderInUseError(
      `The data folder ${path} is in use by process ${holder ?? 'unknown'}. Stop that platform, or choose another folder with TOUCHSTONE_HOME.`,
    );
  }
  const dbPath = join(path, 'database.sqlite');
  let layout: number;
  let id: string;
  try {
    finishUpgrade({ path, dbPath, layout: storedLayout(path) });
    layout = checkLayout(path, existsSync(dbPath));
    id = platformId(path);
  } catch (error) {
    lock.close();
    throw error;
  }
  const temporaryPath = join(path, 'tasks');
  // Files of a killed platform, whose tasks ended with it.
  rmSync(temporaryPath, { recursive: true, force: true });
  removeCopies(path);
  return {
    path,
    id,
    temporaryPath,
    dbPath,
    layout,
    objectsPath: join(path, 'objects'),
    release: () => lock.close(),
  };
}

/** Start of the names of folders in which `touchstone ci` keeps a copy of the data folder, before the ID of its process. */
export const COPY_PREFIX = 'ci-';

/** Removes the copies of processes that were killed. */
function removeCopies(path: string): void {
  for (const name of readdirSync(path)) {
    const pid = name.startsWith(COPY_PREFIX)
      ? Number.parseInt(name.slice(COPY_PREFIX.length), 10)
      : Number.NaN;
    if (pid > 0 && !isRunning(pid)) rmSync(join(path, name), { recursive: true, force: true });
  }
}

/**
 * Made when the folder is first opened, and again in a copy of it. A copy, restored or used next to the folder, numbers its own changes
 * as the folder numbered others: with the same source their events would have the same ids. So the file says which file it is, by inode
 * and birth, which a copy of it does not have. One of an earlier version says nothing, and keeps its name.
 */
function platformId(path: string): string {
  const file = join(path, 'platform-id');
  const [id, self] = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : [];
  if (id && self === fileOf(statSync(file, { bigint: true }))) return id;
  const next = id && self === undefined ? id : randomBytes(8).toString('hex');
  writing(path, () => {
    const opened = openSync(`${file}.new`, 'w');
    writeFileSync(opened, `${next} ${fileOf(fstatSync(opened, { bigint: true }))}\n`);
    closeSync(opened);
    // A crash leaves no empty id.
    renameSync(`${file}.new`, file);
  });
  return next;
}

const fileOf = ({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>) => `${ino}-${birthtimeNs}`;

const layoutFile = (path: string) => join(path, 'layout-version');

/** Layout in the version file; 1 without one. */
function storedLayout(path: string): number {
  const file = layoutFile(path);
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 1;
}

/** Upgraded copy of a database, and the backup of the original. */
export function upgradeFiles({ path, layout }: Pick<DataFolder, 'path' | 'layout'>) {
  return { copy: join(path, 'database-new.sqlite'), backup: join(path, `database-layout-${layout}.sqlite`) };
}

/** Puts the upgraded copy in the place of the database, once the original has been renamed; else does nothing. */
export function finishUpgrade(folder: Pick<DataFolder, 'path' | 'layout' | 'dbPath'>): void {
  const { copy, backup } = upgradeFiles(folder);
  if (!existsSync(backup)) return;
  if (existsSync(copy)) renameSync(copy, folder.dbPath);
  writeFileSync(layoutFile(folder.path), `${LAYOUT_VERSION}\n`);
}

/** Layout of the folder. Throws when this version can neither use nor upgrade it. */
function checkLayout(path: string, isUsed: boolean): number {
  if (!isUsed) writing(path, () => writeFileSync(layoutFile(path), `${LAYOUT_VERSION}\n`));
  const found = storedLayout(path);
  if (found >= OLDEST_LAYOUT && found <= LAYOUT_VERSION) return found;
  throw new Error(
    `The data folder ${path} was created by another version of Touchstone (layout ${found}, this version uses ${LAYOUT_VERSION}). Move or delete the folder, or choose another with TOUCHSTONE_HOME.`,
  );
}

/** Runs a first write into the folder; if it fails, all later writes would fail too. */
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
    throw new Error(
      `The data folder ${path} cannot be created: ${why}. Choose another with TOUCHSTONE_HOME.`,
      {
        cause,
      },
    );
  }
}

/** Creates folder by folder: Node's recursive mkdir never ends if the system reports ENOENT for the new folder itself. */
function makeEach(path: string): void {
  if (!existsSync(dirname(path))) makeEach(dirname(path));
  try {
    // Other accounts of the machine get no access.
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another starting platform may have created it.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOENT: 'folders cannot be created there',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
};

const MB = 1024 * 1024;

/**
 * Check of free disk space before new work. The space below the minimum is reserved for the results of running work.
 *
 * @param minFreeMb free space that new work needs, MB
 * @returns a function that throws DATA005 while less is free, or while the free space cannot be read
 */
export function diskSpaceCheck(folder: string, minFreeMb: number): () => Promise<void> {
  return async () => {
    const { bavail, bsize } = await statfs(folder).catch((cause: unknown) => {
      throw new CodedError('DATA005', { message: 'The free space of the data folder cannot be read', cause });
    });
    const freeMb = Math.floor((bavail * bsize) / MB);
    if (freeMb >= minFreeMb) return;
    throw new CodedError('DATA005', {
      message: `The disk of the data folder has ${freeMb} MB free; new work needs ${minFreeMb} MB. Free disk space, then retry the request.`,
      context: { free_mb: freeMb, min_free_mb: minFreeMb },
    });
  };
}
