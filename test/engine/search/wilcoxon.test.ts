import { describe, expect, it } from 'vitest';
import { wilcoxonGreaterP } from '#engine/search/pruner.ts';

/** 80 reproducible numbers: sin(k) + 0.1 for k from 1, rounded to two digits (so that there are ties). */
const MANY = Array.from({ length: 80 }, (_, i) => Math.round(100 * (Math.sin(i + 1) + 0.1)) / 100);

describe('wilcoxonGreaterP', () => {
  // p-values of scipy.stats.wilcoxon(d, alternative='greater', zero_method='zsplit'), SciPy 1.17.1.
  it.each([
    ['all positive: one assignment of 16', [1, 2, 3, 4], 1 / 16],
    ['the smallest negative', [-1, 2, 3, 4], 2 / 16],
    ['all negative', [-1, -2, -3], 1],
    [
      'Hollander and Wolfe, depression',
      [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01],
      0.01953125,
    ],
    ['Darwin, maize', [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75], 0.0206298828125],
    ['only zeros', [0, 0, 0], 1],
    ['zeros and ties', [0, 0, 1, 1, -2, 3], 0.25],
    ['many ties', [1, 1, 1, -1, 2, 2, -3, 0], 0.234375],
  ])('one-sided p matches SciPy for %s', (_, differences, p) => {
    expect(wilcoxonGreaterP(differences)).toBeCloseTo(p, 12);
  });

  it('one-sided p uses the normal approximation above 50 differences', () => {
    expect(wilcoxonGreaterP(MANY)).toBeCloseTo(0.06094549993440341, 12);
    expect(wilcoxonGreaterP([...MANY, 0, 0, 0])).toBeCloseTo(0.0679134448831058, 12);
  });

  it('one-sided p is exact for 50 differences', () => {
    const fifty = Array.from({ length: 50 }, (_, i) => Math.sin(i + 1) + 0.1);
    expect(wilcoxonGreaterP(fifty)).toBeCloseTo(0.12061012318474429, 12);
  });

  it('one-sided p is NaN without differences', () => {
    expect(wilcoxonGreaterP([])).toBeNaN();
    expect(wilcoxonGreaterP([1, Number.NaN])).toBeNaN();
  });
});
