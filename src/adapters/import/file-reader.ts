import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ReadReply, ReadRequest } from './read-worker.ts';
import { BadFileError, type FileRows } from './rows.ts';

/** Objects that reading may need; columns are not among them. A sound file stays far below. */
const HEAP_MB = 128;
const REASON_LENGTH = 200;

/**
 * Reads files in a thread of its own with a bounded heap: the Arrow library can take all memory for a damaged file, which
 * would end the process, and the Parquet library is unusable after a fault. A thread that saw either is replaced.
 */
export class FileReader {
  #worker: Worker | undefined;

  /** One at a time. Throws BadFileError, whatever keeps the file from being read. */
  async read(request: ReadRequest): Promise<FileRows> {
    this.#worker ??= new Worker(new URL('./read-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const reply = await this.#ask(this.#worker, request);
    if (!('problem' in reply)) return reply;
    if (reply.sound) throw new BadFileError(reply.problem);
    await this.close();
    throw new BadFileError(`cannot be read: ${reply.problem.split('\n')[0]!.slice(0, REASON_LENGTH)}`);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** An error that ends the thread, as running out of memory does, is a reply as well. */
  async #ask(worker: Worker, request: ReadRequest): Promise<ReadReply> {
    worker.postMessage(request);
    try {
      const [reply] = (await once(worker, 'message')) as [ReadReply];
      return reply;
    } catch (error) {
      return { problem: (error as Error).message, sound: false };
    }
  }
}
