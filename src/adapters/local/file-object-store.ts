import { readFileSync, renameSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '#contract/values/errors.ts';
import type { ObjectStore, StoredObject } from '#domain/ports.ts';
import { checkObjectKey, checkObjectPrefix } from '../objects/object-key.ts';
import { storedObject, tooLarge } from '../objects/stored-object.ts';
import { sha256 } from '../sha256.ts';
import { FileLock } from './file-lock.ts';
import { isRunning } from './is-running.ts';

/** Prefix of locks and temporary files. Keys cannot contain `~`, so these files are never listed as objects. */
const OWN_FILE = '~';
/** Files of up to this many bytes are read without another thread, whose four calls cost more than the read. */
const READ_AT_ONCE = 1024 * 1024;
/** The lock is held for reading one object and one rename, a few ms. */
const LOCK_TIMEOUT_MS = 10_000;

/** Content types by file extension; files do not store them. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gz: 'application/gzip',
  html: 'text/html',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
  txt: 'text/plain',
  zst: 'application/zstd',
};

/**
 * Objects as files in a folder, shared by local processes. An acknowledged `put` survives a power loss: the file is synced
 * before the rename, the folder after it. A key cannot be a folder of another key (`a` and `a/b`), which S3 allows. A disk
 * error is DATA005. Only `putIf` takes the lock between processes, so such keys must never be written with `put`.
 */
export class FileObjectStore implements ObjectStore {
  readonly #root: string;
  #lock: FileLock | undefined;
  /** Writes of this process: stores of the same folder must not take the same temporary name. */
  static #written = 0;

  constructor(root: string) {
    this.#root = resolve(root);
  }

  async put(key: string, body: Uint8Array, _contentType: string): Promise<{ etag: string }> {
    await this.#write(key, body, (rename) => {
      rename();
      return true;
    });
    return { etag: sha256(body) };
  }

  async putIf(
    key: string,
    body: Uint8Array,
    _contentType: string,
    expected: string | null,
  ): Promise<{ etag: string } | undefined> {
    const written = await this.#write(key, body, (rename, path) =>
      this.#locked(() => {
        if (currentEtag(path) !== expected) return false;
        rename();
        return true;
      }),
    );
    return written ? { etag: sha256(body) } : undefined;
  }

  async get(key: string, maxBytes = Number.POSITIVE_INFINITY): Promise<StoredObject | undefined> {
    const path = this.#path(key);
    const body = await this.#unlessAbsent(async () => {
      // Reads one after the other would otherwise keep the process from all other events.
      await setImmediate();
      const { size } = statSync(path);
      if (size > maxBytes) throw tooLarge(key, size, maxBytes);
      return size <= READ_AT_ONCE ? readFileSync(path) : readFile(path);
    });
    return body && storedObject(body, contentTypeOf(key));
  }

  async delete(key: string): Promise<void> {
    await this.#unlessAbsent(() => rm(this.#path(key)));
  }

  async *list(prefix: string): AsyncIterable<string> {
    checkObjectPrefix(prefix);
    yield* this.#walk(prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix);
  }

  async folders(folder: string): Promise<readonly string[]> {
    checkObjectPrefix(folder);
    const read = () => readdir(join(this.#root, folder), { withFileTypes: true });
    const entries = (await this.#unlessAbsent(read)) ?? [];
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  }

  async *#walk(folder: string, prefix: string): AsyncIterable<string> {
    const read = () => readdir(join(this.#root, folder), { withFileTypes: true });
    const entries = (await this.#unlessAbsent(read)) ?? [];
    for (const { name } of entries) if (isLeft(name)) await removeLeft(join(this.#root, folder, name));
    const keys = entries
      .filter((entry) => !entry.name.startsWith(OWN_FILE))
      // The slash sorts a folder like the keys inside it.
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort();
    for (const key of keys) {
      if (!key.startsWith(prefix)) continue;
      if (key.endsWith('/')) yield* this.#walk(key, prefix);
      else yield key;
    }
  }

  /** Writes a temporary file. `finish` renames it and returns true, or returns false. */
  async #write(
    key: string,
    body: Uint8Array,
    finish: (rename: () => void, path: string) => boolean,
  ): Promise<boolean> {
    const path = this.#path(key);
    const folder = dirname(path);
    const aside = join(folder, `${OWN_FILE}${process.pid}.${FileObjectStore.#written++}`);
    return this.#orUnavailable(async () => {
      const created = await mkdir(folder, { recursive: true });
      let renamed = false;
      try {
        const file = await open(aside, 'w');
        await file.writeFile(body);
        await file.sync();
        await file.close();
        renamed = finish(() => renameSync(aside, path), path);
      } finally {
        if (!renamed) await rm(aside, { force: true });
      }
      if (!renamed) return false;
      await this.#syncFolders(folder, created ? dirname(created) : folder);
      return true;
    });
  }

  /** Runs `action` synchronously while no other process holds the lock. */
  #locked(action: () => boolean): boolean {
    this.#lock ??= new FileLock(join(this.#root, `${OWN_FILE}lock`), LOCK_TIMEOUT_MS);
    if (!this.#lock.tryAcquire())
      throw new CodedError('DATA005', {
        message: 'The object store stayed locked for 10 s. Retry the request.',
      });
    try {
      return action();
    } finally {
      this.#lock.release();
    }
  }

  async #syncFolders(from: string, to: string): Promise<void> {
    for (let folder = from; ; folder = dirname(folder)) {
      const handle = await open(folder);
      await handle.sync();
      await handle.close();
      if (folder === to) return;
    }
  }

  #path(key: string): string {
    checkObjectKey(key);
    return join(this.#root, key);
  }

  async #unlessAbsent<T>(action: () => Promise<T>): Promise<T | undefined> {
    return this.#orUnavailable(async () => {
      try {
        return await action();
      } catch (error) {
        if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
        throw error;
      }
    });
  }

  async #orUnavailable<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (typeof (error as NodeJS.ErrnoException).errno !== 'number') throw error;
      throw new CodedError('DATA005', { cause: error });
    }
  }
}

/** Error codes for a missing file, a folder of that name, or a file in place of a folder of the key. */
const ABSENT = new Set(['ENOENT', 'EISDIR', 'ENOTDIR', 'ERR_FS_EISDIR']);

/** True for a temporary file whose writer has ended: a killed process, or an earlier one of another machine. */
function isLeft(name: string): boolean {
  const [, pid] = /^~(\d+)\.\d+$/.exec(name) ?? [];
  return pid !== undefined && !isRunning(Number(pid));
}

/** Whoever deletes objects lists them first, so that nothing of what a killed process wrote stays. Others may lack the permission. */
const removeLeft = (path: string) => rm(path, { force: true }).catch(() => undefined);

function currentEtag(path: string): string | null {
  try {
    return sha256(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function contentTypeOf(key: string): string {
  return CONTENT_TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
