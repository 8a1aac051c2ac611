/** Relative tolerance below which values count as equal: such differences are rounding errors. */
const EQUAL_WITHIN = 1e-12;

export function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0, { length } = values; i < length; i++) total += values[i]!;
  return total;
}

/** Arithmetic mean; `NaN` without values. */
export function mean(values: ArrayLike<number>): number {
  return sum(values) / values.length;
}

/**
 * Standard deviation: of the population (divisor n) or of a sample (n - 1). Exactly 0 when all values are equal up to
 * rounding; `NaN` with too few values.
 */
export function deviation(values: ArrayLike<number>, kind: 'population' | 'sample'): number {
  return Math.sqrt(variance(values, kind));
}

/** The square of {@link deviation}. */
export function variance(values: ArrayLike<number>, kind: 'population' | 'sample'): number {
  const count = kind === 'population' ? values.length : values.length - 1;
  if (count <= 0) return Number.NaN;
  if (allEqual(values)) return 0;
  const center = mean(values);
  let squares = 0;
  for (let i = 0, { length } = values; i < length; i++) squares += (values[i]! - center) ** 2;
  return squares / count;
}

function allEqual(values: ArrayLike<number>): boolean {
  const low = smallest(values);
  const high = largest(values);
  return high - low <= EQUAL_WITHIN * Math.max(Math.abs(low), Math.abs(high));
}

/** The smallest value; `NaN` without values. */
export function smallest(values: ArrayLike<number>): number {
  let low = values.length === 0 ? Number.NaN : values[0]!;
  for (let i = 1, { length } = values; i < length; i++) if (values[i]! < low) low = values[i]!;
  return low;
}

/** The largest value; `NaN` without values. */
export function largest(values: ArrayLike<number>): number {
  let high = values.length === 0 ? Number.NaN : values[0]!;
  for (let i = 1, { length } = values; i < length; i++) if (values[i]! > high) high = values[i]!;
  return high;
}

/** The middle value, or the mean of the two middle ones; `NaN` without values. */
export function median(values: ArrayLike<number>): number {
  const sorted = new Float64Array(values).sort();
  const middle = sorted.length >>> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** `a / b`, or null when the quotient is not finite. */
export function ratio(a: number, b: number): number | null {
  return finite(a / b);
}

/** The value, or null (an undefined metric) when it is not finite. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
