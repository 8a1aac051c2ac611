import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeFile } from '../../code-file.ts';
import { compileCache } from '../../processes/compile-cache.ts';
import { BadFileError, type FileRows } from '../file-rows.ts';
import type { ReadProblem, ReadReply, ReadRequest, SeriesHead } from '../read-process.ts';
import type { TableRequest } from '../read-table.ts';
import { SharedRows } from '../shared-rows.ts';

/** Heap for reading, MB; columns are outside the heap. A valid file needs far less. */
const HEAP_MB = 128;
/** A valid file needs a small part of this time; the rest is for slow disks. */
const BASE_LIMIT_MS = 30_000;
const BYTES_PER_MS = 1_000;
/** Text of candles and trades has up to this many times the size of its compressed file. */
const COMPRESSION = 10;
const REASON_LENGTH = 200;

/** Series of a file, whose rows stay in the file that both processes have open. */
export type ReadSeries = Omit<SeriesHead, 'rows'> & { readonly rows: SharedRows };

/**
 * Reads files in a separate process with limited heap and time. On a corrupt file the Arrow library can loop 2^31 times or
 * exhaust the memory. In a thread this would end the whole process. The Parquet library is unusable after an error. In each
 * case the separate process is replaced.
 */
export class FileReader {
  readonly #baseLimitMs: number;
  #process: ChildProcess | undefined;
  /** Descriptor of a file without a name, into which the process writes rows; it ends with both processes. */
  #shared: number | undefined;

  /** @param baseLimitMs time limit of a file; each MB of uncompressed text adds a second */
  constructor({ baseLimitMs = BASE_LIMIT_MS } = {}) {
    this.#baseLimitMs = baseLimitMs;
  }

  /** Call it for one file at a time. Throws BadFileError for any error of reading. */
  async read(request: ReadRequest): Promise<FileRows> {
    const reply = await this.#read(request);
    if (!('rows' in reply)) throw new Error('a reply without rows');
    return new SharedRows(reply.rows, this.#shared!).load();
  }

  /** As {@link read}, of a file that names its series. Their rows are gone when the next file is read. */
  async readTable(request: TableRequest): Promise<ReadSeries[]> {
    const reply = await this.#read(request);
    if (!('series' in reply)) throw new Error('a reply without series');
    return reply.series.map(({ rows, ...head }) => ({ ...head, rows: new SharedRows(rows, this.#shared!) }));
  }

  async #read(request: ReadRequest | TableRequest): Promise<Exclude<ReadReply, ReadProblem>> {
    const bytes = await sizeOf(request.path);
    if (bytes === 0) throw new BadFileError('is empty');
    const size = /\.(gz|zst|zip|parquet)$/.test(request.path) ? bytes * COMPRESSION : bytes;
    const limit = AbortSignal.timeout(this.#baseLimitMs + Math.ceil(size / BYTES_PER_MS));
    const received = await receive(this.#running(), request, limit);
    if (!('problem' in received)) return received;
    if (received.sound) throw new BadFileError(received.problem);
    this.close();
    throw unreadable(received.problem);
  }

  #running(): ChildProcess {
    if (!this.#process?.connected) {
      this.#shared ??= openShared();
      const cache = compileCache();
      this.#process = fork(codeFile('../read-process', import.meta.url), {
        execArgv: [`--max-old-space-size=${HEAP_MB}`, '--expose-gc'],
        serialization: 'advanced',
        // biome-ignore lint/style/noProcessEnv: the environment of this process, and where its compiled code is
        env: { ...process.env, ...(cache && { NODE_COMPILE_CACHE: cache }) },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc', this.#shared],
      });
    }
    return this.#process;
  }

  close(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    if (this.#shared !== undefined) closeSync(this.#shared);
    this.#shared = undefined;
  }
}

function openShared(): number {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-rows-'));
  const file = openSync(join(folder, 'rows'), 'w+', 0o600);
  rmSync(folder, { recursive: true, force: true });
  return file;
}

async function receive(
  reader: ChildProcess,
  request: ReadRequest | TableRequest,
  limit: AbortSignal,
): Promise<ReadReply> {
  try {
    const replies = on(reader, 'message', { close: ['exit'], signal: limit });
    reader.send(request);
    for await (const [reply] of replies as AsyncIterable<[ReadReply]>) return reply;
    return ENDED;
  } catch (error) {
    if (!limit.aborted) throw error;
    return { problem: 'reading timed out; the file may be corrupt', sound: false };
  }
}

const ENDED: ReadProblem = {
  problem: 'the reader process ended; the file may be corrupt',
  sound: false,
};

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

function unreadable(problem: string): BadFileError {
  return new BadFileError(`cannot be read: ${problem.split('\n')[0]!.slice(0, REASON_LENGTH)}`);
}
