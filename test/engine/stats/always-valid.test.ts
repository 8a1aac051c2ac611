import { describe, expect, it } from 'vitest';
import {
  alwaysValidHalfWidth,
  alwaysValidOneSidedHalfWidth,
  alwaysValidP,
  isHarmful,
  mixtureLikelihoodRatio,
} from '#engine/stats/always-valid.ts';

const sample = (z: number, effectiveSize = 240) => ({
  difference: 0.2 * z,
  standardError: 0.2,
  effectiveSize,
  tuningSize: 400,
});

describe('always-valid inference', () => {
  it('always-valid p-value and half widths match T9', () => {
    expect(alwaysValidHalfWidth(sample(3))).toBeCloseTo(0.612167767301, 11);
    expect(alwaysValidP(sample(3))).toBeCloseTo(0.058229459745, 11);
    expect(alwaysValidOneSidedHalfWidth(sample(3))).toBeCloseTo(0.56255530392, 11);
  });

  it.each([
    [3, [0.086697, 0.061256, 0.054948, 0.059579, 0.079143]],
    [4, [0.00846, 0.003742, 0.002455, 0.002214, 0.002605]],
  ])('always-valid p-value matches T10 for z = %d at 100 to 2000 trades', (z, expected) => {
    [100, 200, 400, 800, 2000].forEach((size, i) => {
      expect(alwaysValidP(sample(z, size))).toBeCloseTo(expected[i]!, 6);
    });
  });

  it.each([
    [0.1, 3.855],
    [0.25, 3.264],
    [0.5, 3.084],
    [1, 3.035],
    [2, 3.061],
    [5, 3.153],
    [10, 3.242],
  ])('p-value is 0.05 at %d of the tuning size for |z| of %d', (share, z) => {
    expect(alwaysValidP(sample(z + 5e-4, 400 * share))).toBeLessThan(0.05);
    expect(alwaysValidP(sample(-z + 5e-4, 400 * share))).toBeGreaterThan(0.05);
  });

  it('mixture likelihood ratio matches T11 and the always-valid p-value', () => {
    const ratio = mixtureLikelihoodRatio(0.6, 0.2, 0.25);
    expect(ratio).toBeCloseTo(17.971903296278, 9);
    expect(1 / ratio).toBeCloseTo(0.055642409349, 11);
    const x = 240 * 0.140855906885 ** 2;
    expect(1 / mixtureLikelihoodRatio(0.6, 0.2, 0.04 * x)).toBeCloseTo(alwaysValidP(sample(3)), 10);
  });

  it('interval excludes 0 exactly when the p-value is below 0.05', () => {
    for (const size of [5, 50, 400, 5000]) {
      const edge = alwaysValidHalfWidth(sample(0, size)) / 0.2;
      expect(alwaysValidP(sample(edge * 1.0001, size))).toBeLessThan(0.05);
      expect(alwaysValidP(sample(edge * 0.9999, size))).toBeGreaterThan(0.05);
      expect(alwaysValidP(sample(edge, size))).toBeCloseTo(0.05, 10);
    }
  });

  it('p-value is 1 without information or without a difference', () => {
    expect(alwaysValidP(sample(3, 0))).toBe(1);
    expect(alwaysValidHalfWidth(sample(3, 0))).toBe(Number.POSITIVE_INFINITY);
    expect(alwaysValidOneSidedHalfWidth(sample(3, 0))).toBe(Number.POSITIVE_INFINITY);
    expect(alwaysValidP({ ...sample(0), standardError: 0 })).toBe(1);
    expect(alwaysValidP({ ...sample(1), standardError: 0 })).toBe(0);
  });
});

describe('isHarmful', () => {
  // The one-sided half width of T9, 0.5626, is 2.813 standard errors.
  it.each([
    ['a loss beyond the bound', -2.82, 20, null, true],
    ['a loss within the bound', -2.8, 20, null, false],
    ['a gain', 5, 20, null, false],
    ['too few trades', -9, 19, null, false],
    ['unbalanced variants and a significant permutation test', -2.82, 20, 0.04, true],
    ['unbalanced variants and an insignificant permutation test', -2.82, 20, 0.05, false],
  ])('isHarmful with %s', (_, z, challengerTrades, lowerP, harmful) => {
    expect(isHarmful(sample(z), { challengerTrades, lowerP })).toBe(harmful);
  });
});
