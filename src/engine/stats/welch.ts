import { studentCdf } from './student-t.ts';

/** What a comparison of means needs to know of a sample. */
export interface SampleStats {
  /** Observations. */
  readonly n: number;
  readonly mean: number;
  /** Of a sample: divisor n - 1. Divided by n it is that of the mean, also where observations come in groups. */
  readonly variance: number;
  /** Groups in which the observations come, when those of a group are not independent. Default: each is one of its own. */
  readonly groups?: number;
}

export interface WelchTest {
  /** Mean of b less mean of a, in standard errors. */
  readonly t: number;
  /** Degrees of freedom; not whole. */
  readonly df: number;
  /** 0 to 1: how sure it is that the mean of b is the larger one, the distribution function of t. */
  readonly probabilityBLarger: number;
}

/**
 * Welch's test of two means whose variances may differ, degrees of freedom after Welch and Satterthwaite:
 * t = (mean_b - mean_a) / sqrt(u_a + u_b), df = (u_a + u_b)^2 / (u_a^2 / (n_a - 1) + u_b^2 / (n_b - 1)), u = variance / n.
 *
 * @returns undefined when a sample has fewer than 2 observations or nothing varies in either: there is no test then
 */
export function welchTest(a: SampleStats, b: SampleStats): WelchTest | undefined {
  if (a.n < 2 || b.n < 2) return undefined;
  const ua = a.variance / a.n;
  const ub = b.variance / b.n;
  const u = ua + ub;
  if (!(u > 0)) return undefined;
  const t = (b.mean - a.mean) / Math.sqrt(u);
  // As shares of u: squares of very small variances would be 0.
  const df = 1 / ((ua / u) ** 2 / (a.n - 1) + (ub / u) ** 2 / (b.n - 1));
  return { t, df, probabilityBLarger: studentCdf(t, df) };
}
