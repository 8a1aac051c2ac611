/** Throws a RangeError unless `period` is a whole number of candles from `least`. */
export function checkPeriod(indicator: string, period: number, least = 1): void {
  if (!Number.isInteger(period) || period < least) {
    throw new RangeError(`${indicator}: a period must be a whole number from ${least}, got ${period}.`);
  }
}

/**
 * The column an indicator writes to: `out` when the caller gave one of the right length, else a new one.
 * @throws RangeError when `out` has another length
 */
export function outputColumn(length: number, out?: Float64Array): Float64Array {
  if (out === undefined) return new Float64Array(length);
  if (out.length !== length) {
    throw new RangeError(`The output column has ${out.length} rows for ${length} values.`);
  }
  return out;
}

/** Row of the first value that is not NaN; the length when there is none. */
export function firstDefined(values: Float64Array): number {
  const length = values.length;
  let row = 0;
  while (row < length && Number.isNaN(values[row]!)) row++;
  return row;
}

/** Marks rows before `end` as not yet defined. */
export function warmUp(column: Float64Array, end: number): void {
  column.fill(Number.NaN, 0, Math.min(end, column.length));
}

/**
 * Mean of `values[from .. from + count - 1]`. Summed as distances from the first value, so that the mean of equal
 * values is exactly that value.
 */
export function meanOf(values: Float64Array, from: number, count: number): number {
  const anchor = values[from]!;
  let sum = 0;
  for (let row = from; row < from + count; row++) sum += values[row]! - anchor;
  return anchor + sum / count;
}

/**
 * The column `periods` candles ago: row `i` holds `values[i - periods]`, the first rows NaN. A negative shift would
 * read the future and is refused.
 * @throws RangeError when `periods` is not a whole number from 0
 */
export function shift(values: Float64Array, periods: number, out?: Float64Array): Float64Array {
  checkPeriod('shift', periods, 0);
  const result = outputColumn(values.length, out);
  warmUp(result, periods);
  if (periods < values.length) result.set(values.subarray(0, values.length - periods), periods);
  return result;
}
