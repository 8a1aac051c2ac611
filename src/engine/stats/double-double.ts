import type { DoubleDouble } from '#contract/registry/stored-challenge.ts';

export type { DoubleDouble };

export const ZERO: DoubleDouble = [0, 0];

/** a + b, with a relative error of 2^-104 even under cancellation (Joldes, Muller and Popescu, ACM TOMS 44(2), 2017, algorithm 6). */
export function plus(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [value, error] = twoSum(a[0], b[0]);
  const [rest, lost] = twoSum(a[1], b[1]);
  const [nearer, left] = fastTwoSum(value, error + rest);
  return fastTwoSum(nearer, left + lost);
}

export function minus(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  return plus(a, [-b[0], -b[1]]);
}

/** a b, for factors below 1e150 (ibid., algorithm 11). */
export function times(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [value, error] = twoProduct(a[0], b[0]);
  return fastTwoSum(value, error + (a[0] * b[1] + a[1] * b[0]));
}

/** a / n, n an integer other than 0 (ibid., algorithm 15). */
export function over(a: DoubleDouble, n: number): DoubleDouble {
  const value = a[0] / n;
  const [product, error] = twoProduct(value, n);
  return fastTwoSum(value, (a[0] - product + (a[1] - error)) / n);
}

/** A sum and its rounding error (Knuth, TAOCP 2, 4.2.2, theorem B). */
function twoSum(a: number, b: number): DoubleDouble {
  const sum = a + b;
  const ofB = sum - a;
  return [sum, a - (sum - ofB) + (b - ofB)];
}

/** {@link twoSum} for |a| of at least |b| (Dekker 1971). */
function fastTwoSum(a: number, b: number): DoubleDouble {
  const sum = a + b;
  return [sum, b - (sum - a)];
}

/** A product and its rounding error (Dekker 1971). */
function twoProduct(a: number, b: number): DoubleDouble {
  const product = a * b;
  const [aHigh, aLow] = halves(a);
  const [bHigh, bLow] = halves(b);
  return [product, aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)];
}

/** Splits a number into two of half the digits (Veltkamp 1968). */
function halves(a: number): DoubleDouble {
  const scaled = 134_217_729 * a;
  const high = scaled - (scaled - a);
  return [high, a - high];
}
