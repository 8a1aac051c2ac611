import { describe, expect, it } from 'vitest';
import { binomialTwoSidedP, chiSquareUpperP, sampleRatioTest } from '#engine/stats/sample-ratio.ts';

describe('sampleRatioTest', () => {
  it.each([
    ['930/70 at 5 %', [{ a: 930, b: 70, shareB: 0.05 }], 8.421052631579, 1, 0.003709009991],
    ['260/140 at 25 %', [{ a: 260, b: 140, shareB: 0.25 }], 21.333333333333, 1, 3.8596e-6],
    ['520/480 at 50 %', [{ a: 520, b: 480, shareB: 0.5 }], 1.6, 1, 0.205903210732],
    [
      'four stages',
      [
        { a: 372, b: 28, shareB: 0.05 },
        { a: 176, b: 24, shareB: 0.1 },
        { a: 58, b: 22, shareB: 0.25 },
        { a: 41, b: 39, shareB: 0.5 },
      ],
      4.573976608187,
      4,
      0.333865664953,
    ],
  ])('sample ratio test matches T12 for %s', (_, stages, chiSquare, df, p) => {
    const test = sampleRatioTest(stages);
    expect(test.chiSquare).toBeCloseTo(chiSquare, 11);
    expect(test.df).toBe(df);
    expect(test.p).toBeCloseTo(p, p < 1e-5 ? 10 : 11);
  });

  it('sample ratio test matches T12 for each stage separately', () => {
    const chiSquareOf = (a: number, b: number, shareB: number) =>
      sampleRatioTest([{ a, b, shareB }]).chiSquare;
    expect(chiSquareOf(372, 28, 0.05)).toBeCloseTo(3.368421, 6);
    expect(chiSquareOf(176, 24, 0.1)).toBeCloseTo(0.888889, 6);
    expect(chiSquareOf(58, 22, 0.25)).toBeCloseTo(0.266667, 6);
    expect(chiSquareOf(41, 39, 0.5)).toBeCloseTo(0.05, 12);
  });

  it('sample ratio test is exact when few assignments are expected', () => {
    // 3 of 4 at 5 %: 4 * 0.05^3 * 0.95 + 0.05^4.
    const p = 4 * 0.05 ** 3 * 0.95 + 0.05 ** 4;
    expect(sampleRatioTest([{ a: 1, b: 3, shareB: 0.05 }]).p).toBeCloseTo(p, 12);
    expect(sampleRatioTest([{ a: 4, b: 0, shareB: 0.05 }]).p).toBe(1);
  });

  it('sample ratio test ignores stages without assignments', () => {
    expect(sampleRatioTest([])).toEqual({ chiSquare: 0, df: 0, p: 1 });
    const stage = { a: 930, b: 70, shareB: 0.05 };
    expect(sampleRatioTest([stage, { a: 0, b: 0, shareB: 0.1 }])).toEqual(sampleRatioTest([stage]));
  });
});

describe('binomialTwoSidedP', () => {
  it('binomial test of 70 of 1000 at 5 % matches T12', () => {
    expect(binomialTwoSidedP(70, 1000, 0.05)).toBeCloseTo(0.005670160943, 11);
  });

  it('binomial test matches counts by hand', () => {
    expect(binomialTwoSidedP(0, 4, 0.5)).toBeCloseTo(2 / 16, 12);
    expect(binomialTwoSidedP(1, 4, 0.5)).toBeCloseTo(10 / 16, 12);
    expect(binomialTwoSidedP(2, 4, 0.5)).toBe(1);
    expect(binomialTwoSidedP(4, 4, 0.5)).toBeCloseTo(2 / 16, 12);
    expect(binomialTwoSidedP(0, 0, 0.5)).toBe(1);
  });
});

describe('chiSquareUpperP', () => {
  // scipy.stats.chi2.sf, SciPy 1.17.1.
  it.each([
    [3.841458820694124, 1, 0.05],
    [5.991464547107979, 2, 0.05],
    [7.814727903251179, 3, 0.05],
    [16.918977604620448, 9, 0.05],
    [0.5, 5, 0.9921232932326296],
    [200, 10, 1.6139305336977317e-37],
  ])('chi-square tail of %d with %d degrees of freedom is %d', (value, df, p) => {
    expect(Math.abs(chiSquareUpperP(value, df) / p - 1)).toBeLessThan(1e-12);
  });

  it('chi-square tail of 0 is 1', () => {
    expect(chiSquareUpperP(0, 3)).toBe(1);
  });
});
