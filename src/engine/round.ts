/** Significant digits of every number in a result: further digits depend on the order of additions. */
const DIGITS = 12;

/** Smaller values are remainders of cancellations, and too small for the database. */
const SMALLEST = 1e-100;

/** `value` to 12 significant digits; -0, and anything smaller than 1e-100 in size, becomes 0. */
export function roundNumber(value: number): number {
  if (Math.abs(value) < SMALLEST) return 0;
  return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}

/** A copy of plain JSON data with every number rounded by {@link roundNumber}. */
export function roundNumbers<T>(value: T): T {
  if (typeof value === 'number') return roundNumber(value) as T;
  if (Array.isArray(value)) return value.map((each) => roundNumbers(each)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, roundNumbers(each)])) as T;
}
