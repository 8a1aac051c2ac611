import { type Data, DataType, Precision, type RecordBatch, type Timestamp, TimeUnit } from 'apache-arrow';
import { BadFileError, type Layout, TIME_NAMES } from '../file-rows.ts';

/** Factor and divisor that convert a time to milliseconds; both are integers, so the conversion is exact. */
const TO_MS: Readonly<Record<TimeUnit, readonly [factor: number, divisor: number]>> = {
  [TimeUnit.SECOND]: [1_000, 1],
  [TimeUnit.MILLISECOND]: [1, 1],
  [TimeUnit.MICROSECOND]: [1, 1_000],
  [TimeUnit.NANOSECOND]: [1, 1_000_000],
};

/**
 * Columns of a record batch as numbers; empty values are NaN. The first column holds times: timestamps of any unit, with or
 * without a time zone (Arrow counts both in UTC), or integer milliseconds.
 * @param names column names in the file
 * @throws BadFileError for a column that is missing, of another type or shorter than the batch
 */
export function columnsOfBatch(batch: RecordBatch, names: readonly string[]): Float64Array[] {
  return names.map((name, index) => {
    const values = valuesOf(batch, name, index === 0);
    if (values) return values;
    throw new BadFileError(`column ${name} holds ${batch.getChild(name)!.type}: expected numbers`);
  });
}

/**
 * Values of a column, undefined if it holds neither numbers nor, with `isTime`, timestamps.
 * @throws BadFileError for a column that is missing or shorter than the batch
 */
export function valuesOf(batch: RecordBatch, name: string, isTime: boolean): Float64Array | undefined {
  const column = batch.getChild(name)?.data[0];
  if (!column) throw new BadFileError(`has no column ${name}`);
  const values = isTime && DataType.isTimestamp(column.type) ? timesOf(column) : numbersOf(column);
  if (!values) return undefined;
  if (values.length !== batch.numRows) throw new BadFileError(`column ${name} is truncated`);
  if (column.nullCount > 0) {
    for (let row = 0; row < values.length; row++) if (!column.getValid(row)) values[row] = Number.NaN;
  }
  return values;
}

/** First layout whose columns the file has, with the file's name of the time column. Throws BadFileError if none fits. */
export function layoutIn(hasColumn: (name: string) => boolean, layouts: readonly Layout[]): Layout {
  const time = TIME_NAMES.find(hasColumn);
  if (time === undefined) throw missingColumn(TIME_NAMES);
  const absent: string[] = [];
  for (const [, ...others] of layouts) {
    const missing = others.find((name) => !hasColumn(name));
    if (missing === undefined) return [time, ...others];
    absent.push(missing);
  }
  throw missingColumn(absent);
}

const missingColumn = (names: readonly string[]) => new BadFileError(`has no column ${names.join(' or ')}`);

function timesOf(column: Data<Timestamp>): Float64Array {
  const [factor, divisor] = TO_MS[column.type.unit];
  const times = int64ToNumbers(column.values.subarray(0, column.length));
  for (let row = 0; row < times.length; row++) times[row] = (times[row]! * factor) / divisor;
  return times;
}

/** Undefined if the column does not hold numbers. */
function numbersOf({ type, values, length }: Data): Float64Array | undefined {
  if (DataType.isNull(type)) return new Float64Array(length).fill(Number.NaN);
  if (!DataType.isFloat(type) && !DataType.isInt(type)) return undefined;
  const numbers = values.subarray(0, length);
  if (DataType.isFloat(type) && type.precision === Precision.HALF)
    return Float64Array.from(numbers, halfToNumber);
  if (numbers instanceof BigInt64Array) return int64ToNumbers(numbers);
  return numbers instanceof BigUint64Array ? Float64Array.from(numbers, Number) : new Float64Array(numbers);
}

/** Number of the 16 bits of a half-precision float (IEEE 754, binary16). */
function halfToNumber(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1_023];
  const size =
    exponent === 31
      ? fraction === 0
        ? Number.POSITIVE_INFINITY
        : Number.NaN
      : exponent === 0
        ? fraction * 2 ** -24
        : (1 + fraction / 1_024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** Reads 32-bit halves: a BigInt per value is ten times slower. Values beyond 2^53 are rounded to the nearest number. */
function int64ToNumbers(integers: BigInt64Array): Float64Array {
  const halves = new Int32Array(integers.buffer, integers.byteOffset, 2 * integers.length);
  const numbers = new Float64Array(integers.length);
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = (halves[2 * i]! >>> 0) + halves[2 * i + 1]! * 4_294_967_296;
  }
  return numbers;
}
