import { formatInteger } from '#contract/values/format-count.ts';
import { chooseColumns, type Positions } from '../columns/choose-columns.ts';
import { numberIn } from '../columns/numbers.ts';
import {
  type DateOrder,
  dateOrderOf,
  isCompactDate,
  type ToUtc,
  timeOf,
  writtenTime,
  zoneOf,
} from '../columns/times.ts';
import { BadFileError, type Spill } from '../file-rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { shapeOf, type TableHints } from './csv-plan.ts';
import { MAX_ROW_LENGTH, textOf } from './text.ts';

/** Characters of an invalid row that a message quotes. */
const EXCERPT = 40;
/** Maximum length of a document with candles somewhere in it, which is parsed as a whole. */
const MAX_DOCUMENT = 2 ** 25;
/** Rows from which the columns are found. */
const SAMPLES = 200;
const ROLES = ['open', 'high', 'low', 'close', 'volume'] as const;

type Cells = readonly unknown[];

/** Rows with values in the order of the names; without names the values are those of a known shape. */
interface JsonTable {
  readonly names: readonly string[] | undefined;
  readonly rows: readonly Cells[];
  /** Key above the rows, such as `AAPL`. */
  readonly symbol?: string;
}

/**
 * Names of the columns in the beginning of a JSON file.
 * @throws BadFileError for a file that is not JSON, or holds no candles as far as it can be seen
 */
export function planJson(head: string, hints: TableHints): { readonly names: readonly string[] } {
  const text = head.replace('\ufeff', '').trim();
  const form = formOf(text);
  let table: JsonTable | undefined;
  if (form === 'document') {
    const document = parse(text);
    // The rest of a long document is not known.
    if (document === undefined) return { names: [] };
    table = tableIn(document);
  } else {
    const end = text.lastIndexOf(form === 'arrays' ? ']' : '}');
    const inner =
      form === 'lines'
        ? text
            .slice(0, end + 1)
            .split('\n')
            .join(',')
        : text.slice(1, end + 1);
    const rows = parse(`[${inner.replace(/\]\s*\]$/, ']')}]`) as unknown[] | undefined;
    table = rows && tableIn(rows);
  }
  if (table === undefined || table.rows.length === 0) throw noCandles();
  return { names: columnsOf(table, hints).names };
}

/**
 * Candles of a JSON file: an array of arrays, which is read in pieces, an array of records or a record in each line, columns, or a
 * document that has one of these somewhere. Times are Unix times or texts; missing values are `null`.
 * @throws BadFileError
 */
export async function readJsonCandles(
  path: string,
  names: SeriesNames,
  hints: TableHints,
  spill?: Spill,
): Promise<FileSeries[]> {
  const rows = new JsonRows(names, hints, spill);
  const pieces = new JsonPieces(rows);
  for await (const piece of textOf(path)) pieces.add(piece);
  pieces.finish();
  return rows.finish();
}

/** Text of a file that comes in pieces. */
class JsonPieces {
  readonly #rows: JsonRows;
  #rest = '';
  #form: Form | undefined;

  constructor(rows: JsonRows) {
    this.#rows = rows;
  }

  add(piece: string): void {
    this.#rest += piece;
    if (this.#form === undefined && !this.#begin()) return;
    if (this.#form === 'document') {
      if (this.#rest.length > MAX_DOCUMENT) throw tooLong();
      return;
    }
    const form = this.#form!;
    // A row begins at a bracket, so the text before the last bracket has complete rows.
    const end = this.#rest.lastIndexOf(form === 'arrays' ? '[' : '{');
    if (end > 0) {
      this.#rows.addText(withoutComma(this.#rest.slice(0, end), form), form);
      this.#rest = this.#rest.slice(end);
    }
    if (this.#rest.length > MAX_ROW_LENGTH) throw notRows();
  }

  /** Finds the form of the file; false while its beginning is not known. */
  #begin(): boolean {
    this.#rest = this.#rest.replace('\ufeff', '').trimStart();
    // Records in lines are told from a document by the second line.
    if (this.#rest.length < MAX_ROW_LENGTH && /^(\{|\[?\s*$)/.test(this.#rest)) return false;
    this.#form = formOf(this.#rest);
    if (this.#form === 'arrays' || this.#form === 'records') this.#rest = this.#rest.slice(1);
    return true;
  }

  finish(): void {
    const form = this.#form ?? formOf(this.#rest);
    if (form === 'document') this.#rows.addTable(tableIn(parse(this.#rest)));
    else if (form === 'lines') this.#rows.addText(this.#rest, form);
    else this.#addLast(form);
  }

  #addLast(form: Form): void {
    const end = this.#rest.trimEnd();
    if (!end.endsWith(']')) throw new BadFileError('is truncated');
    const inner = end.slice(0, -1);
    this.#rows.addText(this.#form === undefined ? inner.replace('[', '') : inner, form);
  }
}

/** Rows before the last one of a piece, which a comma separates from it. */
function withoutComma(text: string, form: Form): string {
  const trimmed = text.trim();
  if (trimmed === '' || form === 'lines') return trimmed;
  if (!trimmed.endsWith(',')) throw notRows();
  return trimmed.slice(0, -1);
}

type Form = 'arrays' | 'records' | 'lines' | 'document';

function formOf(text: string): Form {
  const start = text.trimStart();
  const isEmpty = start.startsWith('[') && ['', ']'].includes(start.slice(1).trim());
  if (/^\[\s*\[/.test(start) || isEmpty) return 'arrays';
  if (/^\[\s*\{/.test(start)) return 'records';
  if (!start.startsWith('{')) throw notRows();
  const [line = '', next = ''] = start.split('\n', 2);
  return parse(line.trim()) !== undefined && (next === '' ? false : next.trimStart().startsWith('{'))
    ? 'lines'
    : 'document';
}

/** Records of lines. */
const recordsIn = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Levels of a document that are searched. */
const MAX_DEPTH = 5;

/** Candles somewhere in a document. */
function tableIn(value: unknown, symbol?: string, depth = 0): JsonTable | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const named = symbol === undefined ? {} : { symbol };
  if (Array.isArray(value)) return arrayTable(value, named, depth);
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value.columns) && Array.isArray(value.data)) {
    const index = Array.isArray(value.index) ? value.index : [];
    const rows = value.data.map((row, at) => [index[at], ...(Array.isArray(row) ? row : [])]);
    return { names: ['', ...value.columns.map(String)], rows, ...named };
  }
  const columns = columnTable(value);
  if (columns) return { ...columns, ...named };
  for (const [key, each] of Object.entries(value)) {
    const found = tableIn(each, /^[A-Z0-9./:_-]{2,20}$/.test(key) ? key : symbol, depth + 1);
    if (found) return found;
  }
  return undefined;
}

function arrayTable(
  value: readonly unknown[],
  named: { symbol?: string },
  depth: number,
): JsonTable | undefined {
  const [first] = value;
  if (Array.isArray(first) && first.length >= 5)
    return { names: undefined, rows: value as Cells[], ...named };
  if (isRecord(first) && Object.keys(first).length >= 5) {
    return { ...recordTable(value as Readonly<Record<string, unknown>>[]), ...named };
  }
  for (const each of value.slice(0, 10)) {
    const found = tableIn(each, undefined, depth + 1);
    if (found) return found;
  }
  return undefined;
}

function recordTable(records: readonly Readonly<Record<string, unknown>>[]): JsonTable {
  const names = Object.keys(records[0]!);
  return { names, rows: records.map((record) => names.map((name) => record?.[name])) };
}

/** Columns as arrays (`{"t": [...], "o": [...]}`), as pandas writes them (`{"open": {"0": 1}}`), or rows by their times. */
function columnTable(value: Readonly<Record<string, unknown>>): JsonTable | undefined {
  const entries = Object.entries(value);
  const arrays = entries.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const length = arrays[0]?.[1].length ?? 0;
  if (length > 0 && arrays.length >= 5 && arrays.every(([, column]) => column.length === length)) {
    const rows = Array.from({ length }, (_, row) => arrays.map(([, column]) => column[row]));
    if (typeof rows[0]![0] !== 'object') return { names: arrays.map(([name]) => name), rows };
  }
  const records = entries.filter((entry): entry is [string, Readonly<Record<string, unknown>>] =>
    isRecord(entry[1]),
  );
  if (records.length !== entries.length || records.length === 0) return undefined;
  const inner = Object.keys(records[0]![1]);
  const areValues = records.every(([, each]) =>
    inner.some((key) => ['number', 'string'].includes(typeof each[key])),
  );
  if (!areValues) return undefined;
  const isTime = (text: string) => Number(text) >= 1e8 || writtenTime(text, 'dmy') !== undefined;
  if (records.length >= 4 && records.length <= 50 && !isTime(records[0]![0])) {
    const names = ['', ...records.map(([name]) => name)];
    return { names, rows: inner.map((key) => [key, ...records.map(([, column]) => column[key])]) };
  }
  if (!isTime(records[0]![0]) || inner.length < 4) return undefined;
  return {
    names: ['', ...inner],
    rows: records.map(([time, record]) => [time, ...inner.map((key) => record[key])]),
  };
}

const textOfCell = (value: unknown) => (value === null || value === undefined ? '' : String(value));

/** Columns of a table, by names or by its shape. */
function columnsOf({ names, rows }: JsonTable, hints: TableHints) {
  const samples = rows.slice(0, SAMPLES).map((row) => row.map(textOfCell));
  const named = names ? { names, notes: [] } : shapeOf(rows[0]!.length, samples);
  return { ...named, samples, chosen: chooseColumns(named.names, samples, hints) };
}

class JsonRows {
  readonly #names: SeriesNames;
  readonly #hints: TableHints;
  readonly #table: SeriesTable;
  readonly #toUtc: ToUtc;
  #columns: { readonly names: readonly string[]; readonly positions: Positions } | undefined;
  #width = 0;
  #dateOrder: DateOrder = 'dmy';
  #notes: readonly string[] = [];
  #rows = 0;
  readonly #skipped: number[] = [];

  constructor(names: SeriesNames, hints: TableHints, spill: Spill | undefined) {
    this.#names = names;
    this.#hints = hints;
    this.#table = new SeriesTable(6, 'row', spill);
    this.#toUtc = zoneOf(hints.timeZone ?? 'UTC');
  }

  /** Adds rows that are separated by commas, or lines with a record each. */
  addText(text: string, form: Form): void {
    const trimmed = text.trim();
    if (trimmed === '') return;
    const list = form === 'lines' ? recordsIn(trimmed).join() : trimmed;
    const parsed = parse(`[${list}]`) as unknown[] | undefined;
    if (parsed === undefined) throw this.#notJson(trimmed, form);
    const table: JsonTable | undefined =
      form === 'arrays'
        ? { names: undefined, rows: parsed.map((row) => this.#array(row)) }
        : this.#records(parsed);
    this.addTable(table);
  }

  #array(row: unknown): Cells {
    if (Array.isArray(row)) return row;
    throw notRows();
  }

  #records(rows: readonly unknown[]): JsonTable {
    const records = rows.map((row) => {
      if (!isRecord(row)) throw notRows();
      return row;
    });
    if (this.#columns === undefined) return recordTable(records);
    const { names } = this.#columns;
    return { names, rows: records.map((record) => names.map((name) => record[name])) };
  }

  addTable(table: JsonTable | undefined): void {
    if (table === undefined) throw noCandles();
    if (table.rows.length === 0) return;
    this.#columns ??= this.#choose(table);
    for (const cells of table.rows) this.#addRow(cells, this.#columns.positions, table.symbol);
  }

  #choose(table: JsonTable) {
    const { names, notes, samples, chosen } = columnsOf(table, this.#hints);
    this.#width = names.length;
    this.#notes = [...notes, ...chosen.notes];
    const times = samples.map((cells) => cells[chosen.positions.time]!);
    this.#dateOrder = dateOrderOf(times.filter((text) => text !== '' && Number.isNaN(Number(text))));
    return { names, positions: chosen.positions };
  }

  #addRow(cells: Cells, positions: Positions, symbol: string | undefined): void {
    this.#rows++;
    const text = (at: number | undefined) => (at === undefined ? null : textOfCell(cells[at]) || null);
    const time = this.#time(cells, positions);
    const values = ROLES.map((role) => {
      const at = positions[role];
      return at === undefined ? Number.NaN : numberOf(cells[at]);
    });
    const wrong = time === undefined ? -1 : values.indexOf(undefined);
    if (cells.length !== this.#width || time === undefined || wrong >= 0) {
      if (!this.#hints.skipInvalid) throw this.#wrong(cells, wrong);
      this.#skipped.push(this.#rows);
      return;
    }
    const series = {
      symbol: text(positions.symbol) ?? symbol ?? this.#names.symbol,
      timeframe: this.#names.timeframe ?? text(positions.timeframe),
      exchange: text(positions.exchange) ?? this.#names.exchange,
    };
    this.#table.add(series, [time, ...(values as number[])], this.#rows);
  }

  #wrong(cells: Cells, value: number): BadFileError {
    const { names, positions } = this.#columns!;
    const say = (problem: string) =>
      new BadFileError(`row ${this.#rows}: ${problem}. --skip-invalid leaves such rows out`);
    if (cells.length !== this.#width)
      return say(`has ${cells.length} values: expected ${this.#width}, ${names.join(', ')}`);
    const role = value < 0 ? 'time' : ROLES[value]!;
    const quoted = (JSON.stringify(cells[positions[role]!]) ?? '').slice(0, EXCERPT);
    return say(value < 0 ? `the time is ${quoted}` : `${role} is ${quoted}: expected a number`);
  }

  #time(cells: Cells, { time: at, clock }: Positions): number | undefined {
    const value = cells[at];
    if (typeof value === 'number') return value;
    const text = clock === undefined ? textOfCell(value) : `${textOfCell(value)} ${textOfCell(cells[clock])}`;
    if (!isCompactDate(text)) {
      const number = numberIn(text, false);
      if (number !== undefined) return number;
    }
    return timeOf(text, this.#dateOrder, this.#toUtc);
  }

  /** Names the first row that is not JSON. */
  #notJson(text: string, form: Form): BadFileError {
    if (form !== 'arrays') return new BadFileError(`is not JSON: ${text.slice(0, EXCERPT)}`);
    const rows = text.split(/(?<=\])\s*,/);
    const wrong = Math.max(
      0,
      rows.findIndex((row) => parse(row) === undefined),
    );
    return new BadFileError(
      `row ${this.#rows + wrong + 1} is not a JSON array of numbers: ${rows[wrong]!.trim().slice(0, EXCERPT)}`,
    );
  }

  finish(): FileSeries[] {
    const skipped =
      this.#skipped.length > 0
        ? [
            `${formatInteger(this.#skipped.length)} invalid rows, the first in row ${this.#skipped[0]}, left out`,
          ]
        : [];
    return this.#table
      .finish('candles')
      .map((series) => ({ ...series, notes: [...this.#notes, ...skipped] }));
  }
}

/** NaN for a missing value; undefined for one that is no number. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return Number.NaN;
  return typeof value === 'string' ? numberIn(value, false) : undefined;
}

const notRows = () => new BadFileError('is not a JSON array of rows, each an array or an object');
const noCandles = () =>
  new BadFileError(
    'holds no candles: expected an array of rows or records with a time, open, high, low and close',
  );
const tooLong = () =>
  new BadFileError(
    `is a document of more than ${formatInteger(MAX_DOCUMENT / 2 ** 20)} MB: write one array of records`,
  );
