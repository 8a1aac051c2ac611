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
import {
  encodeStruct,
  i32,
  i64,
  listOf,
  type Struct,
  struct,
  text,
  writeVarint,
} from '#adapters/parquet/thrift.ts';
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

  it('columns that are read at the same time count together', () => {
    const texts = Array.from({ length: 2_000 }, () => 'x'.repeat(1_000));
    const [one, two] = [['a'], ['a', 'b']].map((names) => {
      const columns = Object.fromEntries(names.map((name) => [name, vectorFromArray(texts, new Utf8())]));
      const table = Table.fromIPCStream(tableToIPC(new ArrowTable(columns), 'stream'));
      return writeParquet(table, new WriterPropertiesBuilder().setDictionaryEnabled(false).build());
    });
    expect(check(one!, 20 * MB)).not.toThrow();
    expect(check(two!, 20 * MB)).toThrow(LargeParquetError);
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

  /** Header and content of a page, by the number of its type. */
  const pageOf = (type: number, content: Uint8Array, headers: Struct) =>
    Buffer.concat([
      encodeStruct({ 1: i32(type), 2: i32(content.length), 3: i32(content.length), ...headers }),
      content,
    ]);
  const dataHead = (rows: number, encoding: number) =>
    struct({ 1: i32(rows), 2: i32(encoding), 3: i32(3), 4: i32(3) });
  const dictionaryOf = (content: Uint8Array, values = 1) =>
    pageOf(2, content, { 7: struct({ 1: i32(values), 2: i32(0) }) });
  const LONG = Buffer.concat([Buffer.from([0x30, 0x75, 0, 0]), Buffer.alloc(30_000, 'x')]);
  const INDEXES = 8;
  const bytes = (...numbers: readonly number[]) => {
    const all: number[] = [];
    for (const each of numbers) writeVarint(all, each);
    return Buffer.from(all);
  };

  /** File of the column `enter_tag`, of texts unless the schema says otherwise, whose metadata may contradict its pages. */
  const fileOfPages = (
    pages: readonly Uint8Array[],
    { type = 6, schemaType = 6, repetition = 0, values = 10_000, path = 'enter_tag' } = {},
  ) => {
    const length = pages.reduce((sum, page) => sum + page.length, 0);
    const meta: Struct = {
      1: i32(type),
      3: listOf('text', [text(path)]),
      4: i32(0),
      5: i64(values),
      6: i64(length),
      7: i64(length),
      9: i64(4),
    };
    const footer = encodeStruct({
      1: i32(1),
      2: listOf('struct', [
        struct({ 4: text('schema'), 5: i32(1) }),
        struct({ 1: i32(schemaType), 3: i32(repetition), 4: text('enter_tag') }),
      ]),
      4: listOf('struct', [struct({ 1: listOf('struct', [struct({ 3: struct(meta) })]) })]),
    });
    return withFooter(pages, footer);
  };
  const withFooter = (pages: readonly Uint8Array[], footer: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    return Buffer.concat([Buffer.from('PAR1'), ...pages, footer, length, Buffer.from('PAR1')]);
  };

  const manyTexts = [dictionaryOf(LONG), pageOf(0, bytes(20_000, 0), { 5: dataHead(10_000, INDEXES) })];
  it.each([
    ['no values', { values: 0 }],
    ['one value', { values: 1 }],
    ['numbers', { type: 1 }],
    ['another name', { path: 'other' }],
  ])('long texts of many rows are refused if the metadata of the column say %s', (_, lie) => {
    const file = fileOfPages(manyTexts, lie);
    expect(() => checkParquetSize(file, { ...limits(100 * MB), columns: ['enter_tag'] })).toThrow(
      LargeParquetError,
    );
  });

  it('a page has the header of its type, whichever others it has', () => {
    const second = struct({
      1: i32(10_000),
      2: i32(0),
      3: i32(10_000),
      4: i32(INDEXES),
      5: i32(0),
      6: i32(0),
    });
    const page = pageOf(3, bytes(20_000, 0), { 5: dataHead(1, 0), 8: second });
    expect(check(fileOfPages([dictionaryOf(LONG), page]), 100 * MB)).toThrow(LargeParquetError);
    expect(check(fileOfPages([pageOf(0, bytes(20_000, 0), { 8: second })]), 100 * MB)).toThrow(RangeError);
  });

  it('a dictionary with fewer values than its header says is refused', () => {
    const page = pageOf(0, bytes(2, 0), { 5: dataHead(1, INDEXES) });
    const numbers = { type: 2, schemaType: 2 };
    expect(check(fileOfPages([dictionaryOf(Buffer.alloc(8)), page], numbers), MB)).not.toThrow();
    expect(check(fileOfPages([dictionaryOf(Buffer.alloc(8), 2), page], numbers), MB)).toThrow(/truncated/);
    const narrow = { type: 1, schemaType: 1 };
    expect(check(fileOfPages([dictionaryOf(Buffer.alloc(8), 2), page], narrow), MB)).not.toThrow();
    expect(check(fileOfPages([dictionaryOf(LONG, 8_000), page]), MB)).toThrow(/truncated/);
  });

  it('a page with more lengths of texts than values is refused', () => {
    const lengths = (count: number) => [pageOf(0, bytes(128, 4, count, 0, 0, 0), { 5: dataHead(10, 6) })];
    expect(check(fileOfPages(lengths(10)), MB)).not.toThrow();
    expect(check(fileOfPages(lengths(11)), MB)).toThrow(/more lengths than values/);
    expect(check(fileOfPages(lengths(900_000_000)), MB)).toThrow(/more lengths than values/);
    // Before the lengths of a list come levels, which are not read here.
    expect(check(fileOfPages(lengths(10), { repetition: 2 }), MB)).toThrow(/unknown encoding/);
  });

  it('metadata and headers of pages with very many values are refused', () => {
    const list = (count: number) =>
      Buffer.concat([Buffer.from([0xa9, 0xfc]), bytes(count), Buffer.alloc(count + 1)]);
    expect(check(withFooter([], list(1_000_000)), 100 * MB)).toThrow(
      /has more than 500,000 values in its metadata: write larger row groups/,
    );
    expect(check(fileOfPages([list(1_000_000)]), 100 * MB)).toThrow(/too many values/);
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
