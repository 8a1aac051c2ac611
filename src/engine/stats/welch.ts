import { normalQuantile, studentCdf, studentQuantile, studentTwoSidedP } from './distributions.ts';
import { type DoubleDouble, minus, over, times } from './double-double.ts';
import { mean, variance } from './moments.ts';

/** Statistics of a sample for a comparison of means. */
export interface SampleStats {
  /** Number of observations. */
  readonly n: number;
  readonly mean: number;
  /** Sample variance (divisor n - 1). Divided by n it is the variance of the mean, also for grouped observations. */
  readonly variance: number;
  /** Number of independent groups of observations. Default: each observation is its own group. */
  readonly groups?: number;
}

interface WelchTest {
  /** Mean of b minus mean of a, in standard errors. */
  readonly t: number;
  /** Degrees of freedom; not an integer. */
  readonly df: number;
  /** Distribution function of t, 0 to 1: confidence that the mean of b is the larger one. */
  readonly probabilityBLarger: number;
}

/**
 * Welch's test of two means whose variances may differ. Degrees of freedom after Welch and Satterthwaite:
 * t = (mean_b - mean_a) / sqrt(u_a + u_b), df = (u_a + u_b)^2 / (u_a^2 / (n_a - 1) + u_b^2 / (n_b - 1)), u = variance / n.
 *
 * @returns undefined when a sample has fewer than 2 observations or neither sample varies
 */
export function welchTest(a: SampleStats, b: SampleStats): WelchTest | undefined {
  if (a.n < 2 || b.n < 2) return undefined;
  const ua = a.variance / a.n;
  const ub = b.variance / b.n;
  const u = ua + ub;
  if (!(u > 0)) return undefined;
  const t = (b.mean - a.mean) / Math.sqrt(u);
  // Uses shares of u: squares of very small variances would underflow to 0.
  const df = 1 / ((ua / u) ** 2 / (a.n - 1) + (ub / u) ** 2 / (b.n - 1));
  return { t, df, probabilityBLarger: studentCdf(t, df) };
}

/** A variance below this share of the mean square is only rounding of the values. */
export const ROUNDING = 1e-24;

/** Statistics of these values. The mean is 0 without values, the variance is 0 with fewer than 2. */
export function sampleOf(values: ArrayLike<number>): SampleStats {
  const n = values.length;
  return { n, mean: n > 0 ? mean(values) : 0, variance: n > 1 ? variance(values, 'sample') : 0 };
}

/** {@link sampleOf} from running sums, which allow adding and removing values in any order. */
export function sampleOfSums(n: number, sum: DoubleDouble, sumOfSquares: DoubleDouble): SampleStats {
  if (n === 0) return { n, mean: 0, variance: 0 };
  const [squares] = minus(sumOfSquares, over(times(sum, sum), n));
  const varies = n > 1 && squares > ROUNDING * sumOfSquares[0];
  return { n, mean: over(sum, n)[0], variance: varies ? squares / (n - 1) : 0 };
}

/** Both samples merged into one. */
export function pooled(a: SampleStats, b: SampleStats): SampleStats {
  const n = a.n + b.n;
  if (n === 0) return a;
  const apart = b.mean - a.mean;
  const squares =
    a.variance * Math.max(0, a.n - 1) + b.variance * Math.max(0, b.n - 1) + (apart * apart * a.n * b.n) / n;
  return { n, mean: a.mean + (apart * b.n) / n, variance: n > 1 ? squares / (n - 1) : 0 };
}

/** Samples of two variants in one stage, in which the traffic split is constant. */
interface Stratum {
  readonly a: SampleStats;
  readonly b: SampleStats;
}

/** Comparison of two variants within stages. `difference` and all fields after it are b minus a. */
export interface StratifiedTest {
  readonly meanA: number;
  readonly meanB: number;
  readonly difference: number;
  readonly standardError: number;
  /** Standard errors of the two means; `standardError` combines them. */
  readonly errorA: number;
  readonly errorB: number;
  /** ±Infinity when nothing varies and the means differ; 0 when the means are equal, or without a usable stage. */
  readonly t: number;
  /** Degrees of freedom after Welch and Satterthwaite; not an integer, Infinity when nothing varies. */
  readonly df: number;
  /** Two-sided p-value; 1 without a usable stage. */
  readonly p: number;
  /** Trades of a balanced single-stage test of equal precision: four times the sum of the stage weights. */
  readonly effectiveSize: number;
  /** Number of compared stages: those with at least 2 independent observations (groups) in both variants. */
  readonly usedStages: number;
}

/**
 * Welch's test within stages, each weighted by w = n_a n_b / (n_a + n_b). When the market changes between stages with
 * different splits, pooled means are biased (Simpson's paradox), and the weighted means are not. With one stage it is
 * Welch's test.
 *
 * Means are weighted means, SE^2 = sum w^2 (v_a / n_a + v_b / n_b) / (sum w)^2. The degrees of freedom count groups, where
 * observations come in groups. Without a usable stage the means are those of all observations and the p-value is 1.
 */
export function stratifiedWelch(stages: readonly Stratum[]): StratifiedTest {
  const used = stages.filter(isUsable);
  if (used.length === 0) return withoutTest(stages);
  const weighted = used.map(({ a, b }) => ({
    a,
    b,
    weight: (a.n * b.n) / (a.n + b.n),
    ua: a.variance / a.n,
    ub: b.variance / b.n,
  }));
  const total = (of: (stage: (typeof weighted)[number]) => number) =>
    weighted.reduce((sum, stage) => sum + of(stage), 0);
  const weight = total((s) => s.weight);
  const meanA = total((s) => s.weight * s.a.mean) / weight;
  const meanB = total((s) => s.weight * s.b.mean) / weight;
  const squareA = total((s) => s.weight ** 2 * s.ua) / weight ** 2;
  const squareB = total((s) => s.weight ** 2 * s.ub) / weight ** 2;
  const square = squareA + squareB;
  const difference = meanB - meanA;
  const standardError = Math.sqrt(square);
  // Uses shares of the square: squares of very small variances would underflow to 0.
  const share = (of: number, s: { weight: number }) => (s.weight ** 2 * of) / (weight ** 2 * square);
  const df =
    1 /
    total((s) => share(s.ua, s) ** 2 / (independent(s.a) - 1) + share(s.ub, s) ** 2 / (independent(s.b) - 1));
  const t = studentized(difference, standardError);
  return {
    meanA,
    meanB,
    difference,
    standardError,
    errorA: Math.sqrt(squareA),
    errorB: Math.sqrt(squareB),
    t,
    df: standardError > 0 ? df : Number.POSITIVE_INFINITY,
    p: standardError > 0 ? studentTwoSidedP(t, df) : t === 0 ? 1 : 0,
    effectiveSize: 4 * weight,
    usedStages: used.length,
  };
}

/** True if both variants have enough observations for a variance. */
function isUsable({ a, b }: Stratum): boolean {
  return independent(a) >= 2 && independent(b) >= 2;
}

/** Number of independent observations: groups, where given. */
function independent({ n, groups = n }: SampleStats): number {
  return groups;
}

/** Difference in standard errors. With a standard error of 0: 0 for equal means, else ±Infinity. */
export function studentized(difference: number, standardError: number): number {
  if (standardError > 0) return difference / standardError;
  return difference === 0 ? 0 : Math.sign(difference) * Number.POSITIVE_INFINITY;
}

function withoutTest(stages: readonly Stratum[]): StratifiedTest {
  const { mean: meanA } = stages.reduce((all, { a }) => pooled(all, a), sampleOf([]));
  const { mean: meanB } = stages.reduce((all, { b }) => pooled(all, b), sampleOf([]));
  return {
    meanA,
    meanB,
    difference: meanB - meanA,
    standardError: Number.NaN,
    errorA: Number.NaN,
    errorB: Number.NaN,
    t: 0,
    df: Number.NaN,
    p: 1,
    effectiveSize: 0,
    usedStages: 0,
  };
}

/**
 * True if the closed-form p-value is reliable: in each usable stage the larger variant has at most twice the observations
 * (groups) of the smaller one. Beyond that ratio skewed returns bias Welch's test, so callers use `permutationTest`.
 */
export function isBalanced(stages: readonly Stratum[]): boolean {
  return stages.filter(isUsable).every(({ a, b }) => {
    const [small, large] = [independent(a), independent(b)].sort((x, y) => x - y) as [number, number];
    return large <= 2 * small;
  });
}

/** Confidence interval of the difference of means. */
export function differenceInterval(test: StratifiedTest, confidence = 0.95): readonly [number, number] {
  const half = studentQuantile((1 + confidence) / 2, test.df) * test.standardError;
  return [test.difference - half, test.difference + half];
}

/**
 * Improvement of the mean of b over the mean of a in percent: (b - a) / |a| * 100. With a baseline of practically 0
 * (below 1e-9) it is 0 for equal means, else 100 or -100. Rounded to 13 digits, so that 1 to 1.1 is exactly 10.
 */
export function improvementPct(meanA: number, meanB: number): number {
  const difference = meanB - meanA;
  if (Math.abs(meanA) < 1e-9) return difference === 0 ? 0 : 100 * Math.sign(difference);
  return Number(((100 * difference) / Math.abs(meanA)).toPrecision(13));
}

/**
 * Confidence interval of {@link improvementPct} by the delta method. It can contain 0 although the difference is
 * significant, because the baseline is uncertain too. Decide by the difference; use this interval for display.
 */
export function improvementInterval(test: StratifiedTest, confidence = 0.95): readonly [number, number] {
  const { meanA, meanB, errorA, errorB } = test;
  const middle = improvementPct(meanA, meanB);
  const error = (100 * Math.hypot(errorB, (meanB / meanA) * errorA)) / Math.abs(meanA);
  const half = normalQuantile((1 + confidence) / 2) * error;
  return [middle - half, middle + half];
}

const ALPHA = 0.05;
const POWER = 0.8;

/** z of a two-sided test at 0.05 plus z of the power: 2.80. */
const Z = normalQuantile(1 - ALPHA / 2) + normalQuantile(POWER);

/**
 * Minimum detectable effect: smallest true difference of means that is significant (two-sided, 0.05) in four cases of
 * five, 2.80 sqrt(v_a / n_a + v_b / n_b). In the unit of the observations; Infinity without observations.
 */
export function minimumDetectableEffect(a: SampleStats, b: SampleStats): number {
  if (a.n === 0 || b.n === 0) return Number.POSITIVE_INFINITY;
  return Z * Math.sqrt(a.variance / a.n + b.variance / b.n);
}

/**
 * Observations that each of two variants of equal size needs, so that a true difference of `effect` is significant in four
 * cases of five: 2.80^2 (v_a + v_b) / effect^2, rounded up. Infinity for an effect of 0.
 */
export function tradesNeeded(varianceA: number, varianceB: number, effect: number): number {
  return Math.ceil((Z * Z * (varianceA + varianceB)) / (effect * effect));
}
