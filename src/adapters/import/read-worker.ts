/** A worker thread that reads the files it is told to, one after the other. Its other end is file-reader.ts. */
import { stat } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { type Format, readerOf } from './formats.ts';
import { BadFileError, type FileRows } from './rows.ts';

export interface ReadRequest {
  readonly path: string;
  readonly format: Format;
  readonly names: readonly string[];
}

/** `sound`: the reader itself found the file to be wrong, so it can go on; after other errors nobody knows. */
export type ReadReply = FileRows | { readonly problem: string; readonly sound: boolean };

parentPort!.on('message', async ({ path, format, names }: ReadRequest) => {
  try {
    if ((await stat(path)).size === 0) throw new BadFileError('is empty');
    const read = await readerOf(format);
    const rows = await read(path, names);
    reply(rows, rows.columns);
  } catch (error) {
    const sound = error instanceof BadFileError;
    reply({ problem: error instanceof Error ? error.message : String(error), sound }, []);
  }
});

function reply(message: ReadReply, columns: FileRows['columns']): void {
  parentPort!.postMessage(
    message,
    columns.map((column) => column.buffer),
  );
}
