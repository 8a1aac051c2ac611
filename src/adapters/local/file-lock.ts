import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY: another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * An exclusive lock among the processes of one machine, held by the kernel for SQLite: it ends with its process, however
 * that ends, so there are no stale locks to judge. `path` is a small file of its own.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  /** @param timeoutMs how long {@link tryAcquire} waits for another holder; it blocks the thread meanwhile */
  constructor(path: string, timeoutMs: number) {
    mkdirSync(dirname(path), { recursive: true });
    // Not imported: processes without SQLite load this file too, see sandbox.ts.
    const sqlite = process.getBuiltinModule('node:sqlite');
    this.#database = new sqlite.DatabaseSync(path, { timeout: timeoutMs });
  }

  /** Whether the lock is ours now. */
  tryAcquire(): boolean {
    return this.#unlessBusy(() => this.#database.exec('BEGIN IMMEDIATE'));
  }

  release(): void {
    this.#database.exec('ROLLBACK');
  }

  /** Acquires the lock and leaves our process id for others to read. */
  tryAcquireAs(pid: number): boolean {
    return this.#unlessBusy(() => {
      this.#database.exec(
        'BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER); DELETE FROM holder',
      );
      this.#database.prepare('INSERT INTO holder VALUES (?)').run(pid);
      // Only what is committed can be read by others, and committing gives the lock up: whoever comes first has it.
      this.#database.exec('COMMIT; BEGIN IMMEDIATE');
    });
  }

  /** Process id that the holder left; undefined while it is only just starting. */
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
