import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import type { ReadReply, ReadRequest } from './read-process.ts';
import { BadFileError, ColumnBuilder, type FileRows } from './rows.ts';

/** Objects that reading may need, in MB; columns are not among them. A sound file stays far below. */
const HEAP_MB = 128;
const REASON_LENGTH = 200;

/**
 * Reads files in a process of its own with a bounded heap: the Arrow library can take all memory for a damaged file, which
 * ends the process (a thread would take this one with it), and the Parquet library is unusable after a fault. A process
 * that saw either is replaced.
 */
export class FileReader {
  #process: ChildProcess | undefined;

  /** One at a time. Throws BadFileError, whatever keeps the file from being read. */
  async read(request: ReadRequest): Promise<FileRows> {
    this.#process ??= fork(new URL('./read-process.ts', import.meta.url), {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const builder = new ColumnBuilder(request.names.length);
    const end = await receive(this.#process, request, builder);
    if ('first' in end) return { columns: builder.finish(), first: end.first };
    if (end.sound) throw new BadFileError(end.problem);
    this.close();
    throw new BadFileError(`cannot be read: ${end.problem.split('\n')[0]!.slice(0, REASON_LENGTH)}`);
  }

  close(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}

type End = Exclude<ReadReply, { columns: unknown }>;

/** Collects the rows of the file and answers how reading it ended. */
async function receive(reader: ChildProcess, request: ReadRequest, rows: ColumnBuilder): Promise<End> {
  const replies = on(reader, 'message', { close: ['exit'] });
  reader.send(request);
  for await (const [reply] of replies as AsyncIterable<[ReadReply]>) {
    if (!('columns' in reply)) return reply;
    rows.addBlock(reply.columns);
  }
  return { problem: 'its reader broke, which a damaged file can cause', sound: false };
}
