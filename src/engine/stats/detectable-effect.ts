import { normalQuantile } from './normal.ts';
import type { SampleStats } from './welch.ts';

const ALPHA = 0.05;
const POWER = 0.8;

/** z of a two-sided test at 0.05 plus z of the power: 2.80. */
const Z = normalQuantile(1 - ALPHA / 2) + normalQuantile(POWER);

/**
 * The smallest true difference of means that samples of these sizes and variances show as significant (two-sided, 0.05) in
 * four cases of five: 2.80 sqrt(v_a / n_a + v_b / n_b). In the unit of the observations; Infinity without observations.
 */
export function minimumDetectableEffect(a: SampleStats, b: SampleStats): number {
  if (a.n === 0 || b.n === 0) return Number.POSITIVE_INFINITY;
  return Z * Math.sqrt(a.variance / a.n + b.variance / b.n);
}

/**
 * Observations that each of two equal variants needs until a true difference of `effect` shows as significant in four cases of
 * five: 2.80^2 (v_a + v_b) / effect^2, rounded up. Infinity for no effect.
 */
export function tradesNeeded(varianceA: number, varianceB: number, effect: number): number {
  return Math.ceil((Z * Z * (varianceA + varianceB)) / (effect * effect));
}
