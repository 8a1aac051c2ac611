import { normalCdf, normalQuantile } from './distributions.ts';

/** Expected counts below this are too small for the chi-square approximation. */
const MIN_EXPECTED = 5;

/** Number of assignments to each variant in one stage, in which the traffic split is constant. */
interface StageAssignments {
  readonly a: number;
  readonly b: number;
  /** Traffic share of b, above 0 and below 1. */
  readonly shareB: number;
}

interface SampleRatioTest {
  readonly chiSquare: number;
  /** Stages with assignments. */
  readonly df: number;
  /** Below 0.001 the observed split does not match: assignments were lost or misrouted. 1 without assignments. */
  readonly p: number;
}

/**
 * Test for sample ratio mismatch (SRM): chi-square of each stage's assignments against its traffic share, summed over the
 * stages. A stage with an expected count below 5 uses the exact binomial p-value instead. It adds the chi-square value of
 * one degree of freedom that has this p-value.
 */
export function sampleRatioTest(stages: readonly StageAssignments[]): SampleRatioTest {
  const used = stages.filter(({ a, b }) => a + b > 0);
  const chiSquare = used.reduce((total, stage) => total + stageChiSquare(stage), 0);
  return { chiSquare, df: used.length, p: used.length > 0 ? chiSquareUpperP(chiSquare, used.length) : 1 };
}

function stageChiSquare({ a, b, shareB }: StageAssignments): number {
  const expectedB = (a + b) * shareB;
  const expectedA = a + b - expectedB;
  if (Math.min(expectedA, expectedB) < MIN_EXPECTED) {
    return normalQuantile(binomialTwoSidedP(b, a + b, shareB) / 2) ** 2;
  }
  return (a - expectedA) ** 2 / expectedA + (b - expectedB) ** 2 / expectedB;
}

/**
 * Exact two-sided binomial test: probability of all counts that are at most as likely as the observed one (as
 * scipy.stats.binomtest and R's binom.test).
 *
 * @param successes 0 to `trials`
 * @param probability above 0 and below 1
 */
export function binomialTwoSidedP(successes: number, trials: number, probability: number): number {
  const odds = Math.log(probability) - Math.log1p(-probability);
  const logs = new Float64Array(trials + 1);
  logs[0] = trials * Math.log1p(-probability);
  for (let k = 1; k <= trials; k++) logs[k] = logs[k - 1]! + Math.log((trials - k + 1) / k) + odds;
  // Tolerance: equally likely counts differ by rounding.
  const maxLog = logs[successes]! + 1e-7;
  const total = logs.reduce((sum, log) => (log <= maxLog ? sum + Math.exp(log) : sum), 0);
  return Math.min(1, total);
}

/**
 * Probability of a chi-square value of at least `value`: Q(df/2, value/2), from Q(1/2, x) = erfc(sqrt x) or Q(1, x) = exp(-x)
 * by Q(a + 1, x) = Q(a, x) + x^a exp(-x) / Gamma(a + 1), whose terms are all positive.
 *
 * @param df degrees of freedom, an integer from 1
 */
export function chiSquareUpperP(value: number, df: number): number {
  if (!(value > 0)) return 1;
  const x = value / 2;
  const isOdd = df % 2 === 1;
  let a = isOdd ? 0.5 : 1;
  let p = isOdd ? 2 * normalCdf(-Math.sqrt(value)) : Math.exp(-x);
  let term = isOdd ? 2 * Math.sqrt(x / Math.PI) * Math.exp(-x) : x * Math.exp(-x);
  for (; a < df / 2; a++) {
    p += term;
    term *= x / (a + 1);
  }
  return Math.min(1, p);
}
