/** Program of the process that reads the files requested by file-reader.ts, one after the other. */

import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import {
  BadFileError,
  type Layout,
  type ReadOptions,
  type SharedBlock,
  type SpilledRows,
} from './file-rows.ts';
import { verifyChecksum } from './formats/checksum.ts';
import { type Format, readerOf } from './formats.ts';
import { readTable, type TableRequest } from './read-table.ts';
import type { FileSeries } from './series-table.ts';
import type { SharedRowsHead } from './shared-rows.ts';

/** Rows of a block, 3 MB of candles. */
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

/** Series of a file; its rows are in the shared file. */
export type SeriesHead = Omit<FileSeries, 'rows'> & { readonly rows: SharedRowsHead };

/** The reply to each request. */
export type ReadReply =
  | { readonly rows: SharedRowsHead }
  | { readonly series: readonly SeriesHead[] }
  | ReadProblem;

/** Bytes of columns that are worth a collection. */
const MANY_BYTES = 2 ** 25;

/** Kinds of files whose readers are in Node's compile cache. */
const kept = new Set<string>();

/** Bytes of the shared file that belong to the current request. */
let sharedBytes = 0;

process.on('message', async (request: ReadRequest | TableRequest) => {
  sharedBytes = 0;
  const kind = 'table' in request ? request.table : request.format;
  try {
    await ('table' in request ? replyWithTable(request) : replyWithRows(request));
  } catch (error) {
    await reply({ problem: problemOf(error), sound: error instanceof BadFileError });
  }
  // This process is killed when it is no longer needed: Node would keep the code at its end.
  if (!kept.has(kind)) flushCompileCache();
  kept.add(kind);
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
  await reply({ rows: shareRows(await read(path, layouts, options)) });
}

async function replyWithTable(request: TableRequest): Promise<void> {
  if (request.checksum) await verifyChecksum(request.path, request.checksum);
  const series = await readTable(request, share);
  await reply({ series: series.map(({ rows, ...head }) => ({ ...head, rows: shareRows(rows) })) });
}

/** Shares the rows that are in memory. */
function shareRows({ columns, numbers, first, spilled = [], left = [] }: SpilledRows): SharedRowsHead {
  const all = numbers ? [...columns, numbers] : columns;
  const blocks = [...spilled];
  for (let row = 0, { length } = all[0]!; row < length; row += ROWS_AT_ONCE)
    blocks.push(share(all.map((column) => column.subarray(row, row + ROWS_AT_ONCE))));
  return { blocks, width: all.length, first, numbered: numbers !== undefined, left };
}

/** Writes columns into the shared file. */
function share(columns: readonly Float64Array[]): SharedBlock {
  const block = { offset: sharedBytes, rows: columns[0]!.length };
  for (const { buffer, byteOffset, byteLength } of columns) {
    writeAll(new Uint8Array(buffer, byteOffset, byteLength), sharedBytes);
    sharedBytes += byteLength;
  }
  return block;
}

function writeAll(bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(SHARED_FILE, bytes, written, bytes.length - written, position + written);
  }
}

/** Waits until the message is sent. */
function reply(message: ReadReply): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, undefined, {}, () => resolve());
  });
}
