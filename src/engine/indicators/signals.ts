import type { PredictionColumns } from '../strategy.ts';

/** Signal columns from indicator columns: 1 where a condition holds, else 0. Undefined (NaN) values meet no condition. */

/** 1 where `left` is above `right` and was not above it one candle before. `right` is a column or one level. */
export function crossedAbove(left: Float64Array, right: Float64Array | number): Uint8Array {
  return typeof right === 'number' ? crossedLevel(left, right, 1) : crossedColumn(left, right);
}

/** 1 where `left` is below `right` and was not below it one candle before. `right` is a column or one level. */
export function crossedBelow(left: Float64Array, right: Float64Array | number): Uint8Array {
  return typeof right === 'number' ? crossedLevel(left, right, -1) : crossedColumn(right, left);
}

export interface Crossings {
  readonly above: Uint8Array;
  readonly below: Uint8Array;
}

/** {@link crossedAbove} and {@link crossedBelow} of two columns in one pass. `out`: columns to write; new ones without. */
export function crossings(left: Float64Array, right: Float64Array, out?: Crossings): Crossings {
  const { length } = left;
  checkLength(length, right.length);
  const columns = out ?? { above: new Uint8Array(length), below: new Uint8Array(length) };
  const { above, below } = columns;
  checkLength(length, above.length);
  checkLength(length, below.length);
  if (out !== undefined) {
    above.fill(0);
    below.fill(0);
  }
  // Most rows stay on the side of the row before them: they are passed without a look at that row.
  for (let row = 1; row < length; row++) {
    const a = left[row - 1]!;
    const b = right[row - 1]!;
    if (a > b) row = firstNot(left, right, row);
    else if (a < b) row = firstNot(right, left, row);
    if (row === length) break;
    if (a <= b && left[row]! > right[row]!) above[row] = 1;
    else if (a >= b && left[row]! < right[row]!) below[row] = 1;
  }
  return columns;
}

/** First row from `from` on where `upper` is not above `lower`; the length without one. */
function firstNot(upper: Float64Array, lower: Float64Array, from: number): number {
  const { length } = upper;
  let row = from;
  while (row < length && upper[row]! > lower[row]!) row++;
  return row;
}

function crossedColumn(left: Float64Array, right: Float64Array): Uint8Array {
  checkLength(left.length, right.length);
  const result = new Uint8Array(left.length);
  for (let row = 1, { length } = left; row < length; row++) {
    if (left[row]! > right[row]! && left[row - 1]! <= right[row - 1]!) result[row] = 1;
  }
  return result;
}

function crossedLevel(left: Float64Array, level: number, sign: 1 | -1): Uint8Array {
  const result = new Uint8Array(left.length);
  const limit = sign * level;
  for (let row = 1, { length } = left; row < length; row++) {
    if (sign * left[row]! > limit && sign * left[row - 1]! <= limit) result[row] = 1;
  }
  return result;
}

/**
 * 1 where `condition(row)` holds. The condition may read rows up to `row`, never later:
 * `where(length, (i) => rsi[i]! < 30)`.
 *
 * @throws TypeError for a condition that is neither true nor false: a number that is not 0 would be a signal
 */
export function where(length: number, condition: (row: number) => boolean): Uint8Array {
  const result = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    const holds: unknown = condition(row);
    if (holds === true) result[row] = 1;
    else if (holds !== false) throw notBoolean(holds, row);
  }
  return result;
}

function notBoolean(value: unknown, row: number): TypeError {
  const isText = typeof value === 'string';
  const shown = isText
    ? JSON.stringify(value.slice(0, 60))
    : typeof value === 'object'
      ? typeof value
      : String(value);
  return new TypeError(
    `the condition of where() returned ${value === null ? 'null' : shown} in row ${row}; it must be true or false, such as column[row] > 0`,
  );
}

/** 1 where every column is set. */
export function allOf(first: Uint8Array, ...others: readonly Uint8Array[]): Uint8Array {
  const result = first.slice();
  for (const other of others) {
    checkLength(result.length, other.length);
    for (let row = 0, { length } = result; row < length; row++) result[row]! &= other[row]!;
  }
  return result;
}

/** 1 where at least one column is set. */
export function anyOf(first: Uint8Array, ...others: readonly Uint8Array[]): Uint8Array {
  const result = first.slice();
  for (const other of others) {
    checkLength(result.length, other.length);
    for (let row = 0, { length } = result; row < length; row++) result[row]! |= other[row]!;
  }
  return result;
}

function checkLength(expected: number, actual: number): void {
  if (actual !== expected)
    throw new RangeError(
      `Columns of ${expected} and ${actual} rows cannot be combined. Pass columns of equal length.`,
    );
}

/** Columns of a strategy, including the predictions in a run with the ML engine. */
type MaybePredicted = Partial<PredictionColumns>;

/**
 * 1 where a model predicts the row and its probability of label 1 is at least `threshold`.
 * @throws RangeError in a run without the ML engine of a strategy that does not declare `mlEngine`
 */
export function predictedAbove(columns: MaybePredicted, threshold: number): Uint8Array {
  return predicted(columns, (probability) => probability >= threshold);
}

/** 1 where a model predicts the row and its probability of label 1 is at most `threshold`. Throws as {@link predictedAbove}. */
export function predictedBelow(columns: MaybePredicted, threshold: number): Uint8Array {
  return predicted(columns, (probability) => probability <= threshold);
}

function predicted(
  { ml_probability, do_predict }: MaybePredicted,
  holds: (probability: number) => boolean,
): Uint8Array {
  if (!ml_probability || !do_predict) {
    throw new RangeError(
      'this run has no predictions; declare mlEngine in the strategy, or run it with ml_engine.enabled',
    );
  }
  const result = new Uint8Array(ml_probability.length);
  for (let row = 0; row < result.length; row++) {
    if (do_predict[row] === 1 && holds(ml_probability[row]!)) result[row] = 1;
  }
  return result;
}
