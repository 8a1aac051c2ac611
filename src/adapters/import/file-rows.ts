import { readFile, stat } from 'node:fs/promises';
import { formatInteger } from '#contract/values/format-count.ts';

/** A file that cannot be imported. The message states the problem and its position, without the name of the file. */
export class BadFileError extends Error {
  override readonly name = 'BadFileError';
}

/** Unchecked content of a file. */
export interface FileRows {
  /** Columns in the order of the layout, all of one length. Empty values are NaN. */
  readonly columns: readonly Float64Array<ArrayBuffer>[];
  /** Name of the first row in messages: `row 1`, or `line 2` in a text file with a header. */
  readonly first: { readonly word: 'row' | 'line'; readonly number: number };
  /** Number of each row in the file, where the rows are not consecutive. */
  readonly numbers?: Float64Array<ArrayBuffer>;
}

export const FIRST_ROW: FileRows['first'] = { word: 'row', number: 1 };

/** Column names in order. The first is the time column; the file may use another of {@link TIME_NAMES}. */
export type Layout = readonly string[];

/** How a file is read. A plain object: it is sent to the process that reads. */
export interface ReadOptions {
  /** Columns of the layout that are kept, in the order of the result. Default: all. */
  readonly keep?: readonly string[];
  /** Path of a file with the SHA-256 of this file, as `sha256sum` writes it. */
  readonly checksum?: string;
}

/**
 * Reads columns of numbers by name, in the first layout that the file has. Times are Unix milliseconds, or the number in the
 * file if the format does not state the unit. Any exception means that the file cannot be read. The message of a
 * {@link BadFileError} is for the user.
 */
export type ReadRows = (path: string, layouts: readonly Layout[], options: ReadOptions) => Promise<FileRows>;

/** Names of the time column: Touchstone's, that of CSV exports, and freqtrade's. */
export const TIME_NAMES: readonly string[] = ['timestamp', 'timestamp_ms', 'date'];

/** 31 years of minutes, 805 MB of candles. A larger file is corrupt, or a small file that decompresses without end. */
export const MAX_ROWS = 2 ** 24;

/** Rows in the file that two processes share: columns of 64-bit numbers one after the other. */
export interface SharedBlock {
  /** Byte of the file. */
  readonly offset: number;
  readonly rows: number;
}

/** Writes columns into the file that two processes share; they may be reused then. */
export type Spill = (columns: readonly Float64Array[]) => SharedBlock;

/** Rows that a reader may have handed over in part. */
export interface SpilledRows extends FileRows {
  /** Rows before those of the columns. */
  readonly spilled?: readonly SharedBlock[];
  /** Numbers of the lines after the first row that are none, instead of the number of each row. */
  readonly left?: readonly number[];
}

/** Rows that are spilled at once, 1.5 MB of candles. */
const SPILLED_AT_ONCE = 32_768;

/** Columns that grow row by row or block by block. */
export class ColumnBuilder {
  #columns: Float64Array<ArrayBuffer>[];
  #length = 0;
  readonly #spill: Spill | undefined;
  readonly #spilled: SharedBlock[] = [];
  #spilledRows = 0;

  /**
   * @param capacity expected number of rows
   * @param spill takes rows as soon as there are many, so that they do not fill the memory
   */
  constructor(columns: number, capacity = 8_192, spill?: Spill) {
    const initial = spill ? Math.min(capacity, SPILLED_AT_ONCE) : capacity;
    this.#columns = Array.from({ length: columns }, () => new Float64Array(initial));
    this.#spill = spill;
  }

  get length(): number {
    return this.#spilledRows + this.#length;
  }

  /** Blocks that were spilled before the rows of {@link finish}. */
  get spilled(): readonly SharedBlock[] {
    return this.#spilled;
  }

  /** @throws BadFileError beyond {@link MAX_ROWS} */
  addRow(values: ArrayLike<number>): void {
    if (this.#length === this.#columns[0]!.length) this.#makeRoom(1);
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]![this.#length] = values[i]!;
    this.#length++;
  }

  /** @throws BadFileError beyond {@link MAX_ROWS} */
  addBlock(columns: readonly Float64Array[]): void {
    this.#makeRoom(columns[0]!.length);
    for (const [i, column] of this.#columns.entries()) column.set(columns[i]!, this.#length);
    this.#length += columns[0]!.length;
  }

  /** The rows that were not spilled. */
  finish(): Float64Array<ArrayBuffer>[] {
    return this.#columns.map((column) => column.subarray(0, this.#length));
  }

  #makeRoom(rows: number): void {
    if (this.length + rows > MAX_ROWS)
      throw new BadFileError(`holds more than ${formatInteger(MAX_ROWS)} rows`);
    if (this.#spill && this.#length >= SPILLED_AT_ONCE) {
      this.#spilled.push(this.#spill(this.finish()));
      this.#spilledRows += this.#length;
      this.#length = 0;
    }
    const needed = this.#length + rows;
    if (needed <= this.#columns[0]!.length) return;
    const capacity = Math.min(MAX_ROWS, Math.max(needed, this.#columns[0]!.length * 2));
    this.#columns = this.#columns.map((column) => {
      const larger = new Float64Array(capacity);
      larger.set(column.subarray(0, this.#length));
      return larger;
    });
  }
}

/** Maximum size of files in formats that are read from the end, which need the whole file in memory. */
const MAX_WHOLE_BYTES = 2 ** 30;

/** @throws BadFileError for a file of more than 1 GiB */
export async function readWhole(path: string): Promise<Uint8Array> {
  if ((await stat(path)).size > MAX_WHOLE_BYTES) throw new BadFileError('is larger than 1 GiB');
  return readFile(path);
}

/** A time for messages; accepts any number. */
export function isoTime(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time);
}
