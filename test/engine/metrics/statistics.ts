const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

export const mean = (values: readonly number[]): number => sum(values) / values.length;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const low = sorted[Math.ceil(half) - 1] as number;
  const high = sorted[Math.floor(half)] as number;
  return (low + high) / 2;
}

/** Standard deviation; `ddof` 0 for the population, 1 for a sample. */
export function deviation(values: readonly number[], ddof: 0 | 1): number {
  const centre = mean(values);
  const squares = values.map((value) => (value - centre) ** 2);
  return Math.sqrt(sum(squares) / (values.length - ddof));
}

/** True when a deviation is rounding noise relative to the values it was computed from. */
export const isFlat = (values: readonly number[]): boolean =>
  Math.max(...values) - Math.min(...values) <= 1e-13 * Math.max(...values.map(Math.abs));

/** log(gamma(x)) for x > 0: Stirling's series after shifting x upwards. */
function logGamma(x: number): number {
  if (x < 20) return logGamma(x + 1) - Math.log(x);
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

/**
 * Two-sided p-value of Student's t, by Simpson's rule on the density after t = sqrt(df) tan(angle),
 * which turns the tail into a finite interval.
 */
export function studentP(t: number, freedom: number): number {
  const from = Math.atan(Math.abs(t) / Math.sqrt(freedom));
  const logScale = logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - 0.5 * Math.log(Math.PI);
  const steps = 20_000;
  const width = (Math.PI / 2 - from) / steps;
  let area = 0;
  for (let i = 0; i <= steps; i += 1) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    area += weight * Math.max(0, Math.cos(from + i * width)) ** (freedom - 1);
  }
  return Math.min(1, (2 * Math.exp(logScale) * area * width) / 3);
}

/** Deepest fall below the running maximum, which starts at `start`: by amount, and by share of the maximum. */
export function drawdowns(start: number, balances: readonly number[]) {
  let peak = start;
  let amount = 0;
  let shareAtAmount = 0;
  let share = 0;
  for (const balance of balances) {
    peak = Math.max(peak, balance);
    const fall = peak - balance;
    if (fall > amount) {
      amount = fall;
      shareAtAmount = fall / peak;
    }
    share = Math.max(share, fall / peak);
  }
  return { amount, shareAtAmount, share };
}

/** Longest run of entries for which `test` holds. */
export function longestRun<T>(values: readonly T[], test: (value: T) => boolean): number {
  let longest = 0;
  let length = 0;
  for (const value of values) {
    length = test(value) ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}
