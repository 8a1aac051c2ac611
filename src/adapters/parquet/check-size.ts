import { formatInteger } from '#contract/values/format-count.ts';
import { CODEC, decompressPage } from './decompress-page.ts';
import { ThriftReader, type ThriftStruct } from './thrift-reader.ts';

/** A Parquet file that would take too much memory. The message states what to do, without the name of the file. */
export class LargeParquetError extends Error {
  override readonly name = 'LargeParquetError';
}

/** Memory that reading may take in addition to the file: together with a file of 32 MB and its process less than 400 MB. */
const MAX_BYTES = 190 * 2 ** 20;
/** Times of the file that reading may take too: a large file may have large pages. */
const MAX_FACTOR = 4;
/** Measured: times of the rows of a step, as they grow in WebAssembly, in Arrow's stream there and in JavaScript. */
const COPIES = 7;

const FOOTER_BYTES = 8;
const MAX_INT32 = 2 ** 31 - 1;
/** Bytes of a value by the number of its type; a text has its place. */
const WIDTHS = [1, 8, 8, 12, 8, 8, 8];
const BYTE_ARRAY = 6;
const FIXED_BYTE_ARRAY = 7;
const DICTIONARY_PAGE = 2;
/** The library unpacks them to their end, whatever the header of the page says. */
const UNBOUNDED_CODECS: readonly number[] = [CODEC.gzip, CODEC.brotli, CODEC.zstd];
/** Most that a byte of LZ4 unpacks to. */
const LZ4_RATIO = 255;
const DICTIONARY_ENCODINGS = [2, 8];
/** Each text may begin as the one before it: a page of few bytes may have many long texts. */
const DELTA_BYTE_ARRAY = 7;

export interface SizeLimits {
  /** Rows that are read in one step. */
  readonly rowsAtOnce: number;
  readonly maxRows: number;
  /** Columns that are read. Default: all. */
  readonly columns?: readonly string[];
  /** Default: 236 MiB, or four times the file. */
  readonly maxBytes?: number;
}

/**
 * Estimates the memory for reading a file from the sizes in it, before anything is decoded: 2 KB may hold a text of 30 KB for each
 * of a million rows. An estimate is never too low for a file that can be read.
 *
 * @throws LargeParquetError; RangeError for a file that is corrupt
 */
export function checkParquetSize(file: Uint8Array, limits: SizeLimits): void {
  const metadata = footerOf(file);
  const [, ...schema] = structs(metadata.get(2));
  const lengths = new Map(schema.map((each) => [textOf(each.get(4)), numberOf(each.get(2))]));
  const columns = new Map<string, ColumnCost>();
  for (const group of structs(metadata.get(4))) {
    for (const chunk of structs(group.get(1))) {
      const meta = chunk.get(3) as ThriftStruct | undefined;
      if (!meta) throw new RangeError('a column has no metadata');
      const path = (meta.get(3) as Uint8Array[]).map(textOf);
      if (limits.columns && !limits.columns.includes(path[0]!)) continue;
      const name = path.join('.');
      const column = columns.get(name) ?? new ColumnCost(name, path.length > 1, limits);
      columns.set(name, column);
      column.add(file, meta, lengths.get(path.at(-1)!) ?? 0);
    }
  }
  checkSum([...columns.values()], maxBytesOf(limits, file.length));
}

function checkSum(columns: readonly ColumnCost[], maxBytes: number): void {
  const count = Math.max(1, ...columns.map(({ steps }) => steps.length));
  const pages = columns.reduce((sum, column) => sum + column.pages, 0);
  for (let step = 0; step < count; step++) {
    const rows = columns.map(({ steps }) => steps[step] ?? 0);
    const bytes = pages + COPIES * rows.reduce((sum, each) => sum + each, 0);
    if (bytes > maxBytes) throw tooLarge(bytes, maxBytes, columns[rows.indexOf(Math.max(...rows))]!.name);
  }
}

function tooLarge(bytes: number, maxBytes: number, column: string): LargeParquetError {
  const megabytes = (count: number) => `${formatInteger(Math.ceil(count / 2 ** 20))} MB`;
  return new LargeParquetError(
    `would take ${megabytes(bytes)} of memory to read, more than ${megabytes(maxBytes)}, most for its column ${JSON.stringify(column.slice(0, 40))}: write shorter texts, smaller pages or smaller row groups`,
  );
}

const maxBytesOf = ({ maxBytes }: SizeLimits, fileBytes: number) =>
  maxBytes ?? Math.max(MAX_BYTES, MAX_FACTOR * fileBytes);

/** Memory that reading a column takes. */
class ColumnCost {
  readonly name: string;
  /** Bytes of its rows by step. */
  readonly steps: number[] = [];
  readonly #limits: SizeLimits;
  readonly #isNested: boolean;
  #rows = 0;
  #largestPage = 0;
  #largestDictionary = 0;

  constructor(name: string, isNested: boolean, limits: SizeLimits) {
    this.name = name;
    this.#isNested = isNested;
    this.#limits = limits;
  }

  /** Bytes of the page and the dictionary that are open at the same time. */
  get pages(): number {
    return this.#largestPage + 2 * this.#largestDictionary;
  }

  /** Adds the pages of one row group. */
  add(file: Uint8Array, meta: ThriftStruct, length: number): void {
    const [type, codec] = [numberOf(meta.get(1)), numberOf(meta.get(4))];
    const start = numberOf(meta.get(11) ?? meta.get(9));
    const end = start + numberOf(meta.get(7));
    let longest = 0;
    let left = numberOf(meta.get(5));
    for (let at = start; at < end && left > 0; ) {
      const page = readPage(file, at);
      at = page.end;
      if (page.isDictionary) {
        this.#largestDictionary = Math.max(this.#largestDictionary, page.bytes);
        this.#checkPages(file.length);
        const content = unpack(page, codec, type === BYTE_ARRAY);
        if (content && type === BYTE_ARRAY) longest = longestText(content);
      } else if (page.values !== undefined) {
        left -= page.values;
        this.#largestPage = Math.max(
          this.#largestPage,
          codec === CODEC.lz4 ? LZ4_RATIO * page.packed.length : page.bytes,
        );
        this.#checkPages(file.length);
        unpack(page, codec, false);
        const { encoding, bytes } = page;
        this.#addRows(page.values, bytesOf({ type, encoding, length, longest, bytes }));
      }
    }
  }

  /** Before anything of that size is unpacked. */
  #checkPages(fileBytes: number): void {
    const maxBytes = maxBytesOf(this.#limits, fileBytes);
    if (this.pages > maxBytes) throw tooLarge(this.pages, maxBytes, this.name);
  }

  #addRows(values: number, { each, whole }: PageBytes): void {
    const { maxRows, rowsAtOnce } = this.#limits;
    const first = this.#rows;
    this.#rows += values;
    if (!this.#isNested && this.#rows > maxRows) {
      throw new LargeParquetError(`has more than ${formatInteger(maxRows)} rows`);
    }
    // A row of a list has any number of values.
    const step = this.#isNested ? Number.POSITIVE_INFINITY : rowsAtOnce;
    for (let row = first; row < first + values; ) {
      const index = step === Number.POSITIVE_INFINITY ? 0 : Math.floor(row / step);
      const next = Math.min(first + values, (index + 1) * step);
      this.steps[index] = (this.steps[index] ?? 0) + (next - row) * each + whole;
      row = next;
    }
  }
}

/** Bytes of each value of a page, and of the page as a whole. */
interface PageBytes {
  readonly each: number;
  readonly whole: number;
}

function bytesOf(page: {
  readonly type: number;
  readonly encoding: number;
  readonly length: number;
  readonly longest: number;
  readonly bytes: number;
}): PageBytes {
  const { type, encoding, length, longest, bytes } = page;
  if (type === FIXED_BYTE_ARRAY) return { each: Math.max(32, length), whole: 0 };
  const each = WIDTHS[type];
  if (each === undefined) throw new RangeError(`unknown type ${type}`);
  if (type !== BYTE_ARRAY) return { each, whole: 0 };
  if (DICTIONARY_ENCODINGS.includes(encoding)) return { each: each + longest, whole: 0 };
  if (encoding === DELTA_BYTE_ARRAY) return { each: each + bytes, whole: 0 };
  return { each, whole: bytes };
}

interface Page {
  readonly isDictionary: boolean;
  /** Absent: the page is neither of data nor a dictionary. */
  readonly values: number | undefined;
  readonly encoding: number;
  /** Unpacked bytes, as its header says. */
  readonly bytes: number;
  /** The part that is compressed, and its unpacked length. */
  readonly packed: Uint8Array;
  readonly unpacked: number;
  readonly end: number;
}

function readPage(file: Uint8Array, start: number): Page {
  const reader = new ThriftReader(file, start);
  const header = reader.struct();
  const end = reader.position + sizeOf(header.get(3));
  if (end > file.length) throw new RangeError('a page is truncated');
  const bytes = sizeOf(header.get(2));
  const [data, second] = [5, 8].map((field) => header.get(field) as ThriftStruct | undefined);
  // In the second version of pages, levels precede the compressed part.
  const levels = second ? sizeOf(second.get(5) ?? 0) + sizeOf(second.get(6) ?? 0) : 0;
  if (levels > bytes) throw new RangeError('a page has no size');
  const isPlain = second?.get(7) === false;
  const packed = file.subarray(isPlain ? end : reader.position + levels, end);
  const head = data ?? second;
  return {
    isDictionary: numberOf(header.get(1)) === DICTIONARY_PAGE,
    values: head && sizeOf(head.get(1)),
    encoding: numberOf(head?.get(data ? 2 : 4)),
    bytes,
    packed,
    unpacked: isPlain ? 0 : bytes - levels,
    end,
  };
}

/**
 * Content of a page, where it is needed or where the library would unpack more than the header says.
 *
 * @throws RangeError for a page with more
 */
function unpack({ packed, unpacked }: Page, codec: number, isNeeded: boolean): Uint8Array | undefined {
  if (packed.length === 0 || !(isNeeded || UNBOUNDED_CODECS.includes(codec))) return undefined;
  return decompressPage(packed, codec, unpacked);
}

/** Length of the longest text of a dictionary: each text after its length in four bytes. */
function longestText(dictionary: Uint8Array): number {
  const view = new DataView(dictionary.buffer, dictionary.byteOffset, dictionary.byteLength);
  let longest = 0;
  for (let at = 0; at + 4 <= dictionary.length; ) {
    const length = view.getUint32(at, true);
    longest = Math.max(longest, length);
    at += 4 + length;
  }
  return longest;
}

function footerOf(file: Uint8Array): ThriftStruct {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = file.length - FOOTER_BYTES;
  if (end < 0) throw new RangeError('truncated');
  const start = end - view.getUint32(end, true);
  if (start < 0) throw new RangeError('its metadata is truncated');
  return new ThriftReader(file, start).struct();
}

const structs = (list: unknown) => (Array.isArray(list) ? (list as ThriftStruct[]) : []);
const textOf = (bytes: unknown) => Buffer.from((bytes as Uint8Array | undefined) ?? []).toString('utf8');
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

function sizeOf(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_INT32) return value;
  throw new RangeError('a page has no size');
}
