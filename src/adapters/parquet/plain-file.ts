import { constants, zstdCompressSync } from 'node:zlib';
import type { TextColumn } from '#engine/simulator/trade-table.ts';
import { bool, encodeStruct, i32, i64, listOf, type Struct, struct, text, writeVarint } from './thrift.ts';

/**
 * Parquet's simplest files: one row group, one page a column, plain values in zstd
 * (https://github.com/apache/parquet-format). Every Parquet reader supports them. Reason for no library: docs/decisions/036.
 */

// Numbers of the format.
const TYPE = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6 } as const;
const REQUIRED = 0;
const OPTIONAL = 1;
export const PLAIN = 0;
const RLE = 3;
export const DELTA = 5;
export const UNCOMPRESSED = 0;
const ZSTD = 6;
const DATA_PAGE = 0;
const VERSION = 1;
export const MAGIC = Buffer.from('PAR1');

const TEXT_TYPE: Struct = { 6: i32(0), 10: struct({ 1: struct({}) }) };
const UTC_MILLISECONDS: Struct = {
  6: i32(9),
  10: struct({ 8: struct({ 1: bool(true), 2: struct({ 1: struct({}) }) }) }),
};

/** Compression level. It is fixed, so equal files have equal bytes. */
const PARAMS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** What a file says of a column. */
export interface ColumnShape {
  readonly name: string;
  readonly type: number;
  /** Logical type, if the column has one. */
  readonly annotation?: Struct;
  /** Of the values; plain if absent. */
  readonly encoding?: number;
  /** 1 for each row with a value. Absent: every row has one. */
  readonly present?: Uint8Array;
}

/** A column of such a file. */
export interface PlainColumn extends ColumnShape {
  /** Present values, concatenated. */
  readonly values: Uint8Array;
}

/** Unix milliseconds as a time in UTC. */
export function plainTimes(name: string, milliseconds: Float64Array): PlainColumn {
  const halves = new Int32Array(2 * milliseconds.length);
  for (let row = 0, { length } = milliseconds; row < length; row++) {
    const value = milliseconds[row]!;
    const high = Math.floor(value / 4_294_967_296);
    halves[2 * row] = value - high * 4_294_967_296;
    halves[2 * row + 1] = high;
  }
  return { name, type: TYPE.int64, annotation: UTC_MILLISECONDS, values: bytesOf(halves) };
}

export function plainNumbers(name: string, values: Float64Array): PlainColumn {
  return { name, type: TYPE.double, values: bytesOf(values) };
}

/** NaN is an absent value. */
export function plainOptionalNumbers(name: string, values: Float64Array): PlainColumn {
  const present = new Uint8Array(values.length);
  const some = new Float64Array(values.length);
  let count = 0;
  for (let row = 0, { length } = values; row < length; row++) {
    if (Number.isNaN(values[row])) continue;
    present[row] = 1;
    some[count++] = values[row]!;
  }
  return { ...plainNumbers(name, some.subarray(0, count)), present };
}

export function plainIntegers(name: string, values: Int32Array): PlainColumn {
  return { name, type: TYPE.int32, values: bytesOf(values) };
}

/** 1 is true. */
export function plainFlags(name: string, values: Uint8Array): PlainColumn {
  return { name, type: TYPE.boolean, values: bitsOf(values) };
}

export function plainTexts(name: string, column: TextColumn): PlainColumn {
  return { name, type: TYPE.bytes, annotation: TEXT_TYPE, values: textsOf(column) };
}

/** null is an absent string. */
export function plainOptionalTexts(name: string, column: TextColumn<string | null>): PlainColumn {
  const { texts, index } = column;
  const present = new Uint8Array(index.length);
  for (let row = 0, { length } = index; row < length; row++)
    present[row] = texts[index[row]!] === null ? 0 : 1;
  return { name, type: TYPE.bytes, annotation: TEXT_TYPE, values: textsOf(column), present };
}

/** Bytes of a file of columns with `rows` rows each. */
export function encodePlainFile(columns: readonly PlainColumn[], rows: number): Buffer {
  const pages = columns.map(({ values, present }) =>
    present ? Buffer.concat([levelsOf(present), values]) : values,
  );
  const stored = pages.map((page) => zstdCompressSync(page, PARAMS));
  const sizes = pages.map((page, index) => ({ plain: page.length, stored: stored[index]!.length }));
  return assembleFile(describeFile(columns, rows, { codec: ZSTD, sizes }), stored);
}

interface PageSize {
  /** Bytes before compression. */
  readonly plain: number;
  readonly stored: number;
}

interface Storage {
  readonly codec: number;
  /** One page a column. */
  readonly sizes: readonly PageSize[];
  /** The content of pages begins at a multiple of this many bytes. */
  readonly alignment?: number;
}

/** A file without the content of its pages. */
export interface Frame {
  /** What precedes the content of each page. */
  readonly heads: readonly Buffer[];
  /** What follows the last page. */
  readonly tail: Buffer;
}

/** A file without the content of its pages: this follows from columns, rows and sizes. */
export function describeFile(
  columns: readonly ColumnShape[],
  rows: number,
  { codec, sizes, alignment = 1 }: Storage,
): Frame {
  const heads: Buffer[] = [];
  const chunks: Struct[] = [];
  let offset = MAGIC.length;
  for (const [index, column] of (rows === 0 ? [] : columns).entries()) {
    const size = sizes[index]!;
    const header = describePage(column, rows, size);
    const gap = (alignment - ((offset + header.length) % alignment)) % alignment;
    const chunk = { codec, plain: header.length + size.plain, stored: header.length + size.stored };
    heads.push(Buffer.concat([new Uint8Array(gap), header]));
    chunks.push(describeChunk(column, rows, { ...chunk, offset: offset + gap }));
    offset += gap + chunk.stored;
  }
  const footer = encodeStruct(describeMetadata(columns, rows, offset - MAGIC.length, chunks));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return { heads, tail: Buffer.concat([footer, length, MAGIC]) };
}

export function assembleFile({ heads, tail }: Frame, pages: readonly Uint8Array[]): Buffer {
  return Buffer.concat([MAGIC, ...heads.flatMap((head, index) => [head, pages[index]!]), tail]);
}

function describePage({ encoding = PLAIN }: ColumnShape, rows: number, size: PageSize): Buffer {
  return encodeStruct({
    1: i32(DATA_PAGE),
    2: i32(size.plain),
    3: i32(size.stored),
    5: struct({ 1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE) }),
  });
}

/** Definition levels: one run of single bits. */
function levelsOf(present: Uint8Array): Buffer {
  const bits = bitsOf(present);
  const head: number[] = [];
  writeVarint(head, bits.length * 2 + 1);
  return lengthPrefixed(Uint8Array.from(head), bits);
}

interface Chunk {
  readonly codec: number;
  /** Bytes of the page with its header. */
  readonly plain: number;
  readonly stored: number;
  readonly offset: number;
}

function describeChunk({ name, type, encoding = PLAIN }: ColumnShape, rows: number, chunk: Chunk): Struct {
  return {
    2: i64(chunk.offset),
    3: struct({
      1: i32(type),
      2: listOf('i32', [i32(encoding), i32(RLE)]),
      3: listOf('text', [text(name)]),
      4: i32(chunk.codec),
      5: i64(rows),
      6: i64(chunk.plain),
      7: i64(chunk.stored),
      9: i64(chunk.offset),
    }),
  };
}

function describeMetadata(
  columns: readonly ColumnShape[],
  rows: number,
  bytes: number,
  chunks: readonly Struct[],
): Struct {
  const root = struct({ 4: text('schema'), 5: i32(columns.length) });
  const leaves = columns.map(({ name, type, annotation, present }) =>
    struct({ 1: i32(type), 3: i32(present ? OPTIONAL : REQUIRED), 4: text(name), ...annotation }),
  );
  const group = struct({ 1: listOf('struct', chunks.map(struct)), 2: i64(bytes), 3: i64(rows) });
  return {
    1: i32(VERSION),
    2: listOf('struct', [root, ...leaves]),
    3: i64(rows),
    4: listOf('struct', chunks.length === 0 ? [] : [group]),
    6: text('touchstone'),
  };
}

function bytesOf(values: Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Zeros and ones as bits, the lowest first. */
function bitsOf(flags: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (let row = 0, { length } = flags; row < length; row++) bits[row >> 3]! |= flags[row]! << (row & 7);
  return bits;
}

/** Each string after its length, null as nothing. Each distinct string is encoded once. */
function textsOf({ texts, index }: TextColumn<string | null>): Uint8Array {
  const encoded = texts.map((each) => (each === null ? Buffer.alloc(0) : lengthPrefixed(Buffer.from(each))));
  let bytes = 0;
  for (let row = 0, { length } = index; row < length; row++) bytes += encoded[index[row]!]!.length;
  const values = new Uint8Array(bytes);
  let at = 0;
  for (let row = 0, { length } = index; row < length; row++) {
    const each = encoded[index[row]!]!;
    values.set(each, at);
    at += each.length;
  }
  return values;
}

/** Bytes after their length in four bytes. */
function lengthPrefixed(...parts: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat([new Uint8Array(4), ...parts]);
  bytes.writeUInt32LE(bytes.length - 4);
  return bytes;
}
