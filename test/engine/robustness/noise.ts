import type { Random } from '#engine/random.ts';

/** Standard normal numbers from uniform ones (Box and Muller). */
export function normalSource(random: Random): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/**
 * P-value of the test of Kolmogorov and Smirnov that the values are uniform in [0, 1], by its asymptotic distribution with
 * Stephens' factor.
 */
export function uniformP(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  let distance = 0;
  for (let i = 0; i < n; i++) distance = Math.max(distance, (i + 1) / n - sorted[i]!, sorted[i]! - i / n);
  const x = (Math.sqrt(n) + 0.12 + 0.11 / Math.sqrt(n)) * distance;
  let p = 0;
  for (let k = 1; k <= 100; k++) p += 2 * (-1) ** (k - 1) * Math.exp(-2 * k * k * x * x);
  return Math.min(1, Math.max(0, p));
}
