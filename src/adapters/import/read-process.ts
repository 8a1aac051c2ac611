/** A process that reads the files it is told to, one after the other. Its other end is file-reader.ts. */
import { type Format, readerOf } from './formats.ts';
import { BadFileError, type FileRows, type Layout } from './rows.ts';

/** Rows sent at once, 3 MB of candles. */
const ROWS_AT_ONCE = 65_536;

export interface ReadRequest {
  readonly path: string;
  readonly format: Format;
  readonly layouts: readonly Layout[];
}

/** `sound`: the reader itself found the file to be wrong, so it can go on; after other errors nobody knows. */
export interface ReadProblem {
  readonly problem: string;
  readonly sound: boolean;
}

/** How many rows and columns there are, then the rows in blocks; or a problem in place of either. */
export type ReadReply =
  | { readonly length: number; readonly width: number; readonly first: FileRows['first'] }
  | { readonly columns: FileRows['columns'] }
  | ReadProblem;

process.on('message', async ({ path, format, layouts }: ReadRequest) => {
  try {
    const read = await readerOf(format);
    const { columns, first } = await read(path, layouts);
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

/** Waits until it is on its way: what waits would fill the memory. */
function reply(message: ReadReply): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, undefined, {}, () => resolve());
  });
}
