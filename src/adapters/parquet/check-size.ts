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
const MAX_SCHEMA_DEPTH = 32;
const MAX_INT32 = 2 ** 31 - 1;
/** Bytes of a value by the number of its type; a text has its place. */
const WIDTHS = [1, 8, 8, 12, 8, 8, 8];
/** Bytes of a value in a dictionary, before it is widened; a text has its length before it. */
const STORED_WIDTHS = [1, 4, 8, 12, 4, 8, 4];
const BYTE_ARRAY = 6;
const FIXED_BYTE_ARRAY = 7;
/** Number of a page's type, and of the field of its header that describes it. */
const DICTIONARY_PAGE = { type: 2, field: 7 } as const;
const DATA_PAGES: Readonly<Record<number, number>> = { 0: 5, 3: 8 };
const REPETITION = { optional: 1, repeated: 2 } as const;
const RLE = 3;
/** The library unpacks them to their end, whatever the header of the page says. */
const UNBOUNDED_CODECS: readonly number[] = [CODEC.gzip, CODEC.brotli, CODEC.zstd];
/** Most that a byte of LZ4 unpacks to. */
const LZ4_RATIO = 255;
const DICTIONARY_ENCODINGS = [2, 8];
/** Lengths of all texts, then the texts. */
const DELTA_LENGTH_BYTE_ARRAY = 6;
/** Each text may begin as the one before it: a page of few bytes may have many long texts. */
const DELTA_BYTE_ARRAY = 7;
/** Values of a file's metadata, 240 bytes each: some 1,200 row groups of nine columns. */
const MAX_METADATA_VALUES = 500_000;
/** Values of the header of a page. */
const MAX_HEADER_VALUES = 1_000;

export interface SizeLimits {
  /** Rows that are read in one step. */
  readonly rowsAtOnce: number;
  readonly maxRows: number;
  /** Columns that are read. Default: all. */
  readonly columns?: readonly string[];
  /** Default: 190 MiB, or four times the file. */
  readonly maxBytes?: number;
}

/**
 * Estimates the memory for reading a file from the sizes in it, before anything is decoded: 2 KB may hold a text of 30 KB for each
 * of a million rows. An estimate is never too low for a file that can be read: what a file says twice is taken from where the library
 * takes it, the type of a column from the schema and the number of its values from its pages.
 *
 * @throws LargeParquetError; RangeError for a file that is corrupt
 */
export function checkParquetSize(file: Uint8Array, limits: SizeLimits): void {
  const metadata = readParquetMetadata(file);
  const columns = leavesOf(structs(metadata.get(2))).map((leaf) => new ColumnCost(leaf, limits));
  for (const group of structs(metadata.get(4))) {
    const chunks = structs(group.get(1));
    if (chunks.length !== columns.length) throw new RangeError('a row group lacks a column');
    for (const [index, chunk] of chunks.entries()) {
      const meta = chunk.get(3) as ThriftStruct | undefined;
      if (!meta) throw new RangeError('a column has no metadata');
      const column = columns[index]!;
      if (!limits.columns || limits.columns.includes(column.leaf.name)) column.add(file, meta);
    }
  }
  checkSum(columns, maxBytesOf(limits, file.length));
}

/** A column of the schema that has values. */
interface Leaf {
  /** Name of the outermost column that contains it. */
  readonly name: string;
  readonly type: number;
  /** Bytes of a value of a fixed length. */
  readonly length: number;
  readonly isOptional: boolean;
  /** It may have other numbers of values than rows. */
  readonly isNested: boolean;
}

/** Columns with values in the order of the schema, which is a tree: each element is followed by its children. */
function leavesOf([, ...elements]: readonly ThriftStruct[]): Leaf[] {
  const leaves: Leaf[] = [];
  let at = 0;
  const visit = (depth: number, outermost?: string) => {
    const element = elements[at++];
    if (!element || depth > MAX_SCHEMA_DEPTH) throw new RangeError('its schema is truncated, or too deep');
    const name = outermost ?? textOf(element.get(4));
    const children = sizeOf(element.get(5) ?? 0);
    for (let child = 0; child < children; child++) visit(depth + 1, name);
    if (children > 0 || element.get(1) === undefined) return;
    leaves.push({
      name,
      type: numberOf(element.get(1)),
      length: numberOf(element.get(2)),
      isOptional: element.get(3) === REPETITION.optional,
      isNested: depth > 0 || element.get(3) === REPETITION.repeated,
    });
  };
  while (at < elements.length) visit(0);
  return leaves;
}

function checkSum(columns: readonly ColumnCost[], maxBytes: number): void {
  const count = Math.max(1, ...columns.map(({ steps }) => steps.length));
  const pages = columns.reduce((sum, column) => sum + column.pages, 0);
  for (let step = 0; step < count; step++) {
    const rows = columns.map(({ steps }) => steps[step] ?? 0);
    const bytes = pages + COPIES * rows.reduce((sum, each) => sum + each, 0);
    if (bytes > maxBytes)
      throw tooLarge(bytes, maxBytes, columns[rows.indexOf(Math.max(...rows))]!.leaf.name);
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
  readonly leaf: Leaf;
  /** Bytes of its rows by step. */
  readonly steps: number[] = [];
  readonly #limits: SizeLimits;
  #rows = 0;
  #largestPage = 0;
  #largestDictionary = 0;

  constructor(leaf: Leaf, limits: SizeLimits) {
    this.leaf = leaf;
    this.#limits = limits;
  }

  /** Bytes of the page and the dictionary that are open at the same time. */
  get pages(): number {
    return this.#largestPage + 2 * this.#largestDictionary;
  }

  /** Adds the pages of one row group. */
  add(file: Uint8Array, meta: ThriftStruct): void {
    const codec = numberOf(meta.get(4));
    const start = numberOf(meta.get(11) ?? meta.get(9));
    const end = start + numberOf(meta.get(7));
    let longest = 0;
    for (let at = start; at < end; ) {
      const page = readPage(file, at);
      at = page.end;
      if (page.isDictionary) longest = this.#addDictionary(page, codec, file.length);
      else if (page.values !== undefined) this.#addData(page, codec, file.length, longest);
    }
  }

  /** Length of the longest text. */
  #addDictionary(page: Page, codec: number, fileBytes: number): number {
    const { type, length } = this.leaf;
    // The library makes room for as many as its header says.
    const width = type === FIXED_BYTE_ARRAY ? Math.max(1, length) : STORED_WIDTHS[type];
    if (width === undefined || (page.values ?? 0) * width > page.bytes)
      throw new RangeError('a dictionary is truncated');
    this.#largestDictionary = Math.max(this.#largestDictionary, page.bytes);
    this.#checkPages(fileBytes);
    const content = unpack(page, codec, type === BYTE_ARRAY);
    return content && type === BYTE_ARRAY ? longestText(content) : 0;
  }

  #addData(page: Page, codec: number, fileBytes: number, longest: number): void {
    const { encoding, bytes, values = 0 } = page;
    const { type, length, name } = this.leaf;
    if (encoding === DELTA_BYTE_ARRAY) {
      throw new LargeParquetError(
        `has texts in the encoding DELTA_BYTE_ARRAY in its column ${JSON.stringify(name.slice(0, 40))}, which may unpack to any size: write them with a dictionary`,
      );
    }
    this.#largestPage = Math.max(
      this.#largestPage,
      codec === CODEC.lz4 ? LZ4_RATIO * page.packed.length : bytes,
    );
    this.#checkPages(fileBytes);
    const hasLengths = encoding === DELTA_LENGTH_BYTE_ARRAY;
    const content = unpack(page, codec, hasLengths);
    if (hasLengths) this.#checkLengths(page, content);
    this.#addRows(
      values,
      bytesOf({ type, encoding, length, longest, bytes }),
      maxBytesOf(this.#limits, fileBytes),
    );
  }

  /** The library makes room for as many lengths as the content says. */
  #checkLengths({ values = 0, levels }: Page, content: Uint8Array = new Uint8Array(0)): void {
    const { isNested, isOptional } = this.leaf;
    if (isNested || levels === 'other') throw new RangeError('texts of a list have an unknown encoding');
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const start = isOptional && levels === 'inside' ? 4 + view.getUint32(0, true) : 0;
    const reader = new ThriftReader(content, start);
    // Values of a block, its parts, then the number of all.
    const [, , count] = [reader.varint(), reader.varint(), reader.varint()];
    if (count! > values) throw new RangeError('a page has more lengths than values');
  }

  /** Before anything of that size is unpacked. */
  #checkPages(fileBytes: number): void {
    const maxBytes = maxBytesOf(this.#limits, fileBytes);
    if (this.pages > maxBytes) throw tooLarge(this.pages, maxBytes, this.leaf.name);
  }

  #addRows(values: number, { each, whole }: PageBytes, maxBytes: number): void {
    const { maxRows, rowsAtOnce } = this.#limits;
    const first = this.#rows;
    this.#rows += values;
    if (!this.leaf.isNested && this.#rows > maxRows) {
      throw new LargeParquetError(`has more than ${formatInteger(maxRows)} rows`);
    }
    // A row of a list has any number of values.
    const step = this.leaf.isNested ? Number.POSITIVE_INFINITY : rowsAtOnce;
    for (let row = first; row < first + values; ) {
      const index = step === Number.POSITIVE_INFINITY ? 0 : Math.floor(row / step);
      const next = Math.min(first + values, (index + 1) * step);
      const bytes = (this.steps[index] ?? 0) + (next - row) * each + whole;
      this.steps[index] = bytes;
      // Now, not after all pages: unpacking those of a small file can take minutes.
      if (COPIES * bytes > maxBytes) throw tooLarge(COPIES * bytes, maxBytes, this.leaf.name);
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
  return { each, whole: bytes };
}

interface Page {
  readonly isDictionary: boolean;
  /** Absent: the page is neither of data nor a dictionary. */
  readonly values: number | undefined;
  readonly encoding: number;
  /** Which values of the page are there: in the content before the values, elsewhere, or in an old encoding. */
  readonly levels: 'inside' | 'outside' | 'other';
  /** Unpacked bytes, as its header says. */
  readonly bytes: number;
  /** The part that is compressed, and its unpacked length. */
  readonly packed: Uint8Array;
  readonly unpacked: number;
  readonly isPlain: boolean;
  readonly end: number;
}

function readPage(file: Uint8Array, start: number): Page {
  const reader = new ThriftReader(file, start, MAX_HEADER_VALUES);
  const header = reader.struct();
  const end = reader.position + sizeOf(header.get(3));
  if (end > file.length) throw new RangeError('a page is truncated');
  const bytes = sizeOf(header.get(2));
  const type = numberOf(header.get(1));
  const isDictionary = type === DICTIONARY_PAGE.type;
  const field = isDictionary ? DICTIONARY_PAGE.field : DATA_PAGES[type];
  const head = field === undefined ? undefined : (header.get(field) as ThriftStruct | undefined);
  if (field !== undefined && !head) throw new RangeError('a page has no header of its type');
  // In the second version of pages, levels precede the compressed part. The library looks for them in each page.
  const second = header.get(DATA_PAGES[3]!) as ThriftStruct | undefined;
  const outside = second ? sizeOf(second.get(5) ?? 0) + sizeOf(second.get(6) ?? 0) : 0;
  if (outside > bytes) throw new RangeError('a page has no size');
  return {
    isDictionary,
    values: head && sizeOf(head.get(1)),
    encoding: numberOf(head?.get(type === 3 ? 4 : 2)),
    levels: type === 3 ? 'outside' : head?.get(3) === RLE ? 'inside' : 'other',
    bytes,
    packed: file.subarray(reader.position + outside, end),
    unpacked: bytes - outside,
    isPlain: second?.get(7) === false,
    end,
  };
}

/**
 * Content of a page, where it is needed or where the library would unpack more than the header says.
 *
 * @throws RangeError for a page with more
 */
function unpack(
  { packed, unpacked, isPlain }: Page,
  codec: number,
  isNeeded: boolean,
): Uint8Array | undefined {
  if (packed.length === 0 || !(isNeeded || UNBOUNDED_CODECS.includes(codec))) return undefined;
  return decompressPage(packed, isPlain ? CODEC.none : codec, unpacked);
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

/**
 * Metadata at the end of a file.
 *
 * @throws LargeParquetError for more than fits into memory; RangeError for a file that is corrupt
 */
export function readParquetMetadata(file: Uint8Array): ThriftStruct {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = file.length - FOOTER_BYTES;
  if (end < 0) throw new RangeError('truncated');
  const start = end - view.getUint32(end, true);
  if (start < 0) throw new RangeError('its metadata is truncated');
  const reader = new ThriftReader(file, start, MAX_METADATA_VALUES);
  try {
    return reader.struct();
  } catch (error) {
    if (!reader.isFull) throw error;
    throw new LargeParquetError(
      `has more than ${formatInteger(MAX_METADATA_VALUES)} values in its metadata: write larger row groups`,
      { cause: error },
    );
  }
}

const structs = (list: unknown) => (Array.isArray(list) ? (list as ThriftStruct[]) : []);
const textOf = (bytes: unknown) => Buffer.from((bytes as Uint8Array | undefined) ?? []).toString('utf8');
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

function sizeOf(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_INT32) return value;
  throw new RangeError('a page has no size');
}
