import { zstdDecompressSync } from 'node:zlib';
import { CompressionType, compressionRegistry, type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { formatInteger } from '#contract/values/format-count.ts';
import {
  BadFileError,
  ColumnBuilder,
  FIRST_ROW,
  type FileRows,
  type Layout,
  MAX_ROWS,
  readWhole,
} from '../file-rows.ts';
import type { FileSeries, SeriesNames } from '../series-table.ts';
import { ArrowCandles, type ArrowHints } from './arrow-candles.ts';
import { columnsOfBatch, layoutIn } from './arrow-columns.ts';
import { decodeLz4Frame } from './lz4-frame.ts';

const MAGIC = 'ARROW1';
const MAGIC_OF_VERSION_1 = 'FEA1';
/** Memory for the columns of a batch, which are decompressed together: a few KB may become 128 MB. */
const MAX_BATCH_BYTES = 190 * 2 ** 20;
/** Times of the file that they may take too: candles become two or three times as large. */
const MAX_FACTOR = 8;
/** Two magics and the footer length: a shorter file cannot hold a schema. */
const MIN_BYTES = 24;

/** Bytes that the batch which is being read may still become. One file is read at a time. */
let room = 0;

compressionRegistry.set(CompressionType.LZ4_FRAME, {
  decode: (body) => decodeLz4Frame(body, unpackedLength(body)),
});
compressionRegistry.set(CompressionType.ZSTD, {
  decode(body) {
    const length = unpackedLength(body);
    const unpacked = zstdDecompressSync(body, { maxOutputLength: length });
    if (unpacked.length !== length) throw new BadFileError('its ZSTD compressed data is corrupt');
    return unpacked;
  },
});

/**
 * Reads Feather version 2, freqtrade's default format: an Arrow IPC file with any number of record batches, uncompressed or
 * compressed with LZ4 or ZSTD.
 * @throws BadFileError; errors of the Arrow library for a corrupt file
 */
export async function readFeather(path: string, layouts: readonly Layout[]): Promise<FileRows> {
  const { reader, batches } = await openFeather(path);
  const fields = new Set(reader.schema.fields.map((field) => field.name));
  const columns = layoutIn((name) => fields.has(name), layouts);
  const builder = new ColumnBuilder(columns.length);
  for (const batch of batches) builder.addBlock(columnsOfBatch(batch, columns));
  return { columns: builder.finish(), first: FIRST_ROW };
}

/** Candles of a Feather file, with columns found by their names. */
export async function readFeatherCandles(
  path: string,
  names: SeriesNames,
  hints: ArrowHints,
): Promise<FileSeries[]> {
  const { reader, batches } = await openFeather(path);
  const fields = reader.schema.fields.map((field) => field.name);
  let candles: ArrowCandles | undefined;
  for (const batch of batches) {
    candles ??= new ArrowCandles(fields, batch, names, hints);
    candles.add(batch);
  }
  return (candles ?? new ArrowCandles(fields, undefined, names, hints)).finish();
}

async function openFeather(path: string) {
  const bytes = await readWhole(path);
  checkMagic(bytes);
  const reader = RecordBatchReader.from(bytes);
  reader.open();
  return { reader, batches: batchesOf(reader, Math.max(MAX_BATCH_BYTES, MAX_FACTOR * bytes.length)) };
}

function* batchesOf(reader: RecordBatchReader, roomOfBatch: number): Iterable<RecordBatch> {
  room = roomOfBatch;
  for (const batch of reader) {
    // A column of nothing has any number of rows.
    if (batch.numRows > MAX_ROWS) throw new BadFileError(`holds more than ${formatInteger(MAX_ROWS)} rows`);
    yield batch;
    room = roomOfBatch;
  }
}

function checkMagic(bytes: Uint8Array): void {
  const text = (from: number, length: number) =>
    Buffer.from(bytes.subarray(from, from + length)).toString('latin1');
  if (text(0, MAGIC_OF_VERSION_1.length) === MAGIC_OF_VERSION_1) {
    throw new BadFileError('is Feather version 1: expected version 2');
  }
  if (text(0, MAGIC.length) !== MAGIC) throw new BadFileError('is not a Feather file');
  if (bytes.length < MIN_BYTES || text(bytes.length - MAGIC.length, MAGIC.length) !== MAGIC) {
    throw new BadFileError('is truncated');
  }
}

/** Reads the length in the eight bytes before the body; the Arrow library passes only the bytes after it. */
function unpackedLength(body: Uint8Array): number {
  const length = Number(new DataView(body.buffer, body.byteOffset - 8).getBigInt64(0, true));
  if (!(length >= 0 && length <= 8 * MAX_ROWS)) throw new BadFileError('its compressed data is corrupt');
  room -= length;
  if (room < 0) {
    throw new BadFileError(
      `has a batch of more than ${formatInteger(MAX_BATCH_BYTES / 2 ** 20)} MB when it is decompressed, far more than the file: write smaller batches, or only the columns of candles`,
    );
  }
  return length;
}
