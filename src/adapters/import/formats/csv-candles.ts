import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatInteger } from '#contract/values/format-count.ts';
import type { Positions } from '../columns/choose-columns.ts';
import { plainName } from '../columns/column-names.ts';
import { numberIn } from '../columns/numbers.ts';
import { isCompactDate, type ToUtc, timeOf, writtenTime, zoneOf } from '../columns/times.ts';
import { BadFileError, ColumnBuilder, MAX_ROWS, type Spill, type SpilledRows } from '../file-rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { type CellProblem, CsvCells } from './csv-cells.ts';
import { type CsvPlan, planCsv, splitCells, type TableHints } from './csv-plan.ts';
import { bytesOf, MAX_ROW_LENGTH } from './text.ts';

/** Beginning of a file from which its form is found. */
const HEAD_BYTES = 65_536;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const SLASH = 47;
const ZERO = 48;
const COLON = 58;
const LETTER_T = 84;
const LETTER_Z = 90;
/** Characters of `2025-03-01`. */
const DATE_LENGTH = 10;
const COMMENT = 35;
/** Characters of an invalid value that a message quotes. */
const VALUE_LENGTH = 40;
/** A local time before 1973-03-04 is left to {@link timeOf}. */
const FIRST_TIME = 1e11;
const UNCLOSED = 'has a quote that is not closed';
/** Skipped rows whose lines are listed. */
const LINES_LISTED = 5;
const CANDLE_ROLES = ['open', 'high', 'low', 'close', 'volume'] as const;

/**
 * Candles of a CSV file in any layout that {@link planCsv} knows. The file is streamed, and numbers are read from its bytes: text of
 * each cell would take five times as long.
 * @param spill takes rows while the file is read
 * @throws BadFileError
 */
export async function readCsvCandles(
  path: string,
  names: SeriesNames,
  hints: TableHints,
  spill?: Spill,
): Promise<FileSeries[]> {
  let rows: CsvRows | undefined;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytesOf(path)) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    if (rows === undefined) {
      if (rest.length < HEAD_BYTES) {
        rest = Buffer.from(rest);
        continue;
      }
      rows = new CsvRows(planOf(rest, path, hints), names, {
        ...hints,
        spill,
        bytes: await plainBytes(path),
      });
    }
    // A copy: the next piece takes the place of this one.
    rest = Buffer.from(rest.subarray(rows.read(rest)));
    if (rest.length > MAX_ROW_LENGTH) throw endless();
  }
  rows ??= new CsvRows(planOf(rest, path, hints), names, { ...hints, spill, bytes: rest.length });
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
  readonly #toUtc: ToUtc;
  readonly #rows: Rows;
  readonly #cells: CsvCells;
  /** Series with the places of their prices and volume; -1: none. */
  readonly #series: readonly (CsvPlan['series'][number] & { readonly places: Int32Array })[];
  readonly #values = new Float64Array(1 + CANDLE_ROLES.length);
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
    {
      skipInvalid = false,
      bytes,
      spill,
    }: TableHints & { readonly bytes: number; readonly spill: Spill | undefined },
  ) {
    this.#plan = plan;
    this.#names = names;
    this.#skipInvalid = skipInvalid;
    this.#toUtc = zoneOf(plan.timeZone ?? 'UTC');
    const [first] = plan.series;
    const { symbol, timeframe, exchange } = first!.positions;
    const isTable =
      plan.series.length > 1 || symbol !== undefined || timeframe !== undefined || exchange !== undefined;
    // A few more than there may be: growing would copy the columns.
    const expected = Math.min(MAX_ROWS, Math.ceil((bytes / plan.lineLength) * 1.02) + 16);
    this.#rows = isTable
      ? { table: new SeriesTable(6, 'line', spill) }
      : { one: new ColumnBuilder(6, expected, spill) };
    this.#series = plan.series.map((series) => ({
      ...series,
      places: Int32Array.from(CANDLE_ROLES, (role) => series.positions[role] ?? -1),
    }));
    this.#cells = new CsvCells(plan.names.length, plan.delimiter, plan.decimalComma);
  }

  /** Reads the complete lines and returns the number of their bytes. */
  read(bytes: Buffer): number {
    this.#bytes = bytes;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    let start = 0;
    for (; start < end && this.#line + 1 < this.#plan.dataLine; this.#line++) start = nextLine(bytes, start);
    while (start < end) {
      this.#line++;
      const first = bytes[start]!;
      if (first === NEWLINE || first === COMMENT || (first === RETURN && bytes[start + 1] === NEWLINE)) {
        this.#left.push(this.#line);
        start = nextLine(bytes, start);
        continue;
      }
      const problem = this.#cells.read(bytes, start);
      const next = this.#cells.next;
      this.#readLine(start, next, problem);
      start = next;
    }
    return end;
  }

  #readLine(start: number, next: number, problem: CellProblem | undefined): void {
    if (problem !== undefined) {
      this.#wrong(start, next, problem === 'width' ? this.#wrongWidth(start, next) : UNCLOSED);
      return;
    }
    for (const { symbol, positions, places } of this.#series) {
      if (!this.#readRow(positions, places)) {
        this.#wrong(start, next, this.#problem);
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

  #wrongWidth(start: number, next: number): string {
    const { names, delimiter } = this.#plan;
    const count = splitCells(this.#lineText(start, next), delimiter).length;
    return `has ${count} values: expected ${names.length}, ${names.join(', ')}`;
  }

  /** Text of a line without its end. */
  #lineText(start: number, next: number): string {
    const isReturn = this.#bytes[next - 2] === RETURN && next - 2 >= start;
    return this.#bytes.toString('utf8', start, isReturn ? next - 2 : next - 1);
  }

  /** Reads time, prices and volume of the line into the values; false for a value that is no number. */
  #readRow(positions: Positions, places: Int32Array): boolean {
    const { values } = this.#cells;
    const out = this.#values;
    const time = values[positions.time]!;
    if (isEpoch(time) && positions.clock === undefined) out[0] = time;
    else if (!this.#readTime(positions)) {
      this.#problem = `the time is ${this.#quoted(positions.time)}: expected one since 1973-03-04`;
      return false;
    }
    for (let index = 0; index < CANDLE_ROLES.length; index++) {
      const at = places[index]!;
      // The values go from array to array: returned by a call, each would be an object.
      out[index + 1] = at < 0 ? Number.NaN : values[at]!;
      if (at >= 0 && Number.isNaN(values[at]) && !this.#readText(at, index + 1)) {
        this.#problem = `${CANDLE_ROLES[index]} is ${this.#quoted(at)}: expected a number`;
        return false;
      }
    }
    return true;
  }

  /** Reads a number in any other form than digits and a point. */
  #readText(at: number, index: number): boolean {
    const value = numberIn(
      this.#bytes.toString('utf8', this.#cells.starts[at], this.#cells.ends[at]),
      this.#plan.decimalComma,
    );
    if (value === undefined) return false;
    this.#values[index] = value;
    return true;
  }

  #text(at: number): string {
    return this.#bytes.toString('utf8', this.#cells.starts[at], this.#cells.ends[at]).trim();
  }

  #quoted(at: number): string {
    return JSON.stringify(this.#text(at).slice(0, VALUE_LENGTH));
  }

  /** Reads a time as the number in the file, or as milliseconds in UTC of a text; NaN for a missing one. */
  #readTime({ time: at, clock }: Positions): boolean {
    if (clock === undefined) {
      const start = this.#cells.starts[at]!;
      const end = this.#cells.ends[at]!;
      if (this.#readIsoTime(start, end)) return true;
    }
    const time = clock === undefined ? this.#timeIn(this.#text(at)) : this.#timeAndClock(at, clock);
    if (time === undefined) return false;
    this.#values[0] = time;
    return true;
  }

  #timeIn(text: string): number | undefined {
    if (!isCompactDate(text)) {
      const value = numberIn(text, this.#plan.decimalComma);
      if (value !== undefined) return value;
    }
    return timeOf(text, this.#plan.dateOrder, this.#toUtc);
  }

  #timeAndClock(at: number, clock: number): number | undefined {
    const [day, ofDay] = [this.#text(at), this.#text(clock)];
    if (day === '') return Number.NaN;
    // Stooq writes the time of day as a number.
    const text = `${day} ${/^\d{1,5}$/.test(ofDay) ? ofDay.padStart(6, '0') : ofDay}`;
    return timeOf(text, this.#plan.dateOrder, this.#toUtc);
  }

  /** Reads a time such as `2025-03-01 00:05` or `2025.03.01T00:05:00+01:00`; false for other forms, and before 1973-03-04. */
  #readIsoTime(start: number, end: number): boolean {
    const bytes = this.#bytes;
    const separator = bytes[start + 4]!;
    const isDate = separator >= MINUS && separator <= SLASH && bytes[start + 7] === separator;
    if (!isDate || end - start < DATE_LENGTH || !this.#readDay(start)) return false;
    if (end - start > DATE_LENGTH) return this.#readClock(start + DATE_LENGTH, end);
    this.#values[0] = this.#toUtc(this.#dayMs);
    return true;
  }

  /** Reads ` 00:05`, `T00:05:00` or `T00:05:00.000+01:00` after the date. */
  #readClock(start: number, end: number): boolean {
    const bytes = this.#bytes;
    const isClock = (bytes[start] === SPACE || bytes[start] === LETTER_T) && bytes[start + 3] === COLON;
    if (!isClock || end - start < 6) return false;
    const hasSeconds = end - start >= 9 && bytes[start + 6] === COLON;
    const hours = digitsAt(bytes, start + 1, 2);
    const minutes = digitsAt(bytes, start + 4, 2);
    const seconds = hasSeconds ? digitsAt(bytes, start + 7, 2) : 0;
    if (!(hours < 24 && minutes < 60 && seconds < 61)) return false;
    const local = this.#dayMs + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000;
    const zone = hasSeconds ? endOfFraction(bytes, start + 9, end) : start + 6;
    const ahead = zone === end ? 0 : offsetAt(bytes, zone, end);
    if (Number.isNaN(ahead)) return false;
    this.#values[0] = zone === end ? this.#toUtc(local) : local - ahead;
    return true;
  }

  /** Reads a date of ten characters; most are that of the row before. */
  #readDay(start: number): boolean {
    const bytes = this.#bytes;
    const month = digitsAt(bytes, start, 4) * 100 + digitsAt(bytes, start + 5, 2);
    const key = month * 100 + digitsAt(bytes, start + 8, 2);
    if (key === this.#day) return true;
    const ms = writtenTime(bytes.toString('latin1', start, start + 10), 'dmy')?.local;
    if (ms === undefined || ms < FIRST_TIME) return false;
    this.#day = key;
    this.#dayMs = ms;
    return true;
  }

  /** A repeated header is left out; another line that cannot be read is wrong. */
  #wrong(start: number, next: number, problem: string): void {
    const text = this.#lineText(start, next);
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

  finish(): FileSeries[] {
    const notes = [...this.#plan.notes];
    if (this.#headers.length > 0) {
      notes.push(`the header is repeated in ${linesText(this.#headers)}`);
    }
    if (this.#skipped.length > 0) notes.push(`${skippedText(this.#skipped)}, left out`);
    if ('table' in this.#rows) {
      return this.#rows.table.finish('candles').map((series) => ({ ...series, notes }));
    }
    const { one } = this.#rows;
    if (one.length === 0) throw new BadFileError('holds no rows');
    const first = { word: 'line', number: this.#plan.dataLine } as const;
    const rows: SpilledRows = { columns: one.finish(), first, spilled: one.spilled, left: this.#left };
    const symbol = this.#plan.series[0]!.symbol ?? this.#names.symbol;
    return [{ kind: 'candles', ...this.#names, symbol, rows, notes }];
  }
}

/** True for a number that is no date: dates of digits have 8, 12 or 14 of them. */
const isEpoch = (time: number) =>
  time >= 1e14 || (time >= 1e12 && time < 1e13) || (time >= 1e9 && time < 1e10);

/** NaN where a character is not a digit. */
function digitsAt(bytes: Uint8Array, start: number, count: number): number {
  let value = 0;
  for (let index = start; index < start + count; index++) {
    const digit = bytes[index]! - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Position after a fraction of zeros. */
function endOfFraction(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== POINT || start + 1 >= end) return start;
  let at = start + 1;
  while (at < end && bytes[at] === ZERO) at++;
  return at;
}

/** Milliseconds ahead of UTC of `Z` or `+01:00`; NaN for other text. */
function offsetAt(bytes: Uint8Array, start: number, end: number): number {
  const sign = bytes[start];
  if (sign === LETTER_Z && start + 1 === end) return 0;
  if ((sign !== PLUS && sign !== MINUS) || start + 6 !== end || bytes[start + 3] !== COLON) return Number.NaN;
  const minutes = digitsAt(bytes, start + 1, 2) * 60 + digitsAt(bytes, start + 4, 2);
  return (sign === PLUS ? minutes : -minutes) * 60_000;
}

const nextLine = (bytes: Buffer, start: number) => bytes.indexOf(NEWLINE, start) + 1;

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
