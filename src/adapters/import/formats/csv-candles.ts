import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatInteger } from '#contract/values/format-count.ts';
import type { Positions } from '../columns/choose-columns.ts';
import { plainName } from '../columns/column-names.ts';
import { numberIn } from '../columns/numbers.ts';
import { isCompactDate, type ToUtc, timeOf, writtenTime, zoneOf } from '../columns/times.ts';
import { BadFileError, ColumnBuilder, type FileRows, MAX_ROWS } from '../file-rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { type CsvPlan, planCsv, splitCells, type TableHints } from './csv-plan.ts';
import { bytesOf, MAX_ROW_LENGTH } from './text.ts';

/** Beginning of a file from which its form is found. */
const HEAD_BYTES = 65_536;
const NEWLINE = 10;
const ZERO = 48;
/** The decimal point relative to the digit 0. */
const POINT = -2;
/** Characters of a number of which every digit is exact. */
const MAX_EXACT = 15;
const RETURN = 13;
const QUOTE = 34;
const COMMENT = 35;
/** Characters of an invalid value that a message quotes. */
const VALUE_LENGTH = 40;
/** Skipped rows whose lines are listed. */
const LINES_LISTED = 5;
const CANDLE_ROLES = ['open', 'high', 'low', 'close', 'volume'] as const;

/**
 * Candles of a CSV file in any layout that {@link planCsv} knows. The file is streamed, and numbers are read from its bytes: text of
 * each cell would take five times as long.
 * @throws BadFileError
 */
export async function readCsvCandles(
  path: string,
  names: SeriesNames,
  hints: TableHints,
): Promise<FileSeries[]> {
  let rows: CsvRows | undefined;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytesOf(path)) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    if (rows === undefined) {
      if (rest.length < HEAD_BYTES) continue;
      rows = new CsvRows(planOf(rest, path, hints), names, { ...hints, bytes: await plainBytes(path) });
    }
    rest = rest.subarray(rows.read(rest));
    if (rest.length > MAX_ROW_LENGTH) throw endless();
  }
  rows ??= new CsvRows(planOf(rest, path, hints), names, { ...hints, bytes: rest.length });
  rest = rest.subarray(rows.read(rest));
  if (rest.length > 0) rows.read(Buffer.concat([rest, Buffer.from('\n')]));
  return rows.finish();
}

/** Size of a file that is not compressed; 0 for others. */
async function plainBytes(path: string): Promise<number> {
  return /\.(gz|zst|zip)$/.test(path) ? 0 : (await stat(path)).size;
}

const endless = () => new BadFileError('is not CSV: a line has no end');

function planOf(bytes: Buffer, path: string, hints: TableHints): CsvPlan {
  if (bytes.length === 0) throw new BadFileError('is empty');
  const head = bytes.toString('utf8', 0, HEAD_BYTES);
  if (bytes.length >= HEAD_BYTES && !head.includes('\n')) throw endless();
  return planCsv(bytes.length <= HEAD_BYTES ? `${head}\n` : head, basename(path), hints);
}

/** One series, or the rows of several. */
type Rows = { readonly one: ColumnBuilder } | { readonly table: SeriesTable };

class CsvRows {
  readonly #plan: CsvPlan;
  readonly #names: SeriesNames;
  readonly #skipInvalid: boolean;
  readonly #delimiter: number;
  readonly #toUtc: ToUtc;
  readonly #rows: Rows;
  /** Positions of the values in the bytes of a line. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #values = [0, 0, 0, 0, 0, 0];
  #bytes: Buffer = Buffer.alloc(0);
  #line = 0;
  /** The day of the time that was read last, and its milliseconds. */
  #day = Number.NaN;
  #dayMs = 0;
  #problem = '';
  /** Lines after the first one of data that hold no row. */
  readonly #left: number[] = [];
  readonly #skipped: number[] = [];
  readonly #headers: number[] = [];

  constructor(
    plan: CsvPlan,
    names: SeriesNames,
    { skipInvalid = false, bytes }: TableHints & { readonly bytes: number },
  ) {
    this.#plan = plan;
    this.#names = names;
    this.#skipInvalid = skipInvalid;
    this.#delimiter = plan.delimiter.charCodeAt(0);
    this.#toUtc = zoneOf(plan.timeZone ?? 'UTC');
    const [first] = plan.series;
    const { symbol, timeframe, exchange } = first!.positions;
    const isTable =
      plan.series.length > 1 || symbol !== undefined || timeframe !== undefined || exchange !== undefined;
    // A few more than there may be: growing would copy the columns.
    const expected = Math.min(MAX_ROWS, Math.ceil((bytes / plan.lineLength) * 1.02) + 16);
    this.#rows = isTable ? { table: new SeriesTable(6, 'line') } : { one: new ColumnBuilder(6, expected) };
    this.#starts = new Int32Array(plan.names.length + 1);
    this.#ends = new Int32Array(plan.names.length + 1);
  }

  /** Reads the complete lines and returns the number of their bytes. */
  read(bytes: Buffer): number {
    this.#bytes = bytes;
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, start);
      if (end < 0) return start;
      this.#line++;
      if (this.#line >= this.#plan.dataLine) this.#readLine(start, bytes[end - 1] === RETURN ? end - 1 : end);
      start = end + 1;
    }
  }

  #readLine(start: number, end: number): void {
    if (end <= start || this.#bytes[start] === COMMENT) {
      this.#left.push(this.#line);
      return;
    }
    if (!this.#split(start, end)) {
      this.#wrong(start, end, this.#problem);
      return;
    }
    for (const { symbol, positions } of this.#plan.series) {
      if (!this.#readRow(positions)) {
        this.#wrong(start, end, this.#problem);
        return;
      }
      if ('one' in this.#rows) this.#rows.one.addRow(this.#values);
      else this.#addTo(this.#rows.table, symbol, positions);
    }
  }

  #addTo(table: SeriesTable, symbol: string | null, positions: Positions): void {
    const text = (at: number | undefined) => (at === undefined ? null : this.#text(at) || null);
    table.add(
      {
        symbol: symbol ?? text(positions.symbol) ?? this.#names.symbol,
        timeframe: this.#names.timeframe ?? text(positions.timeframe),
        exchange: text(positions.exchange) ?? this.#names.exchange,
      },
      this.#values,
      this.#line,
    );
  }

  /** Finds the values of a line; false for a wrong number of them. */
  #split(start: number, end: number): boolean {
    const width = this.#plan.names.length;
    let [cell, at] = [0, start];
    for (; at <= end; cell++) {
      const isQuoted = this.#bytes[at] === QUOTE && at < end;
      const to = isQuoted ? this.#endOfQuote(at + 1, end) : this.#endOfCell(at, end);
      if (to < 0) {
        this.#problem = 'has a quote that is not closed';
        return false;
      }
      const from = isQuoted ? at + 1 : at;
      at = (isQuoted ? to + 1 : to) + 1;
      if (cell < width) {
        this.#starts[cell] = from;
        this.#ends[cell] = to;
        continue;
      }
      // Delimiters at the end of a line are allowed, further values are not.
      if (to > from) return this.#wrongWidth(start, end);
    }
    return cell >= width || this.#wrongWidth(start, end);
  }

  #endOfCell(start: number, end: number): number {
    let at = start;
    while (at < end && this.#bytes[at] !== this.#delimiter) at++;
    return at;
  }

  /** Position of the closing quote; -1 if there is none. */
  #endOfQuote(start: number, end: number): number {
    for (let at = start; at < end; at++) {
      if (this.#bytes[at] !== QUOTE) continue;
      if (this.#bytes[at + 1] !== QUOTE) return at;
      at++;
    }
    return -1;
  }

  #wrongWidth(start: number, end: number): false {
    const { names, delimiter } = this.#plan;
    const count = splitCells(this.#bytes.toString('utf8', start, end), delimiter).length;
    this.#problem = `has ${count} values: expected ${names.length}, ${names.join(', ')}`;
    return false;
  }

  /** Reads time, prices and volume of the line into the values; false for a value that is no number. */
  #readRow(positions: Positions): boolean {
    const time = this.#time(positions);
    if (time === undefined) {
      this.#problem = `the time is ${this.#quoted(positions.time)}: expected one since 1973-03-04`;
      return false;
    }
    this.#values[0] = time;
    for (let index = 0; index < CANDLE_ROLES.length; index++) {
      const role = CANDLE_ROLES[index]!;
      const at = positions[role];
      const value = at === undefined ? Number.NaN : this.#number(at);
      if (value === undefined) {
        this.#problem = `${role} is ${this.#quoted(at!)}: expected a number`;
        return false;
      }
      this.#values[index + 1] = value;
    }
    return true;
  }

  #text(at: number): string {
    return this.#bytes.toString('utf8', this.#starts[at]!, this.#ends[at]!).trim();
  }

  #quoted(at: number): string {
    return JSON.stringify(this.#text(at).slice(0, VALUE_LENGTH));
  }

  /** Number of a value: digits with up to one point directly from the bytes, other forms from the text. */
  #number(at: number): number | undefined {
    const bytes = this.#bytes;
    const start = this.#starts[at]!;
    const end = this.#ends[at]!;
    // Up to 15 digits and a power of ten up to 1e22 are exact, so the division rounds once, as in a decimal conversion.
    if (end > start && end - start <= MAX_EXACT && !this.#plan.decimalComma) {
      let value = 0;
      let point = -1;
      let index = start;
      for (; index < end; index++) {
        const digit = bytes[index]! - ZERO;
        if (digit >= 0 && digit <= 9) value = value * 10 + digit;
        else if (digit === POINT && point < 0) point = index;
        else break;
      }
      if (index === end && point < 0) return value;
      if (index === end && end - start > 1) return value / POWERS[end - point - 1]!;
    }
    return numberIn(bytes.toString('utf8', start, end), this.#plan.decimalComma);
  }

  /** Time as the number in the file, or milliseconds in UTC of a text; NaN for a missing one. */
  #time(positions: Positions): number | undefined {
    const { time: at, clock } = positions;
    if (clock === undefined) {
      const length = this.#ends[at]! - this.#starts[at]!;
      // Ten or thirteen digits are no date.
      const number = length === 13 || length === 10 ? this.#number(at) : undefined;
      if (number !== undefined && number > 1e8) return number;
      const fast = this.#isoTime(this.#starts[at]!, this.#ends[at]!);
      if (fast !== undefined && fast > 1e11) return this.#toUtc(fast);
      const text = this.#text(at);
      if (!isCompactDate(text)) {
        const value = numberIn(text, this.#plan.decimalComma);
        if (value !== undefined) return value;
      }
      return timeOf(text, this.#plan.dateOrder, this.#toUtc);
    }
    const [day, ofDay] = [this.#text(at), this.#text(clock)];
    if (day === '') return Number.NaN;
    // Stooq writes the time of day as a number.
    const text = `${day} ${/^\d{1,5}$/.test(ofDay) ? ofDay.padStart(6, '0') : ofDay}`;
    return timeOf(text, this.#plan.dateOrder, this.#toUtc);
  }

  /** Local time of `2025-03-01 00:05` or `2025.03.01T00:05:00`; undefined for other forms. */
  #isoTime(start: number, end: number): number | undefined {
    const bytes = this.#bytes;
    const length = end - start;
    if (length !== 19 && length !== 16 && length !== 10) return undefined;
    const separator = bytes[start + 4]!;
    if (separator < 45 || separator > 47 || bytes[start + 7] !== separator) return undefined;
    const year = this.#digits(start, 4);
    const month = this.#digits(start + 5, 2);
    const date = this.#digits(start + 8, 2);
    const key = (year * 100 + month) * 100 + date;
    if (key !== this.#day) {
      const ms = writtenTime(bytes.toString('latin1', start, start + 10), 'dmy')?.local;
      if (ms === undefined) return undefined;
      this.#day = key;
      this.#dayMs = ms;
    }
    if (length === 10) return this.#dayMs;
    const [between, colon] = [bytes[start + 10]!, bytes[start + 13]!];
    if ((between !== 32 && between !== 84) || colon !== 58) return undefined;
    const [hours, minutes] = [this.#digits(start + 11, 2), this.#digits(start + 14, 2)];
    const seconds =
      length === 19 && bytes[start + 16] === 58
        ? this.#digits(start + 17, 2)
        : length === 19
          ? Number.NaN
          : 0;
    const time = this.#dayMs + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000;
    return hours < 24 && minutes < 60 && seconds < 61 ? time : undefined;
  }

  /** NaN where a character is not a digit. */
  #digits(start: number, count: number): number {
    let value = 0;
    for (let index = start; index < start + count; index++) {
      const digit = this.#bytes[index]! - 48;
      if (digit < 0 || digit > 9) return Number.NaN;
      value = value * 10 + digit;
    }
    return value;
  }

  /** A repeated header is left out; another line that cannot be read is wrong. */
  #wrong(start: number, end: number, problem: string): void {
    const text = this.#bytes.toString('utf8', start, end);
    this.#left.push(this.#line);
    if (text.trim() === '') return;
    if (this.#isHeader(splitCells(text, this.#plan.delimiter))) this.#headers.push(this.#line);
    else if (this.#skipInvalid) this.#skipped.push(this.#line);
    else throw wrongLine(`line ${this.#line}${/^has/.test(problem) ? '' : ':'} ${problem}`);
  }

  /** True for the names of the columns, or for a header of the same width over lines that had none. */
  #isHeader(cells: readonly string[]): boolean {
    const { names, series } = this.#plan;
    const { open, high, low, close } = series[0]!.positions;
    const isSame = [open, high, low, close].every(
      (at) => plainName(cells[at] ?? '') === plainName(names[at]!),
    );
    return cells.length >= names.length - 1 && isSame;
  }

  /** Line of each row. */
  #numbers(length: number): Float64Array<ArrayBuffer> {
    const left = new Set(this.#left);
    let line = this.#plan.dataLine - 1;
    return Float64Array.from({ length }, () => {
      do line++;
      while (left.has(line));
      return line;
    });
  }

  finish(): FileSeries[] {
    const notes = [...this.#plan.notes];
    if (this.#headers.length > 0) {
      notes.push(`the header is repeated in ${linesText(this.#headers)}`);
    }
    if (this.#skipped.length > 0) notes.push(`${skippedText(this.#skipped)}, left out`);
    if ('table' in this.#rows) {
      return this.#rows.table.finish('candles').map((series) => ({ ...series, notes }));
    }
    const columns = this.#rows.one.finish();
    if (columns[0]!.length === 0) throw new BadFileError('holds no rows');
    const numbers = this.#left.length > 0 ? this.#numbers(columns[0]!.length) : undefined;
    const first = { word: 'line', number: this.#plan.dataLine } as const;
    const rows: FileRows = { columns, first, ...(numbers && { numbers }) };
    const symbol = this.#plan.series[0]!.symbol ?? this.#names.symbol;
    return [{ kind: 'candles', ...this.#names, symbol, rows, notes }];
  }
}

const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

function wrongLine(problem: string): BadFileError {
  return new BadFileError(`${problem}. --skip-invalid leaves such rows out`);
}

function linesText(lines: readonly number[]): string {
  const shown = lines.slice(0, LINES_LISTED).join(', ');
  const more = lines.length > LINES_LISTED ? `, and ${formatInteger(lines.length - LINES_LISTED)} more` : '';
  return `line${lines.length > 1 ? 's' : ''} ${shown}${more}`;
}

/** `3 invalid rows, lines 7, 9, 12`. */
function skippedText(lines: readonly number[]): string {
  return `${formatInteger(lines.length)} invalid row${lines.length > 1 ? 's' : ''}, ${linesText(lines)}`;
}
