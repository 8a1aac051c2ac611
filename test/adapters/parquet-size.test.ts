import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import {
  Table as ArrowTable,
  Dictionary,
  Int32,
  makeVector,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { Compression, Encoding, Table, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm';
import { describe, expect, it } from 'vitest';
import { checkParquetSize, LargeParquetError } from '#adapters/parquet/check-size.ts';
import { encodeStruct, i32, i64, listOf, type Struct, struct, text } from '#adapters/parquet/thrift.ts';
import { parseSignals } from '#adapters/signals/read-signals.ts';
import { createRandom } from '#engine/random.ts';

const MB = 2 ** 20;
const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD', 'LZ4_RAW'] as const;

/** File of one column of texts. */
function fileOf(texts: readonly string[], codec: (typeof CODECS)[number] = 'ZSTD', encoding?: Encoding) {
  const column = vectorFromArray(texts, new Utf8());
  let properties = new WriterPropertiesBuilder().setCompression(Compression[codec]);
  if (encoding !== undefined) properties = properties.setDictionaryEnabled(false).setEncoding(encoding);
  const table = Table.fromIPCStream(tableToIPC(new ArrowTable({ enter_tag: column }), 'stream'));
  return writeParquet(table, properties.build());
}

const limits = (maxBytes: number) => ({ rowsAtOnce: 65_536, maxRows: 2_000_000, maxBytes });
const check = (file: Uint8Array, maxBytes: number) => () => checkParquetSize(file, limits(maxBytes));

describe('sizes of a Parquet file', () => {
  it('2 KB with one text for each of many rows are refused before they are read', () => {
    const dictionary = vectorFromArray(['x'.repeat(30_000)], new Utf8());
    const type = new Dictionary(new Utf8(), new Int32());
    const column = makeVector({ type, data: new Int32Array(10_000), dictionary });
    const table = Table.fromIPCStream(tableToIPC(new ArrowTable({ enter_tag: column }), 'stream'));
    const file = writeParquet(table, new WriterPropertiesBuilder().setCompression(Compression.ZSTD).build());
    expect(file.length).toBeLessThan(3_000);
    expect(() => parseSignals(file, 'x')).toThrow(
      /^The file of signals x would take 2,\d{3} MB of memory to read, more than 190 MB, most for its column "enter_tag": write shorter texts/,
    );
  });

  it.each(CODECS)('longest text of a dictionary in %s decides, whatever the others are', (codec) => {
    const random = createRandom(3);
    const words = Array.from({ length: 300 }, () => random().toString(36).repeat(5).slice(0, 40));
    const texts = Array.from({ length: 60_000 }, (_, row) => words[row % words.length]!);
    expect(check(fileOf(texts, codec), 30 * MB)).not.toThrow();
    expect(check(fileOf([...texts, 'long '.repeat(2_000)], codec), 30 * MB)).toThrow(LargeParquetError);
  });

  it('texts that are written whole count as they are', () => {
    const texts = Array.from({ length: 60_000 }, (_, row) => `text ${row}`);
    for (const encoding of [Encoding.PLAIN, Encoding.DELTA_LENGTH_BYTE_ARRAY]) {
      expect(check(fileOf(texts, 'ZSTD', encoding), 20 * MB), String(encoding)).not.toThrow();
    }
    const long = Array.from({ length: 2_000 }, () => 'x'.repeat(10_000));
    expect(check(fileOf(long, 'ZSTD', Encoding.PLAIN), 20 * MB)).toThrow(LargeParquetError);
    expect(check(fileOf(long, 'ZSTD', Encoding.DELTA_BYTE_ARRAY), 20 * MB)).toThrow(LargeParquetError);
  });

  /** File whose only page says what it likes. */
  const forged = (codec: number, page: Uint8Array, { bytes = 1_000, rows = 10, offset = 4 } = {}) => {
    const header = encodeStruct({
      1: i32(0),
      2: i32(bytes),
      3: i32(page.length),
      5: struct({ 1: i32(rows), 2: i32(0), 3: i32(3), 4: i32(3) }),
    });
    const meta: Struct = {
      1: i32(2),
      2: listOf('i32', [i32(0)]),
      3: listOf('text', [text('timestamp')]),
      4: i32(codec),
      5: i64(rows),
      6: i64(bytes),
      7: i64(header.length + page.length),
      9: i64(offset),
    };
    const chunk = struct({ 2: i64(offset), 3: struct(meta) });
    const group = struct({ 1: listOf('struct', [chunk]), 2: i64(bytes), 3: i64(rows) });
    const root = struct({ 4: text('schema'), 5: i32(1) });
    const leaf = struct({ 1: i32(2), 3: i32(0), 4: text('timestamp') });
    const footer = encodeStruct({
      1: i32(1),
      2: listOf('struct', [root, leaf]),
      3: i64(rows),
      4: listOf('struct', [group]),
    });
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    return Buffer.concat([Buffer.from('PAR1'), header, page, footer, length, Buffer.from('PAR1')]);
  };

  it.each([
    ['GZIP', 2, gzipSync(Buffer.alloc(50 * MB))],
    ['BROTLI', 4, brotliCompressSync(Buffer.alloc(50 * MB))],
    ['ZSTD', 6, zstdCompressSync(Buffer.alloc(50 * MB))],
  ])('page in %s with more than its header says is refused when it passes that', (_, codec, page) => {
    expect(check(forged(codec, page), 100 * MB)).toThrow(/larger than 1000 bytes/);
  });

  it.each([
    ['a page of 2 GB', { bytes: 2 ** 31 - 1 }, LargeParquetError],
    ['2 billion rows', { rows: 2 ** 31 - 1 }, LargeParquetError],
    ['a page of a negative size', { bytes: -1 }, RangeError],
    ['a page behind the end', { offset: 5_000 }, RangeError],
  ])('%s is refused before it is read', (_, header, error) => {
    expect(check(forged(1, new Uint8Array(10), header), 100 * MB)).toThrow(error);
  });

  it('every change of a byte is read, or refused as an error', () => {
    const file = fileOf(['one', 'two', 'two']);
    const random = createRandom(34);
    for (let round = 0; round < 3_000; round++) {
      const changed = file.slice();
      changed[Math.floor(random() * file.length)] = Math.floor(random() * 256);
      const cut = round % 3 === 0 ? changed.subarray(0, Math.floor(random() * file.length)) : changed;
      try {
        checkParquetSize(cut, limits(MB));
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  });
});
