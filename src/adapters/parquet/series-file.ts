import {
  assembleFile,
  type ColumnShape,
  DELTA,
  describeFile,
  type Frame,
  MAGIC,
  PLAIN,
  type PlainColumn,
  plainNumbers,
  plainTimes,
  UNCOMPRESSED,
} from './plain-file.ts';
import { Varints, writeVarint, zigzag } from './thrift.ts';

/**
 * Parquet files of a month of candles or funding events, whose values are read without being decoded: doubles as in memory,
 * uncompressed, at addresses that a Float64Array can have. Everything but the values follows from the names of the columns
 * and the {@link Extent}. So a reader compares it, and needs no parser that a damaged file could deceive. Reasons and
 * measurements: docs/decisions/091.
 */

/** What determines a file together with the names of its columns. */
interface Extent {
  readonly rows: number;
  /** Of the times. */
  readonly encoding: number;
  /** Of the times. */
  readonly bytes: number;
}

const DOUBLE_BYTES = Float64Array.BYTES_PER_ELEMENT;
/** Deltas of times in a block, and blocks' parts with a width of their own. */
const BLOCK = 128;
const PARTS = 4;
const MAX_FRAMES = 100;
const NONE = new Float64Array();

/** Files whose columns have these names; the first holds ascending times in ms. */
export class SeriesFiles {
  readonly #names: readonly string[];
  /** By extent: months of equal length have equal ones. */
  readonly #frames = new Map<string, Frame>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Bytes of columns of equal length. Equal columns give equal bytes. */
  encode(columns: readonly Float64Array[]): Buffer {
    const [times, ...doubles] = columns;
    const page = pageOfTimes(times!);
    const frame = this.#frameOf({
      rows: times!.length,
      encoding: page.encoding ?? PLAIN,
      bytes: page.values.length,
    });
    return assembleFile(frame, [page.values, ...doubles.map((column) => plainNumbers('', column).values)]);
  }

  /**
   * Columns of a file that {@link encode} wrote, as views of its bytes; undefined for any other file. What is between the
   * last page and the footer is not read.
   */
  decode(content: Uint8Array): Float64Array[] | undefined {
    // A small body may begin anywhere in a buffer that it shares.
    const file = bufferOf(content.byteOffset % DOUBLE_BYTES === 0 ? content : content.slice());
    const extent = extentOf(file);
    if (!extent) return undefined;
    const { rows, bytes } = extent;
    // Before anything of that size is made.
    if (bytes + rows * DOUBLE_BYTES * (this.#names.length - 1) > file.length) return undefined;
    const { heads, tail } = this.#frameOf(extent);
    const pages: Buffer[] = [];
    let offset = MAGIC.length;
    for (const head of heads) {
      if (!isAt(file, offset, head)) return undefined;
      const start = offset + head.length;
      offset = start + (pages.length === 0 ? bytes : rows * DOUBLE_BYTES);
      pages.push(file.subarray(start, offset));
    }
    const footer = file.length - tail.length;
    if (offset > footer || !isAt(file, footer, tail)) return undefined;
    const [stored, ...doubles] = pages;
    const times = extent.encoding === PLAIN ? decodeTimes(stored!) : decodeRegularTimes(stored!, rows);
    return times && [times, ...doubles.map(floatsOf)];
  }

  #frameOf({ rows, encoding, bytes }: Extent): Frame {
    const key = `${rows} ${encoding} ${bytes}`;
    const known = this.#frames.get(key);
    if (known) return known;
    const columns: ColumnShape[] = this.#names.map((name, index) =>
      index === 0 ? { ...plainTimes(name, NONE), encoding } : plainNumbers(name, NONE),
    );
    const frame = describeFile(columns, rows, {
      codec: UNCOMPRESSED,
      sizes: columns.map((_, index) => {
        const size = index === 0 ? bytes : rows * DOUBLE_BYTES;
        return { plain: size, stored: size };
      }),
      alignment: DOUBLE_BYTES,
    });
    if (this.#frames.size === MAX_FRAMES) this.#frames.clear();
    this.#frames.set(key, frame);
    return frame;
  }
}

/**
 * What the header of the first page says, read at the places that the order of its fields fixes. In another file these are any
 * numbers: the caller reads no value by them before it has found the headers that follow from them in the file, byte by byte.
 */
function extentOf(file: Buffer): Extent | undefined {
  let at = MAGIC.length;
  while (at < MAGIC.length + DOUBLE_BYTES && file[at] === 0) at++;
  // A field's number and type are one byte. The kind of the page precedes.
  const numbers = new Varints(file, at + 3);
  const bytes = numbers.nextSigned();
  numbers.skip(1);
  numbers.nextSigned();
  numbers.skip(2);
  const rows = numbers.nextSigned();
  numbers.skip(1);
  const encoding = numbers.nextSigned();
  const isPlain = encoding === PLAIN && bytes === rows * DOUBLE_BYTES;
  return rows > 0 && bytes > 0 && (isPlain || encoding === DELTA) ? { rows, encoding, bytes } : undefined;
}

function pageOfTimes(times: Float64Array): Pick<PlainColumn, 'encoding' | 'values'> {
  const step = stepOf(times);
  if (step === undefined) return plainTimes('', times);
  return { encoding: DELTA, values: encodeRegularTimes(times[0]!, step, times.length) };
}

/** Distance of evenly spaced times; undefined for others. */
function stepOf(times: Float64Array): number | undefined {
  const { length } = times;
  if (length < 2) return undefined;
  const first = times[0]!;
  const step = times[1]! - first;
  if (!isEncodable(first) || !isEncodable(step)) return undefined;
  for (let row = 2; row < length; row++) if (times[row] !== first + row * step) return undefined;
  return step;
}

/** Evenly spaced times in Parquet's DELTA_BINARY_PACKED: every block repeats the step, and its deltas have no bits. */
function encodeRegularTimes(first: number, step: number, rows: number): Buffer {
  const head: number[] = [];
  for (const value of [BLOCK, PARTS, rows, zigzag(first)]) writeVarint(head, value);
  const block: number[] = [];
  writeVarint(block, zigzag(step));
  block.push(...new Uint8Array(PARTS));
  const blocks = Math.ceil((rows - 1) / BLOCK);
  return Buffer.concat([Buffer.from(head), Buffer.alloc(block.length * blocks, Buffer.from(block))]);
}

/** Undefined for bytes that {@link encodeRegularTimes} does not write. */
function decodeRegularTimes(page: Buffer, rows: number): Float64Array | undefined {
  const numbers = new Varints(page, 0);
  for (let skipped = 0; skipped < 3; skipped++) numbers.nextSigned();
  const first = numbers.nextSigned();
  const step = numbers.nextSigned();
  if (!isEncodable(first) || !isEncodable(step)) return undefined;
  if (!encodeRegularTimes(first, step, rows).equals(page)) return undefined;
  const times = new Float64Array(rows);
  for (let row = 0; row < rows; row++) times[row] = first + row * step;
  return times;
}

/** An integer is encoded as twice its value. */
function isEncodable(value: number): boolean {
  return Number.isSafeInteger(2 * value);
}

/** Integers of 64 bits. By halves: a BigInt for each is ten times slower. */
function decodeTimes(page: Buffer): Float64Array {
  const halves = new Int32Array(page.buffer, page.byteOffset, page.length / Int32Array.BYTES_PER_ELEMENT);
  const times = new Float64Array(page.length / DOUBLE_BYTES);
  for (let row = 0, { length } = times; row < length; row++)
    times[row] = (halves[2 * row]! >>> 0) + halves[2 * row + 1]! * 4_294_967_296;
  return times;
}

function floatsOf(page: Buffer): Float64Array {
  return new Float64Array(page.buffer, page.byteOffset, page.length / DOUBLE_BYTES);
}

function isAt(file: Buffer, offset: number, bytes: Buffer): boolean {
  return file.subarray(offset, offset + bytes.length).equals(bytes);
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
