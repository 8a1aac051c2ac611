import { checkPeriod, firstDefined, linearWindow, meanOf, outputColumn, warmUp } from './windows.ts';

/**
 * Simple moving average: mean of the last `period` values. First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function sma(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('sma', period);
  const result = outputColumn(values.length, out);
  linearWindow(values, period, result, { sum: 1 / period, weighted: 0, anchor: 'added back' });
  return result;
}

/**
 * Weighted moving average: weights 1 (oldest) to `period` (newest). First value on row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function wma(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('wma', period);
  const result = outputColumn(values.length, out);
  const weighted = 2 / (period * (period + 1));
  linearWindow(values, period, result, { sum: 0, weighted, anchor: 'added back' });
  return result;
}

/**
 * Exponential moving average, `ema += 2 / (period + 1) * (value - ema)`. As in TA-Lib, it starts on row `period - 1`
 * with the simple average of the first `period` values.
 * @throws RangeError for a period that is not an integer from 1
 */
export function ema(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('ema', period);
  return smooth(values, period, 2 / (period + 1), outputColumn(values.length, out));
}

/**
 * Wilder's smoothing (also RMA, SMMA): as {@link ema} with the factor `1 / period`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function rma(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('rma', period);
  return smooth(values, period, 1 / period, outputColumn(values.length, out));
}

/**
 * {@link ema} of several periods, a column each. It computes two at a time: a row of one average waits for the row before it, so
 * the second one costs nothing. `outs`: columns to write, in the order of the periods; new ones where they are missing.
 * @throws RangeError for a period that is not an integer from 1
 */
export function emas<const P extends readonly number[]>(
  values: Float64Array,
  periods: P,
  outs: readonly Float64Array[] = [],
): { -readonly [Index in keyof P]: Float64Array } {
  for (const period of periods) checkPeriod('emas', period);
  const columns = periods.map((_, index) => outputColumn(values.length, outs[index]));
  for (let index = 0; index < periods.length; index += 2) {
    if (index + 1 === periods.length)
      smooth(values, periods[index]!, 2 / (periods[index]! + 1), columns[index]!);
    else smoothTwo(values, [periods[index]!, periods[index + 1]!], [columns[index]!, columns[index + 1]!]);
  }
  return columns as { -readonly [Index in keyof P]: Float64Array };
}

function smooth(
  values: Float64Array,
  period: number,
  factor: number,
  out: Float64Array,
  end = values.length,
): Float64Array {
  const seedRow = firstDefined(values) + period - 1;
  warmUp(out, seedRow);
  if (seedRow >= values.length) return out;
  let average = meanOf(values, seedRow - period + 1, period);
  out[seedRow] = average;
  for (let row = seedRow + 1; row < end; row++) {
    average += (values[row]! - average) * factor;
    out[row] = average;
  }
  return out;
}

/** {@link smooth} of two columns: each alone until both are defined, then both in one pass. */
function smoothTwo(
  values: Float64Array,
  [periodA, periodB]: readonly [number, number],
  [outA, outB]: readonly [Float64Array, Float64Array],
): void {
  const both = Math.min(firstDefined(values) + Math.max(periodA, periodB), values.length);
  const factorA = 2 / (periodA + 1);
  const factorB = 2 / (periodB + 1);
  smooth(values, periodA, factorA, outA, both);
  smooth(values, periodB, factorB, outB, both);
  let a = outA[both - 1]!;
  let b = outB[both - 1]!;
  for (let row = both, { length } = values; row < length; row++) {
    const value = values[row]!;
    a += (value - a) * factorA;
    b += (value - b) * factorB;
    outA[row] = a;
    outB[row] = b;
  }
}

/**
 * Double exponential moving average (Mulloy): `2 * ema - ema(ema)`. First value on row `2 * (period - 1)`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function dema(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('dema', period);
  const once = ema(values, period);
  const result = ema(once, period, out);
  for (let row = 0, { length } = result; row < length; row++) result[row] = 2 * once[row]! - result[row]!;
  return result;
}

/**
 * Triple exponential moving average (Mulloy): `3 * ema - 3 * ema(ema) + ema(ema(ema))`. First value on row
 * `3 * (period - 1)`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function tema(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('tema', period);
  const once = ema(values, period);
  const twice = ema(once, period);
  const result = ema(twice, period, out);
  for (let row = 0, { length } = result; row < length; row++) {
    result[row] = 3 * (once[row]! - twice[row]!) + result[row]!;
  }
  return result;
}

/**
 * Hull moving average: `wma(2 * wma(period / 2) - wma(period), sqrt(period))`, both lengths rounded down.
 * @throws RangeError for a period that is not an integer from 2
 */
export function hma(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('hma', period, 2);
  const full = wma(values, period);
  const raw = wma(values, Math.floor(period / 2));
  for (let row = 0, { length } = raw; row < length; row++) raw[row] = 2 * raw[row]! - full[row]!;
  return wma(raw, Math.floor(Math.sqrt(period)), out);
}

/**
 * Triangular moving average: a simple average of a simple average, with the largest weights in the middle of the window. First value on
 * row `period - 1`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function trima(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('trima', period);
  return sma(sma(values, Math.ceil(period / 2)), Math.floor(period / 2) + 1, out);
}

/**
 * T3 (Tillson): {@link dema} generalized by `volume`, three times. First value on row `6 * (period - 1)`.
 * @throws RangeError for a period that is not an integer from 1
 */
export function t3(values: Float64Array, period: number, volume = 0.7, out?: Float64Array): Float64Array {
  checkPeriod('t3', period);
  const third = ema(ema(ema(values, period), period), period);
  const fourth = ema(third, period);
  const fifth = ema(fourth, period);
  const result = ema(fifth, period, out);
  const [square, cube] = [volume * volume, volume * volume * volume];
  for (let row = 0, { length } = result; row < length; row++) {
    result[row] =
      -cube * result[row]! +
      3 * (square + cube) * fifth[row]! -
      (6 * square + 3 * (volume + cube)) * fourth[row]! +
      (1 + 3 * volume + cube + 3 * square) * third[row]!;
  }
  return result;
}
