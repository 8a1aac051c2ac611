import { describe, expect, it } from 'vitest';
import {
  logNormalCdf,
  logNormalMass,
  normalCdf,
  normalQuantile,
  normalQuantileOfLog,
} from '#engine/stats/normal.ts';

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

/** As above: p of the lower half and its quantile. */
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
  it.each(DISTRIBUTION)('at %d', (x, cdf, log) => {
    near(normalCdf(x), cdf);
    near(logNormalCdf(x), log);
    expect(normalCdf(-x)).toBeCloseTo(1 - cdf, 15);
  });

  it('has a logarithm where the probability itself is too small for a double', () => {
    near(logNormalCdf(-100), -5005.524208694205);
    near(logNormalCdf(-1000), -500007.8266948122);
    expect(normalCdf(-100)).toBe(0);
    expect(normalCdf(100)).toBe(1);
  });

  it.each(QUANTILES)('quantile of %d', (p, x) => {
    near(normalQuantile(p), x);
    near(normalQuantileOfLog(Math.log(p)), x, 1e-11);
    if (p > 1e-4) expect(normalQuantile(1 - p)).toBeCloseTo(-x, 13);
  });

  it('answers quantiles of any logarithm, and the ends', () => {
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
  ])('ln of the mass from %d to %d', (a, b, log) => {
    near(logNormalMass(a, b), log);
  });
});

function near(actual: number, expected: number, tolerance = 1e-12): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(tolerance * Math.abs(expected));
}
