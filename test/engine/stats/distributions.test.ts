import { describe, expect, it } from 'vitest';
import {
  logNormalCdf,
  logNormalMass,
  normalCdf,
  normalQuantile,
  normalQuantileOfLog,
  studentTwoSidedP,
} from '#engine/stats/distributions.ts';

/** Computed with mpmath at 40 digits from erfc: x, Phi(x), ln Phi(x). */
const DISTRIBUTION = [
  [-37, 5.725571222524577e-300, -689.0305855768906],
  [-20, 2.7536241186062337e-89, -203.91715537109727],
  [-8, 6.220960574271784e-16, -35.01343715991455],
  [-3, 0.0013498980316300946, -6.607726221510349],
  [-1, 0.15865525393145705, -1.8410216450092636],
  [-0.5, 0.3085375387259869, -1.1759117615936185],
  [0, 0.5, -Math.LN2],
  [0.25, 0.5987063256829237, -0.5129840754094305],
  [1.96, 0.9750021048517795, -0.02531564916428211],
  [6, 0.9999999990134123, -9.865876455243758e-10],
] as const;

/** Same source: p of the lower half and its quantile. */
const QUANTILES = [
  [1e-300, -37.0470962993612],
  [1e-20, -9.262340089798407],
  [0.001, -3.0902323061678136],
  [0.025, -1.9599639845400543],
  [0.2, -0.8416212335729142],
  [0.45, -0.12566134685507402],
  [0.5, 0],
] as const;

describe('normal distribution', () => {
  it.each(DISTRIBUTION)('normal CDF and its logarithm match the reference at %d', (x, cdf, log) => {
    near(normalCdf(x), cdf);
    near(logNormalCdf(x), log);
    expect(normalCdf(-x)).toBeCloseTo(1 - cdf, 15);
  });

  it('logNormalCdf is finite where the probability underflows', () => {
    near(logNormalCdf(-100), -5005.524208694205);
    near(logNormalCdf(-1000), -500007.8266948122);
    expect(normalCdf(-100)).toBe(0);
    expect(normalCdf(100)).toBe(1);
  });

  it.each(QUANTILES)('normal quantile of %d matches the reference', (p, x) => {
    near(normalQuantile(p), x);
    near(normalQuantileOfLog(Math.log(p)), x, 1e-11);
    if (p > 1e-4) expect(normalQuantile(1 - p)).toBeCloseTo(-x, 13);
  });

  it('normalQuantileOfLog inverts any logarithm, and normalQuantile handles 0, 1 and NaN', () => {
    for (const logP of [-1e10, -1e5, -745, -3, -0.1, -1e-10]) {
      near(logNormalCdf(normalQuantileOfLog(logP)), logP);
    }
    expect([0, 1].map(normalQuantile)).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect(normalQuantile(Number.NaN)).toBeNaN();
  });

  it.each([
    [-40, -39, -765.0831565643775],
    [39, 40, -765.0831565643775],
    [1, 2, -1.9957982691807554],
    [99, 100, -4906.0141603877319],
    [-3, -2.99, -10.009088011152276],
    [-9, 5, -2.8665161296387644e-7],
  ])('logNormalMass from %d to %d matches the reference', (a, b, log) => {
    near(logNormalMass(a, b), log);
  });
});

function near(actual: number, expected: number, tolerance = 1e-12): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(tolerance * Math.abs(expected));
}

const sqrt = Math.sqrt;

describe('two-sided Student t', () => {
  // Critical values of published tables.
  it.each([
    [12.706, 1, 0.05],
    [63.657, 1, 0.01],
    [4.303, 2, 0.05],
    [4.0321, 5, 0.01],
    [2.2281, 10, 0.05],
    [3.1693, 10, 0.01],
    [2.0423, 30, 0.05],
    [3.646, 30, 0.001],
    [1.984, 100, 0.05],
    [1.96, 1e6, 0.05],
  ])('two-sided p of t = %d with %d degrees of freedom is %d', (t, df, p) => {
    expect(Math.abs(studentTwoSidedP(t, df) / p - 1)).toBeLessThan(5e-4);
  });

  it('two-sided p matches the closed forms to 12 digits', () => {
    for (const t of [1e-9, 0.1, 0.5898, 1, 2.5, 7, 40, 1e5]) {
      const angle = Math.atan(1 / t);
      near(studentTwoSidedP(t, 1), (2 / Math.PI) * angle);
      // 1 - t/sqrt(2 + t^2), without the subtraction.
      const root = sqrt(2 + t * t);
      near(studentTwoSidedP(t, 2), 2 / (root * (root + t)));
      const theta = Math.atan(sqrt(3) / t);
      if (t < 10) near(studentTwoSidedP(t, 3), (2 / Math.PI) * (theta - Math.sin(theta) * Math.cos(theta)));
    }
    const s = 1 / sqrt(1 + 0.5898 ** 2 / 4);
    near(studentTwoSidedP(0.5898, 4), 1 - 0.75 * 0.5898 * s * (1 - (0.5898 * s) ** 2 / 12));
  });

  it('Student t approaches the normal distribution', () => {
    // The remaining distance at 1e8 degrees of freedom is about t^3 / (2 df).
    near(studentTwoSidedP(1.959963984540054, 1e8), 0.05, 1e-7);
    near(studentTwoSidedP(2.5758293035489004, 1e8), 0.01, 2e-7);
  });

  it('two-sided p is monotonic in fractional degrees of freedom', () => {
    const [a, b, c] = [7, 7.5, 8].map((df) => studentTwoSidedP(2, df));
    expect(a).toBeGreaterThan(b!);
    expect(b).toBeGreaterThan(c!);
  });

  it('two-sided p is symmetric and handles 0, infinity and NaN', () => {
    expect(studentTwoSidedP(-2, 9)).toBe(studentTwoSidedP(2, 9));
    expect(studentTwoSidedP(0, 9)).toBe(1);
    expect(studentTwoSidedP(Number.POSITIVE_INFINITY, 9)).toBe(0);
    expect(studentTwoSidedP(1, 0)).toBeNaN();
    expect(studentTwoSidedP(Number.NaN, 9)).toBeNaN();
  });
});
