/** @throws RangeError unless `period` is an integer number of candles from `min` */
export function checkPeriod(indicator: string, period: number, min = 1): void {
  if (!Number.isInteger(period) || period < min) {
    throw new RangeError(`${indicator}: a period must be an integer from ${min}, got ${period}.`);
  }
}

/**
 * Output column of an indicator: `out` if given, else a new column.
 * @throws RangeError when `out` has another length
 */
export function outputColumn(length: number, out?: Float64Array): Float64Array {
  if (out === undefined) return new Float64Array(length);
  if (out.length !== length) {
    throw new RangeError(
      `The output column has ${out.length} rows for ${length} values. Pass one of ${length} rows.`,
    );
  }
  return out;
}

/** Row of the first value that is not NaN; the length when all are NaN. */
export function firstDefined(values: Float64Array): number {
  const length = values.length;
  let row = 0;
  while (row < length && Number.isNaN(values[row]!)) row++;
  return row;
}

/** Sets rows before `end` to NaN. */
export function warmUp(column: Float64Array, end: number): void {
  column.fill(Number.NaN, 0, Math.min(end, column.length));
}

/**
 * Mean of `values[from .. from + count - 1]`. It sums distances from the first value, so the mean of equal values is
 * exactly that value.
 */
export function meanOf(values: Float64Array, from: number, count: number): number {
  const anchor = values[from]!;
  let sum = 0;
  for (let row = from; row < from + count; row++) sum += values[row]! - anchor;
  return anchor + sum / count;
}

/**
 * Column `periods` candles ago: row `i` holds `values[i - periods]`, the first rows hold NaN. A negative shift is
 * rejected: it would read later candles (look-ahead bias).
 * @throws RangeError when `periods` is not an integer from 0
 */
export function shift(values: Float64Array, periods: number, out?: Float64Array): Float64Array {
  checkPeriod('shift', periods, 0);
  const result = outputColumn(values.length, out);
  warmUp(result, periods);
  if (periods < values.length) result.set(values.subarray(0, values.length - periods), periods);
  return result;
}

/**
 * Sums over a sliding window without drift.
 *
 * A running sum that adds the new value and subtracts the old one keeps all its rounding errors. Here the values are
 * cut into blocks of one window's length. A window is then the tail of one block and the head of the next. Its sum is
 * one suffix sum plus one prefix sum (van Herk and Gil-Werman use the same cut for maxima). Nothing is subtracted,
 * each value is visited twice for any period, and the result depends only on the window's values.
 *
 * For deviations, the values of a block pair are taken relative to the second block's first value. That value is inside
 * every window of the pair. No window therefore loses digits to a large common price, and the deviation of equal values
 * is exactly 0.
 */

/**
 * Sum of the last `period` values.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rollingSum(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rollingSum', period);
  const result = outputColumn(values.length, out);
  linearWindow(values, period, result, { sum: 1, weighted: 0, anchor: 'none' });
  return result;
}

/** Linear form that {@link linearWindow} computes for each window. */
interface LinearForm {
  /** Factor of S, the sum of the window's values. */
  readonly sum: number;
  /** Factor of W, the sum of the values times 1 (oldest) to `period` (newest). */
  readonly weighted: number;
  /** `none`: plain values; `subtracted`: distances from a value of the window; `added back`: as `subtracted`, then that value is added. */
  readonly anchor: 'none' | 'subtracted' | 'added back';
}

/** Writes `form.sum * S + form.weighted * W` for every full window; NaN before the first one. */
export function linearWindow(
  values: Float64Array,
  period: number,
  out: Float64Array,
  form: LinearForm,
): void {
  const first = firstDefined(values);
  const { sum: sumFactor, weighted: weightedFactor } = form;
  // Suffix sums of the block before, for every k: its values from k on, plain and with weights 1, 2, ... from k.
  const tails = new Float64Array(period + 1);
  const weightedTails = new Float64Array(period + 1);
  warmUp(out, first + period - 1);
  for (let start = first; start < values.length; start += period) {
    const anchor = form.anchor === 'none' ? 0 : values[start]!;
    const base = form.anchor === 'added back' ? anchor : 0;
    const isFirst = start === first;
    if (!isFirst) sumTails(values, start - period, anchor, tails, weightedTails);
    const count = Math.min(period, values.length - start);
    let head = 0;
    let aged = 0;
    for (let k = 0; k < count; k++) {
      aged += head;
      head += values[start + k]! - anchor;
      if (isFirst && k < period - 1) continue;
      const weighted = weightedTails[k + 1]! + period * head - aged;
      out[start + k] = base + sumFactor * (tails[k + 1]! + head) + weightedFactor * weighted;
    }
  }
}

function sumTails(
  values: Float64Array,
  blockStart: number,
  anchor: number,
  tails: Float64Array,
  weightedTails: Float64Array,
): void {
  let sum = 0;
  let weighted = 0;
  for (let k = tails.length - 2; k > 0; k--) {
    sum += values[blockStart + k]! - anchor;
    weighted += sum;
    tails[k] = sum;
    weightedTails[k] = weighted;
  }
}

/**
 * Highest of the last `period` values, including the current one. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function highest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('highest', period);
  return extremes(values, period, 1, outputColumn(values.length, out));
}

/**
 * Lowest of the last `period` values, including the current one. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function lowest(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('lowest', period);
  return extremes(values, period, -1, outputColumn(values.length, out));
}

/**
 * Largest `sign * value` of every full window, times `sign`. By blocks of one period (van Herk, Gil-Werman): a window is
 * the tail of one block and the head of the next. Every value is visited twice, for any period.
 */
function extremes(values: Float64Array, period: number, sign: 1 | -1, out: Float64Array): Float64Array {
  const first = firstDefined(values);
  const tails = new Float64Array(period + 1).fill(Number.NEGATIVE_INFINITY);
  warmUp(out, first + period - 1);
  for (let start = first; start < values.length; start += period) {
    const isFirst = start === first;
    for (let k = isFirst ? 0 : period - 1; k > 0; k--) {
      const value = sign * values[start - period + k]!;
      tails[k] = Math.max(value, tails[k + 1]!);
    }
    const count = Math.min(period, values.length - start);
    let head = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < count; k++) {
      head = Math.max(head, sign * values[start + k]!);
      if (isFirst && k < period - 1) continue;
      out[start + k] = sign * Math.max(tails[k + 1]!, head);
    }
  }
  return out;
}
