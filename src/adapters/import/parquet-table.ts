import { DataType, RecordBatchReader, type Vector } from 'apache-arrow';
import { readParquet, readSchema } from 'parquet-wasm';
import { BadFileError, readWhole } from './rows.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from './table.ts';

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
  const schema = RecordBatchReader.from(readSchema(bytes).intoIPCStream()).open().schema;
  const columns = chooseColumns(schema.fields.map(({ name }) => name));
  const wanted = Object.values(columns)
    .flat()
    .filter((name) => name !== undefined);
  const table = new SeriesTable(6, 'row');
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const read = readParquet(bytes, { columns: wanted, offset, limit: ROWS_AT_ONCE });
    for (const batch of RecordBatchReader.from(read.intoIPCStream())) {
      addBatch(table, (name) => batch.getChild(name), columns, names, batch.numRows);
    }
    if (table.rows < offset + ROWS_AT_ONCE) break;
  }
  return table.finish('candles');
}

function addBatch(
  table: SeriesTable,
  column: (name: string) => Vector | null,
  columns: Columns,
  names: SeriesNames,
  rows: number,
): void {
  const vector = (name: string) => {
    const found = column(name);
    if (!found) throw new BadFileError(`has no column ${name}`);
    return found;
  };
  const time = timesOf(vector(columns.time), columns.time);
  const values = [...columns.prices, ...(columns.volume === undefined ? [] : [columns.volume])].map((name) =>
    numbersOf(vector(name), name),
  );
  const textOf = (name: string | undefined, otherwise: string | null) => {
    if (name === undefined) return () => otherwise;
    const found = vector(name);
    return (row: number) => {
      const value: unknown = found.get(row);
      if (value === null) throw new BadFileError(`row ${table.rows + 1} has no ${name}`);
      return String(value);
    };
  };
  const symbol = textOf(columns.symbol, names.symbol);
  const timeframe = textOf(columns.timeframe, names.timeframe);
  const exchange = textOf(columns.exchange, names.exchange);
  for (let row = 0; row < rows; row++) {
    const series = { symbol: symbol(row), timeframe: timeframe(row), exchange: exchange(row) };
    const numbers = values.map((read) => read(row, table.rows + 1));
    if (columns.volume === undefined) numbers.push(Number.NaN);
    table.add(series, [time(row, table.rows + 1), ...numbers], table.rows + 1);
  }
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

type ReadNumber = (row: number, position: number) => number;

/** Numbers of a column; NaN for an empty value. Decimals, which DuckDB writes for 0.5, come without their point. */
function numbersOf(column: Vector, name: string): ReadNumber {
  const { type } = column;
  if (!DataType.isInt(type) && !DataType.isFloat(type) && !DataType.isDecimal(type)) {
    throw new BadFileError(`column ${name} holds ${type}: expected numbers`);
  }
  const unit = DataType.isDecimal(type) ? 10 ** type.scale : 1;
  return (row) => {
    const value: unknown = column.get(row);
    return value === null ? Number.NaN : Number(value) / unit;
  };
}

/** Milliseconds of timestamps and dates, numbers unchanged, and milliseconds of ISO 8601 text; text without a zone is UTC. */
function timesOf(column: Vector, name: string): ReadNumber {
  const { type } = column;
  if (DataType.isTimestamp(type) || DataType.isDate(type)) {
    return (row) => {
      const value: unknown = column.get(row);
      return value === null ? Number.NaN : Number(value);
    };
  }
  if (!DataType.isUtf8(type) && !DataType.isLargeUtf8(type)) return numbersOf(column, name);
  return (row, position) => {
    const text = String(column.get(row) ?? '');
    const { day, clock = '00:00', zone = 'Z' } = ISO_TIME.exec(text)?.groups ?? {};
    const time = Date.parse(
      `${day}T${clock}${zone.replace(/([+-]\d\d):?(\d\d)?$/, (_, h, m = '00') => `${h}:${m}`)}`,
    );
    if (!Number.isNaN(time)) return time;
    throw new BadFileError(
      `row ${position}: ${name} is ${JSON.stringify(text.slice(0, 40))}: expected an ISO 8601 time`,
    );
  };
}
