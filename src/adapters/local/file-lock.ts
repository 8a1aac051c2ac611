import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY: another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Exclusive lock between local processes, by a SQLite file lock. The kernel releases it when the process ends, even after
 * SIGKILL, so stale locks do not exist. `path` is a separate small file.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  /** @param timeoutMs maximum wait of {@link tryAcquire} for another holder; it blocks the thread */
  constructor(path: string, timeoutMs: number) {
    mkdirSync(dirname(path), { recursive: true });
    // Not imported: processes without SQLite load this file too, see sandbox.ts.
    const sqlite = process.getBuiltinModule('node:sqlite');
    this.#database = new sqlite.DatabaseSync(path, { timeout: timeoutMs });
  }

  /** True if this process has acquired the lock. */
  tryAcquire(): boolean {
    return this.#unlessBusy(() => this.#database.exec('BEGIN IMMEDIATE'));
  }

  release(): void {
    this.#database.exec('ROLLBACK');
  }

  /** Acquires the lock and stores the process id for others to read. */
  tryAcquireAs(pid: number): boolean {
    return this.#unlessBusy(() => {
      this.#database.exec(
        'BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER); DELETE FROM holder',
      );
      this.#database.prepare('INSERT INTO holder VALUES (?)').run(pid);
      // Only committed data can be read by others, and a commit releases the lock: the first process acquires it.
      this.#database.exec('COMMIT; BEGIN IMMEDIATE');
    });
  }

  /** Process id of the holder; undefined before the holder has stored it. */
  holder(): number | undefined {
    try {
      return Number(this.#database.prepare('SELECT pid FROM holder').get()?.pid) || undefined;
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#database.close();
  }

  #unlessBusy(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
      throw error;
    }
  }
}
