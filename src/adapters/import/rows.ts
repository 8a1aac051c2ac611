import { readFile, stat } from 'node:fs/promises';

/** A file that cannot be imported as it is. The message says what is wrong, and where in the file; it does not name the file. */
export class BadFileError extends Error {
  override readonly name = 'BadFileError';
}

/** What a reader makes of a file. */
export interface FileRows {
  /** The wanted columns in the wanted order, of one length, as they are in the file: nothing is checked. Empty values are NaN. */
  readonly columns: readonly Float64Array<ArrayBuffer>[];
  /** What people call the first row: `row 1`, or `line 2` of a text with a header. */
  readonly first: { readonly word: 'row' | 'line'; readonly number: number };
}

export const FIRST_ROW: FileRows['first'] = { word: 'row', number: 1 };

/** Names of wanted columns in the wanted order, the column of times first: its name may be another in the file. */
export type Layout = readonly string[];

/**
 * Reads columns of numbers by name, in the first of the layouts that the file has. Times come as Unix milliseconds, or as
 * the number in the file where that does not tell its unit. Whatever it throws means that the file cannot be read; a
 * {@link BadFileError} says why in plain words.
 */
export type ReadRows = (path: string, layouts: readonly Layout[]) => Promise<FileRows>;

/** Names of the column of times: ours, in CSV files, and freqtrade's. */
export const TIME_NAMES: readonly string[] = ['timestamp', 'timestamp_ms', 'date'];

/** 31 years of minutes, 805 MB of candles: what is larger is broken, or a small file that unpacks without end. */
export const MAX_ROWS = 2 ** 24;

/** Columns that grow row by row or block by block. */
export class ColumnBuilder {
  #columns: Float64Array<ArrayBuffer>[];
  #length = 0;

  /** @param capacity rows that are expected */
  constructor(columns: number, capacity = 8_192) {
    this.#columns = Array.from({ length: columns }, () => new Float64Array(capacity));
  }

  get length(): number {
    return this.#length;
  }

  /** @throws BadFileError beyond {@link MAX_ROWS} */
  addRow(values: readonly number[]): void {
    this.#makeRoom(1);
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]![this.#length] = values[i]!;
    this.#length++;
  }

  /** @throws BadFileError beyond {@link MAX_ROWS} */
  addBlock(columns: readonly Float64Array[]): void {
    this.#makeRoom(columns[0]!.length);
    for (const [i, column] of this.#columns.entries()) column.set(columns[i]!, this.#length);
    this.#length += columns[0]!.length;
  }

  finish(): Float64Array<ArrayBuffer>[] {
    return this.#columns.map((column) => column.subarray(0, this.#length));
  }

  #makeRoom(rows: number): void {
    const needed = this.#length + rows;
    if (needed <= this.#columns[0]!.length) return;
    if (needed > MAX_ROWS) throw new BadFileError(`holds more than ${MAX_ROWS.toLocaleString('en-US')} rows`);
    const capacity = Math.min(MAX_ROWS, Math.max(needed, this.#columns[0]!.length * 2));
    this.#columns = this.#columns.map((column) => {
      const larger = new Float64Array(capacity);
      larger.set(column.subarray(0, this.#length));
      return larger;
    });
  }
}

/** Formats that are read from their end must be in memory whole. */
const MAX_WHOLE_BYTES = 2 ** 30;

/** @throws BadFileError for a file of more than 1 GiB */
export async function readWhole(path: string): Promise<Uint8Array> {
  if ((await stat(path)).size > MAX_WHOLE_BYTES) throw new BadFileError('is larger than 1 GiB');
  return readFile(path);
}

/** A time as it is shown in messages; any number is shown. */
export function isoTime(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time);
}
