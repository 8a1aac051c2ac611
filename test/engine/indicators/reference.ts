/**
 * Indicators computed from their definitions, for comparison. Windows are computed from scratch for every row in two
 * passes, recursions in exact integer arithmetic (fixed point, 2^-96). Slow and simple.
 */
import type { Candles } from '#engine/candles.ts';

const FRACTION_BITS = 96n;
const ONE = 1n << FRACTION_BITS;

/** The exact fixed-point value of a double whose last bit is worth at least 2^-96. */
export function toFixed(value: number): bigint {
  let scale = 0n;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2 ** 24;
    scale += 24n;
  }
  if (scale > FRACTION_BITS) throw new RangeError(`${value} has digits below the fixed point.`);
  return BigInt(scaled) << (FRACTION_BITS - scale);
}

/** The nearest double, to within a few units of its last place. */
export function fromFixed(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const excess = BigInt(Math.max(0, magnitude.toString(2).length - 60));
  const mantissa = Number(magnitude >> excess) * 2 ** Number(excess - FRACTION_BITS);
  return value < 0n ? -mantissa : mantissa;
}

/** Exact `a / b` as a double. */
function ratio(a: bigint, b: bigint): number {
  return fromFixed((a * ONE) / b);
}

/** `average += (value - average) * numerator / denominator`, starting from the mean of the first `period` values. */
export function exactSmoothing(
  values: readonly bigint[],
  period: number,
  numerator: number,
  denominator: number,
): bigint[] {
  let average = values.slice(0, period).reduce((sum, value) => sum + value, 0n) / BigInt(period);
  const out = [average];
  for (const value of values.slice(period)) {
    average += ((value - average) * BigInt(numerator)) / BigInt(denominator);
    out.push(average);
  }
  return out;
}

/** Exponential average by its definition; NaN for the first `period - 1` rows. */
export function exactEma(values: Float64Array, period: number): Float64Array {
  return column(values.length, period - 1, exactSmoothing([...values].map(toFixed), period, 2, period + 1));
}

export function exactRsi(values: Float64Array, period: number): Float64Array {
  const fixed = [...values].map(toFixed);
  const changes = fixed.slice(1).map((value, i) => value - fixed[i]!);
  const gains = exactSmoothing(
    changes.map((change) => (change > 0n ? change : 0n)),
    period,
    1,
    period,
  );
  const losses = exactSmoothing(
    changes.map((change) => (change < 0n ? -change : 0n)),
    period,
    1,
    period,
  );
  const out = new Float64Array(values.length).fill(Number.NaN);
  for (const [i, gain] of gains.entries()) out[period + i] = ratio(100n * gain, gain + losses[i]!);
  return out;
}

export function exactMacd(values: Float64Array, fast: number, slow: number, signal: number) {
  const fixed = [...values].map(toFixed);
  const slowLine = exactSmoothing(fixed, slow, 2, slow + 1);
  const fastLine = exactSmoothing(fixed.slice(slow - fast), fast, 2, fast + 1);
  const line = fastLine.map((value, i) => value - slowLine[i]!);
  const signalLine = exactSmoothing(line, signal, 2, signal + 1);
  const histogram = signalLine.map((value, i) => line[i + signal - 1]! - value);
  return {
    macd: column(values.length, slow - 1, line),
    signal: column(values.length, slow + signal - 2, signalLine),
    histogram: column(values.length, slow + signal - 2, histogram),
  };
}

export function exactAtr(candles: Candles, period: number): Float64Array {
  const [high, low, close] = [candles.high, candles.low, candles.close].map((each) => [...each].map(toFixed));
  const ranges = high!.slice(1).map((top, i) => {
    const previous = close![i]!;
    const bottom = low![i + 1]!;
    return [top - bottom, absolute(top - previous), absolute(bottom - previous)].toSorted(ascending)[2]!;
  });
  return column(close!.length, period, exactSmoothing(ranges, period, 1, period));
}

/** Mean and population standard deviation of each full window, in two passes over exact distances. */
export function twoPassDeviation(values: Float64Array, period: number) {
  const mean = new Float64Array(values.length).fill(Number.NaN);
  const deviation = mean.slice();
  for (let row = period - 1; row < values.length; row++) {
    const base = values[row]!;
    let sum = 0;
    for (let k = row - period + 1; k <= row; k++) sum += values[k]! - base;
    const offset = sum / period;
    let squares = 0;
    for (let k = row - period + 1; k <= row; k++) squares += (values[k]! - base - offset) ** 2;
    mean[row] = base + offset;
    deviation[row] = Math.sqrt(squares / period);
  }
  return { mean, deviation };
}

/** The largest difference from `expected` relative to `scale` (the expected value itself unless given). */
export function worstError(actual: Float64Array, expected: Float64Array, scale = expected): number {
  let worst = 0;
  for (const [row, value] of expected.entries()) {
    if (Number.isNaN(value) !== Number.isNaN(actual[row]!)) return Number.POSITIVE_INFINITY;
    if (Number.isNaN(value) || actual[row] === value) continue;
    worst = Math.max(worst, Math.abs(actual[row]! - value) / Math.abs(scale[row]!));
  }
  return worst;
}

function column(length: number, first: number, values: readonly bigint[]): Float64Array {
  const out = new Float64Array(length).fill(Number.NaN);
  for (const [i, value] of values.entries()) out[first + i] = fromFixed(value);
  return out;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
