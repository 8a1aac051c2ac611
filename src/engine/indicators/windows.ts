/**
 * Sums over a sliding window without drift.
 *
 * A running sum that adds the new value and subtracts the old one keeps every rounding error it ever made. Here the
 * values are cut into blocks of one window's length instead: a window is the tail of one block and the head of the next,
 * so its sum is one suffix sum plus one prefix sum (van Herk and Gil-Werman use the same cut for maxima). Nothing is
 * subtracted, each value is visited twice whatever the period, and the result depends on the window's values alone.
 *
 * Where deviations matter, the values of a block pair are taken relative to the second block's first value. That
 * value is inside every window of the pair, so no window loses digits to a large common price, and equal values have
 * exactly the deviation 0.
 */
import { checkPeriod, firstDefined, outputColumn, warmUp } from './column.ts';

/**
 * Sum of the last `period` values.
 * @throws RangeError for a period that is not a whole number from 1
 */
export function rollingSum(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rollingSum', period);
  const result = outputColumn(values.length, out);
  linearWindow(values, period, result, { sum: 1, weighted: 0, anchor: 'none' });
  return result;
}

/** What {@link linearWindow} computes of a window. */
export interface LinearForm {
  /** Factor of S, the sum of the window's values. */
  readonly sum: number;
  /** Factor of W, the sum of the values times 1 (oldest) to `period` (newest). */
  readonly weighted: number;
  /** `none`: values as they are; `dropped`: distances from a value of the window; `restored`: that, and it is added. */
  readonly anchor: 'none' | 'dropped' | 'restored';
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
  // Of the block before, for every k: sum of its values from k on, plain and with weights 1, 2, ... from k.
  const tails = new Float64Array(period + 1);
  const weightedTails = new Float64Array(period + 1);
  warmUp(out, first + period - 1);
  for (let start = first; start < values.length; start += period) {
    const anchor = form.anchor === 'none' ? 0 : values[start]!;
    const base = form.anchor === 'restored' ? anchor : 0;
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
