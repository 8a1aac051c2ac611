import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { stat } from 'node:fs/promises';
import type { ReadProblem, ReadReply, ReadRequest } from './read-process.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type FileRows } from './rows.ts';

/** Objects that reading may need, in MB; columns are not among them. A sound file stays far below. */
const HEAP_MB = 128;
/** Any sound file is read in a small part of the time; the rest is for slow disks. */
const PATIENCE_MS = 30_000;
const BYTES_PER_MS = 1_000;
const REASON_LENGTH = 200;

/**
 * Reads files in a process of its own, with a bounded heap and time: the Arrow library can take all memory for a corrupt
 * file, which ends the process (a thread would take this one with it), or count to 2^31, and the Parquet library is
 * unusable after a fault. A process that saw such a thing is replaced.
 */
export class FileReader {
  readonly #patienceMs: number;
  #process: ChildProcess | undefined;

  /** @param patienceMs what a file may take, and a second more for each MB of it */
  constructor({ patienceMs = PATIENCE_MS } = {}) {
    this.#patienceMs = patienceMs;
  }

  /** One at a time. Throws BadFileError, whatever keeps the file from being read. */
  async read(request: ReadRequest): Promise<FileRows> {
    const bytes = await sizeOf(request.path);
    if (bytes === 0) throw new BadFileError('is empty');
    const limit = AbortSignal.timeout(this.#patienceMs + Math.ceil(bytes / BYTES_PER_MS));
    const received = await receive(this.#running(), request, limit);
    if (!('problem' in received)) return received;
    if (received.sound) throw new BadFileError(received.problem);
    this.close();
    throw unreadable(received.problem);
  }

  #running(): ChildProcess {
    if (!this.#process?.connected) {
      this.#process = fork(new URL('./read-process.ts', import.meta.url), {
        execArgv: [`--max-old-space-size=${HEAP_MB}`],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
    }
    return this.#process;
  }

  close(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}

async function receive(
  reader: ChildProcess,
  request: ReadRequest,
  limit: AbortSignal,
): Promise<FileRows | ReadProblem> {
  try {
    const replies = on(reader, 'message', { close: ['exit'], signal: limit });
    reader.send(request);
    return await collect(replies as AsyncIterable<[ReadReply]>);
  } catch (error) {
    if (!limit.aborted) throw error;
    return { problem: 'it takes too long, which a corrupt file can cause', sound: false };
  }
}

async function collect(replies: AsyncIterable<[ReadReply]>): Promise<FileRows | ReadProblem> {
  let rows = new ColumnBuilder(1, 0);
  let [length, first] = [Number.NaN, FIRST_ROW];
  for await (const [reply] of replies) {
    if ('problem' in reply) return reply;
    if ('columns' in reply) rows.addBlock(reply.columns);
    else {
      ({ length, first } = reply);
      rows = new ColumnBuilder(reply.width, length);
    }
    if (rows.length === length) return { columns: rows.finish(), first };
  }
  return { problem: 'its reader broke, which a corrupt file can cause', sound: false };
}

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
