import { DataType, type RecordBatch, RecordBatchReader, type Vector } from 'apache-arrow';
import { readParquet } from 'parquet-wasm';
import { BadFileError, MAX_ROWS, readWhole } from '../file-rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { valuesOf } from './arrow-columns.ts';
import { checkSize, readSmallSchema } from './parquet-size.ts';

/** Rows decompressed in one step: WebAssembly memory never shrinks. */
const ROWS_AT_ONCE = 131_072;
const ISO_TIME =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<clock>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * Names of each column, in lower case. The first name of a list that the file has is used, except for times: two of them are
 * ambiguous unless one is the open time.
 */
const OPEN_TIMES = ['open_time', 'opentime', 'ts_event'];
const TIMES = ['timestamp', 'timestamp_ms', 'datetime', 'date', 'time', 'ts', 't'];
const PRICE_NAMES = [
  ['open', 'o'],
  ['high', 'h'],
  ['low', 'l'],
  ['close', 'c'],
];
const VOLUMES = ['volume', 'vol', 'v'];
const SYMBOLS = ['symbol', 'pair', 'ticker', 'instrument'];
const TIMEFRAMES = ['timeframe', 'interval', 'tf', 'resolution'];
const EXCHANGES = ['exchange'];

interface Columns {
  readonly time: string;
  readonly prices: readonly string[];
  readonly volume: string | undefined;
  readonly symbol: string | undefined;
  readonly timeframe: string | undefined;
  readonly exchange: string | undefined;
}

/**
 * Candles of a Parquet file of any writer, by the symbol, timeframe and exchange of the rows. Missing ones are taken from
 * `names`, which its folders give.
 * @throws BadFileError; errors of the Parquet library for a corrupt file
 */
export async function readParquetTable(path: string, names: SeriesNames): Promise<FileSeries[]> {
  const bytes = await readWhole(path);
  const schema = RecordBatchReader.from(readSmallSchema(bytes).intoIPCStream()).open().schema;
  const columns = chooseColumns(schema.fields.map(({ name }) => name));
  const wanted = Object.values(columns)
    .flat()
    .filter((name) => name !== undefined);
  checkSize(bytes, { rowsAtOnce: ROWS_AT_ONCE, maxRows: MAX_ROWS, columns: wanted });
  const table = new SeriesTable(6, 'row');
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const read = readParquet(bytes, { columns: wanted, offset, limit: ROWS_AT_ONCE });
    for (const batch of RecordBatchReader.from(read.intoIPCStream())) {
      addBatch(table, batch, columns, names);
    }
    if (table.rows < offset + ROWS_AT_ONCE) break;
  }
  return table.finish('candles');
}

function addBatch(table: SeriesTable, batch: RecordBatch, columns: Columns, names: SeriesNames): void {
  const before = table.rows;
  const time = timesOf(batch, columns.time, before);
  const values = columns.prices.map((name) => numbersOf(batch, name));
  values.push(
    columns.volume === undefined
      ? new Float64Array(batch.numRows).fill(Number.NaN)
      : numbersOf(batch, columns.volume),
  );
  const text = (name: string | undefined, otherwise: string | null) =>
    name === undefined ? () => otherwise : textsOf(batch, name, before);
  const symbol = text(columns.symbol, names.symbol);
  const timeframe = text(columns.timeframe, names.timeframe);
  const exchange = text(columns.exchange, names.exchange);
  for (let row = 0; row < batch.numRows; row++) {
    const series = { symbol: symbol(row), timeframe: timeframe(row), exchange: exchange(row) };
    table.add(series, [time[row]!, ...values.map((column) => column[row]!)], before + row + 1);
  }
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

/** @throws BadFileError when a column is missing or ambiguous */
function chooseColumns(all: readonly string[]): Columns {
  const byName = new Map<string, string[]>();
  for (const name of all) {
    const key = name.toLowerCase().replaceAll(' ', '_');
    byName.set(key, [...(byName.get(key) ?? []), name]);
  }
  const first = (names: readonly string[]) => {
    const found = names.find((name) => byName.has(name));
    const spelled = found === undefined ? [] : byName.get(found)!;
    if (spelled.length > 1) throw ambiguous(spelled);
    return spelled[0];
  };
  const full = PRICE_NAMES.every(([name]) => byName.has(name!));
  const prices = PRICE_NAMES.map(([name, short]) => {
    const found = first([full ? name! : byName.has(name!) ? name! : short!]);
    if (found === undefined) throw new BadFileError(`has no column ${name}`);
    return found;
  });
  return {
    time: first(OPEN_TIMES) ?? onlyTime(byName),
    prices,
    volume: first(VOLUMES),
    symbol: first(SYMBOLS),
    timeframe: first(TIMEFRAMES),
    exchange: first(EXCHANGES),
  };
}

function onlyTime(byName: ReadonlyMap<string, readonly string[]>): string {
  const found = TIMES.flatMap((name) => byName.get(name) ?? []);
  if (found.length > 1) throw ambiguous(found);
  if (found[0] === undefined)
    throw new BadFileError(`has no column ${[...OPEN_TIMES, ...TIMES].join(' or ')}`);
  return found[0];
}

function ambiguous(names: readonly string[]): BadFileError {
  return new BadFileError(
    `has the columns ${names.join(' and ')}: keep one, or name the open time of the candles open_time`,
  );
}

/** Numbers of a column; NaN for an empty value. Decimals, which DuckDB writes for 0.5, come without their point. */
function numbersOf(batch: RecordBatch, name: string): Float64Array {
  const values = valuesOf(batch, name, false);
  if (values) return values;
  const column = batch.getChild(name)!;
  const { type } = column;
  if (!DataType.isDecimal(type)) throw new BadFileError(`column ${name} holds ${type}: expected numbers`);
  const unit = 10 ** type.scale;
  const words = column.data[0]!.values as Int32Array | Uint32Array;
  const halves = new Int32Array(words.buffer, words.byteOffset, words.length);
  return Float64Array.from({ length: batch.numRows }, (_, row) => {
    if (!column.isValid(row)) return Number.NaN;
    // Four words of 32 bits. Most values fit into two, whose sign fills the others; a vector converts ten times slower.
    const [low, high] = [halves[4 * row]! >>> 0, halves[4 * row + 1]!];
    const value = low + high * 4_294_967_296;
    const [third, fourth] = [halves[4 * row + 2], halves[4 * row + 3]];
    const isShort = type.bitWidth === 128 && third === high >> 31 && fourth === high >> 31;
    if (isShort && Number.isSafeInteger(value)) return value / unit;
    return Number(`${column.get(row)}e-${type.scale}`);
  });
}

/** Milliseconds of timestamps and dates, numbers unchanged, and milliseconds of ISO 8601 text; text without a zone is UTC. */
function timesOf(batch: RecordBatch, name: string, before: number): Float64Array {
  const values = valuesOf(batch, name, true);
  if (values) return values;
  const column = batch.getChild(name)!;
  if (DataType.isDate(column.type)) return perRow(column, Number);
  if (!DataType.isUtf8(column.type) && !DataType.isLargeUtf8(column.type)) return numbersOf(batch, name);
  return perRow(column, (value, row) => {
    const text = String(value);
    const { day, clock = '00:00', zone = 'Z' } = ISO_TIME.exec(text)?.groups ?? {};
    const time = Date.parse(
      `${day}T${clock}${zone.replace(/([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)}`,
    );
    if (!Number.isNaN(time)) return time;
    throw new BadFileError(
      `row ${before + row + 1}: ${name} is ${JSON.stringify(text.slice(0, 40))}: expected an ISO 8601 time`,
    );
  });
}

function perRow(column: Vector, read: (value: unknown, row: number) => number): Float64Array {
  return Float64Array.from({ length: column.length }, (_, row) => {
    const value: unknown = column.get(row);
    return value === null ? Number.NaN : read(value, row);
  });
}
