import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeFile } from '../../code-file.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type FileRows } from '../file-rows.ts';
import type { ReadProblem, ReadReply, ReadRequest, SeriesHead, SharedBlock } from '../read-process.ts';
import type { TableRequest } from '../read-table.ts';
import type { FileSeries } from '../series-table.ts';

/** Heap for reading, MB; columns are outside the heap. A valid file needs far less. */
const HEAP_MB = 128;
/** A valid file needs a small part of this time; the rest is for slow disks. */
const BASE_LIMIT_MS = 30_000;
const BYTES_PER_MS = 1_000;
/** Text of candles and trades has up to this many times the size of its compressed file. */
const COMPRESSION = 10;
const REASON_LENGTH = 200;

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
  read(request: ReadRequest): Promise<FileRows> {
    return this.#read(request, collect);
  }

  /** As {@link read}, of a file that names its series. */
  readTable(request: TableRequest): Promise<FileSeries[]> {
    return this.#read(request, collectSeries);
  }

  async #read<Result extends object>(
    request: ReadRequest | TableRequest,
    collectReplies: Collect<Result>,
  ): Promise<Result> {
    const bytes = await sizeOf(request.path);
    if (bytes === 0) throw new BadFileError('is empty');
    const size = /\.(gz|zst|zip|parquet)$/.test(request.path) ? bytes * COMPRESSION : bytes;
    const limit = AbortSignal.timeout(this.#baseLimitMs + Math.ceil(size / BYTES_PER_MS));
    const received = await receive(this.#running(), request, limit, (replies) =>
      collectReplies(replies, this.#shared!),
    );
    if (!('problem' in received)) return received;
    if (received.sound) throw new BadFileError(received.problem);
    this.close();
    throw unreadable(received.problem);
  }

  #running(): ChildProcess {
    if (!this.#process?.connected) {
      this.#shared ??= openShared();
      this.#process = fork(codeFile('../read-process', import.meta.url), {
        execArgv: [`--max-old-space-size=${HEAP_MB}`, '--expose-gc'],
        serialization: 'advanced',
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

/** Reads rows of the shared file into columns. */
function addShared(rows: ColumnBuilder, { offset, rows: count }: SharedBlock, file: number): void {
  rows.fillBlock(count, (column, index) => {
    const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    const start = offset + index * bytes.length;
    for (let read = 0; read < bytes.length; ) {
      const more = readSync(file, bytes, read, bytes.length - read, start + read);
      if (more === 0) throw new Error('the rows that were read are gone');
      read += more;
    }
  });
}

type Collect<Result> = (replies: AsyncIterable<[ReadReply]>, shared: number) => Promise<Result | ReadProblem>;

async function receive<Result>(
  reader: ChildProcess,
  request: ReadRequest | TableRequest,
  limit: AbortSignal,
  collectReplies: (replies: AsyncIterable<[ReadReply]>) => Promise<Result | ReadProblem>,
): Promise<Result | ReadProblem> {
  try {
    const replies = on(reader, 'message', { close: ['exit'], signal: limit });
    reader.send(request);
    return await collectReplies(replies as AsyncIterable<[ReadReply]>);
  } catch (error) {
    if (!limit.aborted) throw error;
    return { problem: 'reading timed out; the file may be corrupt', sound: false };
  }
}

async function collect(replies: AsyncIterable<[ReadReply]>, shared: number): Promise<FileRows | ReadProblem> {
  let rows = new ColumnBuilder(1, 0);
  let [length, first] = [Number.NaN, FIRST_ROW];
  for await (const [reply] of replies) {
    if ('problem' in reply) return reply;
    if ('block' in reply) addShared(rows, reply.block, shared);
    else if ('length' in reply) {
      ({ length, first } = reply);
      rows = new ColumnBuilder(reply.width, length);
    }
    if (rows.length === length) return { columns: rows.finish(), first };
  }
  return ENDED;
}

async function collectSeries(
  replies: AsyncIterable<[ReadReply]>,
  shared: number,
): Promise<FileSeries[] | ReadProblem> {
  let heads: readonly SeriesHead[] = [];
  let rows = new ColumnBuilder(1, 0);
  const series: FileSeries[] = [];
  for await (const [reply] of replies) {
    if ('problem' in reply) return reply;
    if ('series' in reply) heads = reply.series;
    if ('block' in reply) addShared(rows, reply.block, shared);
    const head = heads[series.length]!;
    if ('block' in reply && rows.length === head.length) series.push(seriesOf(head, rows.finish()));
    if (series.length === heads.length) return series;
    const { width, length } = heads[series.length]!;
    if (rows.length === 0 || rows.length === head.length) rows = new ColumnBuilder(width, length);
  }
  return ENDED;
}

function seriesOf(head: SeriesHead, columns: Float64Array<ArrayBuffer>[]): FileSeries {
  const { length: _, width: __, first, numbered, ...names } = head;
  const numbers = numbered ? columns.pop() : undefined;
  return { ...names, rows: { columns, first, ...(numbers && { numbers }) } };
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
