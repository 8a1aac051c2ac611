/** Program of the process that reads the files requested by file-reader.ts, one after the other. */
import { verifyChecksum } from './checksum.ts';
import { type Format, readerOf } from './formats.ts';
import { BadFileError, type FileRows, type Layout, type ReadOptions } from './rows.ts';

/** Rows per message, 3 MB of candles. */
const ROWS_AT_ONCE = 65_536;

export interface ReadRequest {
  readonly path: string;
  readonly format: Format;
  readonly layouts: readonly Layout[];
  readonly options?: ReadOptions;
}

/** `sound`: the reader rejected the file and can continue; after other errors its state is unknown. */
export interface ReadProblem {
  readonly problem: string;
  readonly sound: boolean;
}

/** The first reply has the number of rows and columns; the next ones have blocks of rows. A problem can replace any reply. */
export type ReadReply =
  | { readonly length: number; readonly width: number; readonly first: FileRows['first'] }
  | { readonly columns: FileRows['columns'] }
  | ReadProblem;

process.on('message', async ({ path, format, layouts, options = {} }: ReadRequest) => {
  try {
    if (options.checksum) await verifyChecksum(path, options.checksum);
    const read = await readerOf(format);
    const { columns, first } = await read(path, layouts, options);
    const { length } = columns[0]!;
    await reply({ length, width: columns.length, first });
    for (let row = 0; row < length; row += ROWS_AT_ONCE) {
      await reply({ columns: columns.map((column) => column.subarray(row, row + ROWS_AT_ONCE)) });
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    await reply({ problem, sound: error instanceof BadFileError });
  }
});

/** Waits until the message is sent: queued messages would fill the memory. */
function reply(message: ReadReply): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, undefined, {}, () => resolve());
  });
}
