import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CANDLE_COLUMNS, type Candles, createCandles, sliceCandles } from '#engine/candles.ts';

/** A file that cannot be imported as it is: the message names file, line and what is wrong there. */
export class CsvError extends Error {
  override readonly name = 'CsvError';

  constructor(file: string, line: number | null, problem: string, cause?: unknown) {
    super(`${basename(file)}${line === null ? '' : `, line ${line}`}: ${problem}`, { cause });
  }
}

export interface CsvRows {
  readonly rows: Candles;
  /** Rows that repeated the time of the one before; the later one was kept. */
  readonly duplicates: number;
}

const HEADER = 'timestamp_ms,open,high,low,close,volume';
/** 1973 in milliseconds, and far from now in seconds. */
const EARLIEST_MS = 1e11;

/**
 * Reads `timestamp_ms,open,high,low,close,volume`, with or without its header, plain or gzip'd. The file is streamed;
 * its rows take 48 bytes each. Times must not descend; `check` says what is wrong with a row, if anything.
 * @throws CsvError
 */
export async function readCsv(
  file: string,
  check: (row: readonly number[]) => string | undefined,
): Promise<CsvRows> {
  const builder = new RowBuilder(file, check);
  let rest = '';
  try {
    for await (const chunk of textOf(file)) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) builder.add(line);
    }
  } catch (error) {
    if (error instanceof CsvError) throw error;
    throw new CsvError(file, null, `cannot be read: ${(error as Error).message}`, error);
  }
  builder.add(rest);
  return builder.finish();
}

function textOf(file: string): AsyncIterable<string> {
  const bytes = createReadStream(file);
  if (!file.endsWith('.gz')) return bytes.setEncoding('utf8');
  const unzipped = createGunzip();
  // What fails is thrown where the text is read.
  pipeline(bytes, unzipped, () => {});
  return unzipped.setEncoding('utf8');
}

class RowBuilder {
  readonly #file: string;
  readonly #check: (row: readonly number[]) => string | undefined;
  #rows = createCandles(8_192);
  #length = 0;
  #line = 0;
  #duplicates = 0;

  constructor(file: string, check: (row: readonly number[]) => string | undefined) {
    this.#file = file;
    this.#check = check;
  }

  add(text: string): void {
    this.#line++;
    const line = text.trimEnd();
    if (line === '' || (this.#line === 1 && line.replace('\ufeff', '') === HEADER)) return;
    const row = line.split(',').map((cell) => (cell.trim() === '' ? Number.NaN : Number(cell)));
    const problem = this.#problemOf(row) ?? this.#check(row);
    if (problem) throw new CsvError(this.#file, this.#line, problem);
    this.#append(row);
  }

  finish(): CsvRows {
    if (this.#length === 0) throw new CsvError(this.#file, null, 'holds no rows');
    return { rows: sliceCandles(this.#rows, 0, this.#length), duplicates: this.#duplicates };
  }

  #problemOf(row: readonly number[]): string | undefined {
    if (row.length !== CANDLE_COLUMNS.length || !row.every(Number.isFinite)) {
      return `expected six numbers: ${HEADER}`;
    }
    const time = row[0]!;
    if (time < EARLIEST_MS) return `timestamp ${time} is not in milliseconds`;
    const last = this.#length === 0 ? time : this.#rows.timestamp[this.#length - 1]!;
    if (time < last) return `${isoTime(time)} comes after ${isoTime(last)}: times must ascend`;
    return undefined;
  }

  #append(row: readonly number[]): void {
    if (this.#length > 0 && this.#rows.timestamp[this.#length - 1] === row[0]) {
      this.#length--;
      this.#duplicates++;
    }
    if (this.#length === this.#rows.timestamp.length) this.#grow();
    for (const [index, name] of CANDLE_COLUMNS.entries()) this.#rows[name][this.#length] = row[index]!;
    this.#length++;
  }

  #grow(): void {
    const larger = createCandles(this.#length * 2);
    for (const name of CANDLE_COLUMNS) larger[name].set(this.#rows[name]);
    this.#rows = larger;
  }
}

/** A time as it is shown in messages; any finite number is shown. */
export function isoTime(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time);
}
