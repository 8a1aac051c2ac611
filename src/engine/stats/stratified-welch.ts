import { normalQuantile } from './normal.ts';
import { pooled, sampleOf } from './samples.ts';
import { studentQuantile, studentTwoSidedP } from './student-t.ts';
import type { SampleStats } from './welch.ts';

/** The samples of two variants over one stage, in which the split between them did not change. */
export interface Stratum {
  readonly a: SampleStats;
  readonly b: SampleStats;
}

/** Two variants compared within stages. `difference` and everything after it is b less a. */
export interface StratifiedTest {
  readonly meanA: number;
  readonly meanB: number;
  readonly difference: number;
  readonly standardError: number;
  /** Standard errors of the two means, of which `standardError` is made. */
  readonly errorA: number;
  readonly errorB: number;
  /** ±Infinity when nothing varies and the means differ; 0 when they are the same, or without a usable stage. */
  readonly t: number;
  /** Degrees of freedom after Welch and Satterthwaite; not whole, Infinity when nothing varies. */
  readonly df: number;
  /** Two-sided p-value; 1 without a usable stage. */
  readonly p: number;
  /** Trades of a balanced single-stage test that would say as much: four times the sum of the stage weights. */
  readonly effectiveSize: number;
  /** Stages with at least 2 independent observations (groups) in both variants: only they are compared. */
  readonly usedStages: number;
}

/**
 * Welch's test within stages, each weighted by n_a n_b / (n_a + n_b). A market that changes between stages with different
 * splits moves pooled means (Simpson's paradox), and these not. With one stage it is Welch's test.
 *
 * Means are weighted means, SE^2 = sum w^2 (v_a / n_a + v_b / n_b) / (sum w)^2. Where observations come in groups, these are
 * what counts for the degrees of freedom. Without a usable stage the means are those of all observations and the p-value is 1.
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
  // As shares of the square: those of very small variances would be 0.
  const share = (of: number, s: { weight: number }) => (s.weight ** 2 * of) / (weight ** 2 * square);
  const df =
    1 /
    total((s) => share(s.ua, s) ** 2 / (independent(s.a) - 1) + share(s.ub, s) ** 2 / (independent(s.b) - 1));
  const t = studentised(difference, standardError);
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

/** Both variants have enough observations for a variance. */
function isUsable({ a, b }: Stratum): boolean {
  return independent(a) >= 2 && independent(b) >= 2;
}

/** Observations, or the groups in which they come. */
function independent({ n, groups = n }: SampleStats): number {
  return groups;
}

/** A difference in standard errors; without any error it is infinitely many, or none when there is no difference. */
export function studentised(difference: number, standardError: number): number {
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
 * Whether the closed-form p-value is safe: in each usable stage the larger variant has at most twice the observations (groups) of
 * the smaller one, and so it has in their total. Beyond, skewed returns bias Welch's test, and `permutationTest` guards it.
 */
export function isBalanced(stages: readonly Stratum[]): boolean {
  return stages.filter(isUsable).every(({ a, b }) => {
    const [small, large] = [independent(a), independent(b)].sort((x, y) => x - y) as [number, number];
    return large <= 2 * small;
  });
}

/** A confidence interval of the difference of means. */
export function differenceInterval(test: StratifiedTest, confidence = 0.95): readonly [number, number] {
  const half = studentQuantile((1 + confidence) / 2, test.df) * test.standardError;
  return [test.difference - half, test.difference + half];
}

/**
 * By how many percent of its size the mean of a is exceeded: (b - a) / |a| * 100. A baseline of practically 0 (below 1e-9)
 * gives 0 for equal means, else 100 or -100. To 13 digits: from 1 to 1.1 is 10 and no more, whatever rounding adds.
 */
export function improvementPct(meanA: number, meanB: number): number {
  const difference = meanB - meanA;
  if (Math.abs(meanA) < 1e-9) return difference === 0 ? 0 : 100 * Math.sign(difference);
  return Number(((100 * difference) / Math.abs(meanA)).toPrecision(13));
}

/**
 * A confidence interval of {@link improvementPct} by the delta method. It can hold 0 although the difference is
 * significant, as the baseline is uncertain too: decide by the difference and show this.
 */
export function improvementInterval(test: StratifiedTest, confidence = 0.95): readonly [number, number] {
  const { meanA, meanB, errorA, errorB } = test;
  const middle = improvementPct(meanA, meanB);
  const error = (100 * Math.hypot(errorB, (meanB / meanA) * errorA)) / Math.abs(meanA);
  const half = normalQuantile((1 + confidence) / 2) * error;
  return [middle - half, middle + half];
}
