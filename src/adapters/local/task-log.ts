import { appendFileSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exportsPrefix } from '#adapters/objects/result-store.ts';
import { BACKTEST_ID_PREFIX, HYPEROPT_ID_PREFIX } from '#contract/values/job-limits.ts';

/** Where objects of local mode are. */
interface Storage {
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly RESULTS_BUCKET: string;
}

/** Output that is kept of the tasks of a job, bytes. */
const MAX_BYTES = 1_000_000;

/**
 * In the folder of the job's exports: it is deleted with the job, and the job's task has no permission to write there. A link that a
 * strategy puts into the folder of its results would lead the platform to another file.
 */
function pathOf({ OBJECTS_DIRECTORY, RESULTS_BUCKET }: Storage, jobId: string): string {
  return join(OBJECTS_DIRECTORY ?? '', RESULTS_BUCKET, exportsPrefix(jobId), 'task.log');
}

/** IDs of jobs that users read. Tasks of staging checks have a report. */
const KEPT = [BACKTEST_ID_PREFIX, HYPEROPT_ID_PREFIX];

/** Keeps what the tasks of backtests and hyperopt jobs print. */
export class TaskLogs {
  readonly #storage: Storage;
  readonly #now: () => number;
  /** Bytes that this process has kept, by job. */
  readonly #kept = new Map<string, number>();

  constructor(storage: Storage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Adds a line to the log of a job. Output beyond the limit is dropped. Throws when the disk rejects the write. */
  append(jobId: string | undefined, line: string): void {
    if (jobId === undefined || !KEPT.some((prefix) => jobId.startsWith(prefix))) return;
    const before = this.#kept.get(jobId) ?? 0;
    if (before >= MAX_BYTES) return;
    const path = pathOf(this.#storage, jobId);
    if (before === 0) mkdirSync(dirname(path), { recursive: true });
    const entry = `${new Date(this.#now()).toISOString()} ${line}\n`;
    const after = before + Buffer.byteLength(entry);
    this.#kept.set(jobId, after);
    appendFileSync(path, after < MAX_BYTES ? entry : 'Further output is not kept.\n');
  }

  /** The job has ended: its bytes are no longer counted. */
  end(jobId: string | undefined): void {
    if (jobId) this.#kept.delete(jobId);
  }
}

/** Lines that the tasks of a job printed, each after its time. */
export async function readTaskLog(storage: Storage, jobId: string): Promise<string[]> {
  const text = await readFile(pathOf(storage, jobId), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter(Boolean);
}
