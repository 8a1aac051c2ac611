import { DataType, type RecordBatch, type Vector } from 'apache-arrow';
import { chooseColumns, type Positions } from '../columns/choose-columns.ts';
import { isKnownName } from '../columns/column-names.ts';
import { numberIn } from '../columns/numbers.ts';
import { type DateOrder, dateOrderOf, isCompactDate, type ToUtc, timeOf, zoneOf } from '../columns/times.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type Spill } from '../file-rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { valuesOf } from './arrow-columns.ts';
import type { TableHints } from './csv-plan.ts';

/** Rows from which the columns are found. */
export const SAMPLE_ROWS = 200;
const ROLES = ['open', 'high', 'low', 'close', 'volume'] as const;

/** Columns that may be of candles: only these are decompressed. */
export function possibleColumns(names: readonly string[], { columns = {} }: TableHints): string[] {
  const given = new Set(Object.values(columns));
  return names.filter((name, index) => isKnownName(name) || given.has(name) || given.has(`${index + 1}`));
}

/** How a file is read, and what takes its rows. */
export type ArrowHints = TableHints & { readonly spill?: Spill | undefined };

/** Candles of the record batches of an Arrow or Parquet file, with columns found by their names. */
export class ArrowCandles {
  readonly #fields: readonly string[];
  readonly #positions: Positions;
  readonly #names: SeriesNames;
  readonly #notes: string[];
  readonly #dateOrder: DateOrder;
  readonly #toUtc: ToUtc;
  readonly #rows: { readonly one: ColumnBuilder } | { readonly table: SeriesTable };
  #count = 0;

  /**
   * @param sample the first rows, with all columns that may be needed
   * @throws BadFileError when a column is missing
   */
  constructor(
    fields: readonly string[],
    sample: RecordBatch | undefined,
    names: SeriesNames,
    { spill, ...hints }: ArrowHints,
  ) {
    this.#names = names;
    const samples = sample ? samplesOf(sample, fields) : [];
    const { positions, notes } = chooseColumns(fields, samples, hints);
    this.#fields = fields;
    this.#positions = positions;
    this.#notes = [...notes];
    const times = samples.map((cells) => cells[positions.time]!);
    this.#dateOrder = dateOrderOf(times.filter((text) => text !== '' && Number.isNaN(Number(text))));
    this.#toUtc = zoneOf(hints.timeZone ?? 'UTC');
    const { symbol, timeframe, exchange } = positions;
    const isTable = symbol !== undefined || timeframe !== undefined || exchange !== undefined;
    this.#rows = isTable
      ? { table: new SeriesTable(6, 'row', spill) }
      : { one: new ColumnBuilder(6, undefined, spill) };
  }

  /** Names of the columns that are read. */
  get columns(): string[] {
    return [...new Set(Object.values(this.#positions).map((at) => this.#fields[at]!))];
  }

  /** Rows that were added. */
  get length(): number {
    return this.#count;
  }

  add(batch: RecordBatch): void {
    const { time, clock } = this.#positions;
    const values = [
      this.#times(batch, this.#fields[time]!, clock === undefined ? undefined : this.#fields[clock]),
      ...ROLES.map((role) => {
        const at = this.#positions[role];
        return at === undefined
          ? new Float64Array(batch.numRows).fill(Number.NaN)
          : this.#numbers(batch, at, role);
      }),
    ];
    if ('one' in this.#rows) this.#rows.one.addBlock(values);
    else this.#addTo(this.#rows.table, batch, values);
    this.#count += batch.numRows;
  }

  #addTo(table: SeriesTable, batch: RecordBatch, values: readonly Float64Array[]): void {
    const text = (at: number | undefined, otherwise: string | null) =>
      at === undefined ? () => otherwise : textsOf(batch, this.#fields[at]!, this.#count);
    const symbol = text(this.#positions.symbol, this.#names.symbol);
    const timeframe = text(this.#positions.timeframe, this.#names.timeframe);
    const exchange = text(this.#positions.exchange, this.#names.exchange);
    for (let row = 0; row < batch.numRows; row++) {
      const series = { symbol: symbol(row), timeframe: timeframe(row), exchange: exchange(row) };
      const cells = values.map((column) => column[row]!);
      table.add(series, cells, this.#count + row + 1);
    }
  }

  /** Numbers of a column; NaN for an empty value. */
  #numbers(batch: RecordBatch, at: number, role: string): Float64Array {
    const name = this.#fields[at]!;
    const values = numbersOf(batch, name);
    if (values) return values;
    const column = batch.getChild(name)!;
    if (!isText(column.type)) throw new BadFileError(`column ${name} holds ${column.type}: expected numbers`);
    return perRow(column, (value, row) => {
      const number = numberIn(String(value), false);
      if (number !== undefined) return number;
      const quoted = JSON.stringify(String(value).slice(0, 40));
      throw this.#wrong(row, `${role} is ${quoted}: expected a number`);
    });
  }

  #wrong(row: number, problem: string): BadFileError {
    return new BadFileError(`row ${this.#count + row + 1}: ${problem}`);
  }

  /** Milliseconds of timestamps, dates and texts; other numbers unchanged. */
  #times(batch: RecordBatch, name: string, clock: string | undefined): Float64Array {
    const values = clock === undefined ? timesOf(batch, name) : undefined;
    if (values) return values;
    const clocks = clock === undefined ? undefined : batch.getChild(clock)!;
    return perRow(batch.getChild(name)!, (value, row) => {
      const text = clocks ? `${dayText(value)} ${clocks.get(row)}` : String(value);
      if (!isCompactDate(text)) {
        const number = numberIn(text, false);
        if (number !== undefined) return number;
      }
      const time = timeOf(text, this.#dateOrder, this.#toUtc);
      if (time !== undefined) return time;
      throw this.#wrong(row, `${name} is ${JSON.stringify(text.slice(0, 40))}: expected a time`);
    });
  }

  finish(): FileSeries[] {
    if ('table' in this.#rows) {
      return this.#rows.table
        .finish('candles')
        .map((series) => ({ ...series, notes: [...this.#notes, ...series.notes] }));
    }
    if (this.#count === 0) throw new BadFileError('holds no rows');
    const { one } = this.#rows;
    const rows = { columns: one.finish(), first: FIRST_ROW, spilled: one.spilled };
    return [{ kind: 'candles', ...this.#names, rows, notes: this.#notes }];
  }
}

const isText = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  (DataType.isDictionary(type) && isText(type.dictionary));

/** A date next to a column of the time of day. */
const dayText = (value: unknown) =>
  typeof value === 'number' ? new Date(value).toISOString().slice(0, 10) : String(value);

/** Values of the first rows as text. */
function samplesOf(batch: RecordBatch, fields: readonly string[]): string[][] {
  const count = Math.min(batch.numRows, SAMPLE_ROWS);
  const columns = fields.map((name) => {
    const column = batch.getChild(name);
    if (!column) return undefined;
    return timesOf(batch, name) ?? numbersOf(batch, name) ?? column;
  });
  return Array.from({ length: count }, (_, row) =>
    columns.map((column) => {
      const value: unknown = column instanceof Float64Array ? column[row] : column?.get(row);
      return value === null || value === undefined || Number.isNaN(value) ? '' : String(value);
    }),
  );
}

/** Text of a column by row. Offsets into one buffer are read directly: a vector decodes ten times slower. */
function textsOf(batch: RecordBatch, name: string, before: number): (row: number) => string {
  const column = batch.getChild(name)!;
  const [data] = column.data;
  const bytes =
    DataType.isUtf8(column.type) && data?.values
      ? Buffer.from(data.values.buffer, data.values.byteOffset, data.values.byteLength)
      : undefined;
  const offsets = data?.valueOffsets as Int32Array | undefined;
  return (row) => {
    if (!column.isValid(row)) throw new BadFileError(`row ${before + row + 1} has no ${name}`);
    return bytes && offsets
      ? bytes.toString('utf8', offsets[row]!, offsets[row + 1]!)
      : String(column.get(row));
  };
}

/** Numbers of a column; NaN for an empty value. Decimals, which DuckDB writes for 0.5, come without their point. */
function numbersOf(batch: RecordBatch, name: string): Float64Array | undefined {
  const values = valuesOf(batch, name, false);
  if (values) return values;
  const column = batch.getChild(name)!;
  const { type } = column;
  if (!DataType.isDecimal(type)) return undefined;
  const unit = 10 ** type.scale;
  const words = column.data[0]!.values as Int32Array | Uint32Array;
  const halves = new Int32Array(words.buffer, words.byteOffset, words.length);
  // Four or eight words of 32 bits, the lowest first, as two's complement.
  const count = type.bitWidth / 32;
  return Float64Array.from({ length: batch.numRows }, (_, row) => {
    if (!column.isValid(row)) return Number.NaN;
    // Most values fit into two words, whose sign fills the others; an integer of arbitrary size converts ten times slower.
    const at = count * row;
    const [low, high] = [halves[at]! >>> 0, halves[at + 1]!];
    const value = low + high * 4_294_967_296;
    const rest = halves.subarray(at + 2, at + count);
    if (Number.isSafeInteger(value) && rest.every((word) => word === high >> 31)) return value / unit;
    let whole = BigInt(halves[at + count - 1]!);
    for (let word = count - 2; word >= 0; word--) whole = (whole << 32n) | BigInt(halves[at + word]! >>> 0);
    return Number(`${whole}e-${type.scale}`);
  });
}

/** Milliseconds of timestamps and dates, and numbers unchanged; undefined for texts. */
function timesOf(batch: RecordBatch, name: string): Float64Array | undefined {
  const values = valuesOf(batch, name, true);
  if (values) return values;
  const column = batch.getChild(name)!;
  if (DataType.isDate(column.type)) return perRow(column, Number);
  const { type } = column;
  if (DataType.isDictionary(type) && !isText(type)) return perRow(column, Number);
  return isText(type) ? undefined : numbersOf(batch, name);
}

function perRow(column: Vector, read: (value: unknown, row: number) => number): Float64Array {
  return Float64Array.from({ length: column.length }, (_, row) => {
    const value: unknown = column.get(row);
    return value === null ? Number.NaN : read(value, row);
  });
}
