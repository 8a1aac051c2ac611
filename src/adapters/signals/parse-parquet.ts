import { DataType, type Field, RecordBatchReader, type Vector } from 'apache-arrow';
import { readParquet, readSchema } from 'parquet-wasm';
import { SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import { checkParquetSize, LargeParquetError } from '../parquet/check-size.ts';
import { BadSignalsError, type Cell, SignalTableBuilder } from './table-builder.ts';

/** Rows decompressed in one step: WebAssembly memory never shrinks. */
const ROWS_AT_ONCE = 32_768;
/** Index columns that pandas writes. */
const INDEX = /^__index_level_\d+__$/;

/** Reads Parquet of any writer and compression. Throws BadSignalsError; errors of the library for a corrupt file. */
export function parseSignalsParquet(bytes: Uint8Array): SignalTableBuilder {
  checkSize(bytes);
  const schema = RecordBatchReader.from(readSchema(bytes).intoIPCStream()).open().schema;
  const names = schema.fields.map(({ name }) => name).filter((name) => !INDEX.test(name));
  const builder = new SignalTableBuilder(names);
  for (const field of schema.fields) if (names.includes(field.name)) checkType(field);
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const stream = readParquet(bytes, { columns: names, offset, limit: ROWS_AT_ONCE }).intoIPCStream();
    for (const batch of RecordBatchReader.from(stream)) {
      const columns = names.map((name) => batch.getChild(name));
      if (columns.includes(null)) throw new BadSignalsError('lacks one of its columns');
      const readers = columns.map((column) => readerOf(column!));
      for (let row = 0; row < batch.numRows; row++) builder.add(readers.map((read) => read(row)));
    }
    // Freed now: the garbage collector would leave those of many steps.
    (stream.buffer as ArrayBuffer).transfer(0);
    if (builder.rows < offset + ROWS_AT_ONCE) return builder;
  }
}

function checkSize(bytes: Uint8Array): void {
  try {
    checkParquetSize(bytes, { rowsAtOnce: ROWS_AT_ONCE, maxRows: SIGNALS_LIMITS.rows });
  } catch (error) {
    throw error instanceof LargeParquetError ? new BadSignalsError(error.message, { cause: error }) : error;
  }
}

/** Values of a column. Arrow returns timestamps of any unit as Unix ms, and decimals, which DuckDB writes for 0.5, without their point. */
function readerOf(column: Vector): (row: number) => Cell {
  const { type } = column;
  if (!DataType.isDecimal(type)) return (row) => column.get(row) as Cell;
  return (row) => {
    const words = column.get(row) as Uint32Array | null;
    // As text: a decimal beyond 2^53 is not converted to a number.
    return words === null ? null : Number(`${integerOf(words)}e-${type.scale}`);
  };
}

/** Two's complement of 32-bit words, the lowest first. Arrow writes decimals of 256 bits as 0. */
function integerOf(words: Uint32Array): bigint {
  const bits = words.reduceRight((higher, word) => (higher << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(32 * words.length, bits);
}

/** Arrow has values for every type, such as the microseconds of a time of day, that would be read as others. */
const READABLE = [
  DataType.isBool,
  DataType.isInt,
  DataType.isFloat,
  DataType.isDecimal,
  DataType.isNull,
  DataType.isUtf8,
  DataType.isLargeUtf8,
  DataType.isUtf8View,
  DataType.isTimestamp,
  DataType.isDate,
];

/** @throws BadSignalsError for a column without text, numbers, flags or times */
function checkType({ name, type }: Field): void {
  const values = DataType.isDictionary(type) ? type.dictionary : type;
  if (READABLE.some((is) => is(values))) return;
  throw new BadSignalsError(
    `has values of type ${values} in ${name}: store it as text, number, boolean or timestamp`,
  );
}
