/** Program of the process that reads the files requested by file-reader.ts, one after the other. */

import { writeSync } from 'node:fs';
import { BadFileError, type FileRows, type Layout, type ReadOptions } from './file-rows.ts';
import { verifyChecksum } from './formats/checksum.ts';
import { type Format, readerOf } from './formats.ts';
import { readTable, type TableRequest } from './read-table.ts';
import type { FileSeries } from './series-table.ts';

/** Rows per message, 3 MB of candles. */
const ROWS_AT_ONCE = 65_536;
/** Descriptor of the file that both processes have open: messages with the rows would cost more than reading the text. */
const SHARED_FILE = 4;

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

/** Series of a file without its rows. */
export type SeriesHead = Omit<FileSeries, 'rows'> & {
  readonly length: number;
  readonly width: number;
  readonly first: FileRows['first'];
  /** The last column is the number of each row in the file. */
  readonly numbered: boolean;
};

/** Rows in the shared file: columns of 64-bit numbers one after the other. */
export interface SharedBlock {
  /** Byte of the file. */
  readonly offset: number;
  readonly rows: number;
}

/**
 * The first reply has the number of rows and columns, of each series of a table. The next ones have blocks of rows, in the order
 * of the series. A problem can replace any reply.
 */
export type ReadReply =
  | { readonly length: number; readonly width: number; readonly first: FileRows['first'] }
  | { readonly series: readonly SeriesHead[] }
  | { readonly block: SharedBlock }
  | ReadProblem;

/** Bytes of columns that are worth a collection. */
const MANY_BYTES = 2 ** 25;

/** Bytes of the shared file that belong to the current request. */
let sharedBytes = 0;

process.on('message', async (request: ReadRequest | TableRequest) => {
  sharedBytes = 0;
  try {
    await ('table' in request ? replyWithTable(request) : replyWithRows(request));
  } catch (error) {
    await reply({ problem: problemOf(error), sound: error instanceof BadFileError });
  }
  // The columns are outside the heap, and waiting for the next file collects no garbage.
  if (sharedBytes > MANY_BYTES) globalThis.gc?.();
});

/** Libraries run into corrupt data: what their code then misses says nothing to its owner. */
function problemOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof RangeError) return 'its data is corrupt';
  return error instanceof Error ? error.message : String(error);
}

async function replyWithRows({ path, format, layouts, options = {} }: ReadRequest): Promise<void> {
  if (options.checksum) await verifyChecksum(path, options.checksum);
  const read = await readerOf(format);
  const { columns, first } = await read(path, layouts, options);
  await reply({ length: columns[0]!.length, width: columns.length, first });
  await replyWithBlocks(columns);
}

async function replyWithTable(request: TableRequest): Promise<void> {
  if (request.checksum) await verifyChecksum(request.path, request.checksum);
  const series = await readTable(request);
  await reply({
    series: series.map(({ rows, ...head }) => ({
      ...head,
      length: rows.columns[0]!.length,
      width: rows.columns.length + (rows.numbers ? 1 : 0),
      first: rows.first,
      numbered: rows.numbers !== undefined,
    })),
  });
  for (const { rows } of series) {
    await replyWithBlocks(rows.numbers ? [...rows.columns, rows.numbers] : rows.columns);
  }
}

async function replyWithBlocks(columns: FileRows['columns']): Promise<void> {
  const { length } = columns[0]!;
  for (let row = 0; row < length; row += ROWS_AT_ONCE) {
    const rows = Math.min(ROWS_AT_ONCE, length - row);
    let offset = 0;
    for (const column of columns) {
      const { buffer, byteOffset, byteLength } = column.subarray(row, row + rows);
      writeAll(new Uint8Array(buffer, byteOffset, byteLength), sharedBytes + offset);
      offset += byteLength;
    }
    const block = { offset: sharedBytes, rows };
    sharedBytes += offset;
    await reply({ block });
  }
}

function writeAll(bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(SHARED_FILE, bytes, written, bytes.length - written, position + written);
  }
}

/** Waits until the message is sent: queued messages would fill the memory. */
function reply(message: ReadReply): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, undefined, {}, () => resolve());
  });
}
