import { describe, expect, it } from 'vitest';
import { alwaysValidP } from '#engine/stats/always-valid.ts';
import { studentCdf, studentQuantile, studentTwoSidedP } from '#engine/stats/distributions.ts';
import { plus, times, ZERO } from '#engine/stats/double-double.ts';
import {
  differenceInterval,
  improvementInterval,
  improvementPct,
  isBalanced,
  pooled,
  type SampleStats,
  sampleOf,
  sampleOfSums,
  stratifiedWelch,
  welchTest,
} from '#engine/stats/welch.ts';
import { generated } from './trade-lists.ts';

const sample = (n: number, mean: number, sd: number): SampleStats => ({ n, mean, variance: sd * sd });

/** Sufficient statistics of a list by the textbook formulas. */
function statsOf(values: readonly number[]): SampleStats {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return { n: values.length, mean, variance: squares / (values.length - 1) };
}

describe('welchTest', () => {
  it('Welch test matches the vector of two trade lists', () => {
    const { t, df, probabilityBLarger } = welchTest(sample(320, 0.21, 2.0), sample(290, 0.42, 1.9))!;
    expect(t).toBeCloseTo(1.329532708074, 11);
    expect(df).toBeCloseTo(606.641246567, 8);
    expect(probabilityBLarger).toBeCloseTo(0.907913995435, 11);
  });

  it('Welch test matches R for the sleep data (Student 1908)', () => {
    const first = statsOf([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2]);
    const second = statsOf([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
    const forth = welchTest(first, second)!;
    expect(forth.t).toBeCloseTo(1.8608, 4);
    expect(forth.df).toBeCloseTo(17.776, 3);
    expect(2 * (1 - forth.probabilityBLarger)).toBeCloseTo(0.07939, 5);
    const back = welchTest(second, first)!;
    expect(back).toMatchObject({ t: -forth.t, df: forth.df });
    expect(back.probabilityBLarger).toBeCloseTo(1 - forth.probabilityBLarger, 12);
  });

  it('Welch test equals the pooled test for equal sizes and variances', () => {
    const { t, df } = welchTest(sample(10, 0, 2), sample(10, 1, 2))!;
    expect(df).toBeCloseTo(18, 12);
    expect(t).toBeCloseTo(1 / (2 * Math.sqrt(2 / 10)), 12);
  });

  it('Welch test is 0.5 for equal means', () => {
    expect(welchTest(sample(30, 1, 2), sample(50, 1, 3))!.probabilityBLarger).toBe(0.5);
  });

  it('Welch test accepts one sample without variance', () => {
    const { df } = welchTest(sample(5, 1, 0), sample(8, 2, 1))!;
    expect(df).toBeCloseTo(7, 12);
  });

  it('Welch test is accurate for variances near underflow', () => {
    const { t, df } = welchTest(sample(10, 0, 1e-120), sample(10, 1e-120, 1e-120))!;
    expect(t).toBeCloseTo(1 / Math.sqrt(0.2), 9);
    expect(df).toBeCloseTo(18, 9);
  });

  it.each([
    [sample(1, 1, 1), sample(100, 2, 1)],
    [sample(100, 1, 1), sample(0, 0, 0)],
    [sample(10, 1, 0), sample(10, 2, 0)],
  ])('Welch test is undefined for too few trades or no variance', (a, b) => {
    expect(welchTest(a, b)).toBeUndefined();
  });
});

const stageOf = (a: ArrayLike<number>, b: ArrayLike<number>) => ({ a: sampleOf(a), b: sampleOf(b) });
const repeated = (value: number, n: number) => new Float64Array(n).fill(value);

/** n, mean and standard deviation of both variants in each of four stages. */
const RAMP = [
  [380, 0.5, 2, 20, 0.8, 2.2],
  [180, 0.3, 1.9, 20, 0.55, 2.1],
  [60, 0, 2.1, 20, 0.2, 2],
  [40, -0.4, 2, 40, -0.1, 2],
].map(([nA, meanA, sdA, nB, meanB, sdB]) => ({
  a: { n: nA!, mean: meanA!, variance: sdA! ** 2 },
  b: { n: nB!, mean: meanB!, variance: sdB! ** 2 },
}));

// Vectors T1 to T8 of champion/challenger tests, from SciPy and an independent implementation, which agree to about 12 digits. The
// files next to this one have T9 to T14.
describe('stratified Welch', () => {
  it('stratified Welch matches T1: two short lists', () => {
    const test = stratifiedWelch([stageOf([0.5, -1, 2, 0.3, -0.4, 1.1], [1.2, 0.1, 2.6, 0.9, -0.2, 1.9, 3])]);
    expect(test.meanA).toBeCloseTo(0.416666666667, 11);
    expect(test.meanB).toBeCloseTo(1.357142857143, 11);
    expect(test.standardError).toBeCloseTo(0.630812203656, 11);
    expect(test.t).toBeCloseTo(1.490897267088, 11);
    expect(test.df).toBeCloseTo(10.981783243251, 10);
    expect(test.p).toBeCloseTo(0.164142490806, 11);
    expect(1 - studentCdf(test.t, test.df)).toBeCloseTo(0.082071245403, 11);
    expect(improvementPct(test.meanA, test.meanB)).toBeCloseTo(225.714285714, 8);
    const [low, high] = differenceInterval(test);
    expect(low).toBeCloseTo(-0.448213154387, 11);
    expect(high).toBeCloseTo(2.329166, 6);
  });

  it('stratified Welch matches T2: a baseline below 0', () => {
    const test = stratifiedWelch([
      stageOf([-0.5, -1, 0.2, -0.7, -0.1, -0.9], [-0.2, 0.1, -0.4, 0, -0.1, -0.3]),
    ]);
    expect(test.meanA).toBeCloseTo(-0.5, 12);
    expect(test.meanB).toBeCloseTo(-0.15, 12);
    expect(test.t).toBeCloseTo(1.697749375254, 11);
    expect(test.df).toBeCloseTo(6.551637279597, 11);
    expect(test.p).toBeCloseTo(0.136292503346, 11);
    expect(improvementPct(test.meanA, test.meanB)).toBeCloseTo(70, 10);
  });

  it('stratified Welch matches T3: 120 trades each, a better challenger', () => {
    const champion = generated(12345, 120, 0);
    const challenger = generated(67890, 120, 0.6);
    expect(champion.slice(0, 5)).toEqual([-1.15, 2.33, -1.13, -1.1, -1.1]);
    const stage = stageOf(champion, challenger);
    const test = stratifiedWelch([stage]);
    expect(test.meanA).toBeCloseTo(0.406416666667, 11);
    expect(test.meanB).toBeCloseTo(1.192166666667, 11);
    expect(stage.a.variance).toBeCloseTo(3.319068564426, 11);
    expect(stage.b.variance).toBeCloseTo(2.96890619047, 10);
    expect(test.standardError).toBeCloseTo(0.228910003329, 11);
    expect(test.t).toBeCloseTo(3.432571703168, 11);
    expect(test.df).toBeCloseTo(237.264217215, 8);
    expect(test.p).toBeCloseTo(0.000705304244, 11);
    expect(improvementPct(test.meanA, test.meanB)).toBeCloseTo(193.336067, 6);
    expect(test.effectiveSize).toBeCloseTo(240, 10);
    expect(alwaysValidP({ ...test, tuningSize: 400 })).toBeCloseTo(0.018441192103, 11);
    const [low, high] = improvementInterval(test);
    expect([Math.round(low), Math.round(high)]).toEqual([-54, 441]);
  });

  it('stratified Welch matches T3b: 120 trades each, not significant', () => {
    const test = stratifiedWelch([stageOf(generated(12345, 120, 0), generated(67890, 120, 0.2))]);
    expect(test.t).toBeCloseTo(1.685160082083, 11);
    expect(test.p).toBeCloseTo(0.093272444085, 11);
    expect(improvementPct(test.meanA, test.meanB)).toBeCloseTo(94.914907, 6);
  });

  it('stratified Welch matches T4: unequal variants', () => {
    const stage = stageOf(generated(111, 380, 0), generated(222, 20, 0.5));
    const test = stratifiedWelch([stage]);
    expect(test.meanA).toBeCloseTo(0.551131578947, 11);
    expect(test.meanB).toBeCloseTo(0.875, 12);
    expect(test.t).toBeCloseTo(0.734317629858, 11);
    expect(test.df).toBeCloseTo(20.592176174527, 10);
    expect(test.p).toBeCloseTo(0.471034867831, 11);
    expect(isBalanced([stage])).toBe(false);
  });

  it('stratified Welch matches T5 and T6: no variance', () => {
    const better = stratifiedWelch([stageOf(repeated(1, 100), repeated(1.2, 100))]);
    expect(better).toMatchObject({ p: 0, t: Number.POSITIVE_INFINITY, standardError: 0 });
    expect(improvementPct(better.meanA, better.meanB)).toBeCloseTo(20, 10);
    const same = stratifiedWelch([stageOf(repeated(1, 100), repeated(1, 100))]);
    expect(same).toMatchObject({ p: 1, t: 0, difference: 0 });
    expect(improvementPct(same.meanA, same.meanB)).toBe(0);
  });

  it('stratified Welch matches T7: fewer than two trades in a variant', () => {
    const lone = stratifiedWelch([stageOf([1, 2, 3], [5])]);
    expect(lone).toMatchObject({ p: 1, meanA: 2, meanB: 5, usedStages: 0 });
    expect(stratifiedWelch([stageOf([1, 2, 3], [])])).toMatchObject({ p: 1, meanA: 2, meanB: 0 });
    expect(stratifiedWelch([])).toMatchObject({ p: 1, meanA: 0, meanB: 0 });
    const second = stratifiedWelch([stageOf([1, 2, 3], [5]), stageOf([1, 2], [3, 4])]);
    expect(second).toMatchObject({ meanA: 1.5, meanB: 3.5, usedStages: 1 });
  });

  it('stratified Welch matches T8: four stages where pooling reverses the sign', () => {
    const test = stratifiedWelch(RAMP);
    expect(test.effectiveSize / 4).toBeCloseTo(72, 10);
    expect(test.meanA).toBeCloseTo(0.095833333333, 11);
    expect(test.meanB).toBeCloseTo(0.3625, 12);
    expect(test.difference).toBeCloseTo(0.266666666667, 11);
    expect(test.standardError).toBeCloseTo(0.244791223404, 11);
    expect(test.t).toBeCloseTo(1.089363674721, 11);
    expect(test.df).toBeCloseTo(111.704385449, 8);
    expect(test.p).toBeCloseTo(0.27833809705, 11);
    expect(improvementPct(test.meanA, test.meanB)).toBeCloseTo(278.260869565, 8);
    expect(test.effectiveSize).toBeCloseTo(288, 10);
    const empty = sampleOf([]);
    const rawA = RAMP.reduce((all, { a }) => pooled(all, a), empty);
    const rawB = RAMP.reduce((all, { b }) => pooled(all, b), empty);
    expect(rawA.mean).toBeCloseTo(0.345454545455, 11);
    expect(rawB.mean).toBeCloseTo(0.27, 12);
    expect(improvementPct(rawA.mean, rawB.mean)).toBeCloseTo(-21.84, 2);
    expect(isBalanced(RAMP)).toBe(false);
  });

  it.each([
    [2, 10.5, 0.072033800157],
    [5, 3.2, 0.01317209307],
    [12, 200.25, 2.3843788e-25],
    [0.5, 0.9, 0.7120059201],
  ])('T13: tail of t = %d with %d degrees of freedom is %d', (t, df, p) => {
    expect(Math.abs(studentTwoSidedP(t, df) / p - 1)).toBeLessThan(2e-8);
    expect(studentTwoSidedP(t, df)).toBeCloseTo(p, 11);
  });

  it('stratified Welch equals the Welch test with one stage', () => {
    const stage = RAMP[0]!;
    const { t, df } = welchTest(stage.a, stage.b)!;
    const test = stratifiedWelch([stage]);
    expect(test.t).toBeCloseTo(t, 12);
    expect(test.df).toBeCloseTo(df, 9);
  });
});

describe('studentQuantile', () => {
  it.each([0.6, 0.975, 0.9999, 0.025])('studentQuantile inverts the distribution at %d', (p) => {
    for (const df of [1, 3.3, 20, 1e5]) expect(studentCdf(studentQuantile(p, df), df)).toBeCloseTo(p, 13);
  });

  it('studentQuantile matches published tables', () => {
    expect(studentQuantile(0.975, 10)).toBeCloseTo(2.228139, 6);
    expect(studentQuantile(0.5, 10)).toBeCloseTo(0, 12);
  });
});

describe('isBalanced', () => {
  const variants = (a: number, b: number) => ({
    a: { n: a, mean: 0, variance: 1 },
    b: { n: b, mean: 0, variance: 1 },
  });

  it('isBalanced allows at most twice as many trades in each stage with two per variant', () => {
    expect(isBalanced([variants(100, 50)])).toBe(true);
    expect(isBalanced([variants(50, 101)])).toBe(false);
    expect(isBalanced([variants(40, 40), variants(95, 5)])).toBe(false);
    expect(isBalanced([variants(40, 40), variants(95, 1)])).toBe(true);
  });
});

describe('sufficient statistics', () => {
  const values = generated(5, 50, 0.1);

  it('samples from sums and from parts equal the direct sample', () => {
    const whole = sampleOf(values);
    const sum = values.reduce((a, b) => plus(a, [b, 0]), ZERO);
    const squares = values.reduce((a, b) => plus(a, times([b, 0], [b, 0])), ZERO);
    for (const other of [
      sampleOfSums(50, sum, squares),
      pooled(sampleOf(values.slice(0, 1)), sampleOf(values.slice(1))),
    ]) {
      expect(other.n).toBe(50);
      expect(other.mean).toBeCloseTo(whole.mean, 12);
      expect(other.variance).toBeCloseTo(whole.variance, 11);
    }
  });

  it('sample variance of values equal up to rounding is 0', () => {
    let sum = ZERO;
    let squares = ZERO;
    for (let n = 1; n <= 200; n++) {
      const value = n % 2 ? 0.3 : 0.1 + 0.2;
      sum = plus(sum, [value, 0]);
      squares = plus(squares, times([value, 0], [value, 0]));
      expect(sampleOfSums(n, sum, squares).variance).toBe(0);
    }
    expect(sampleOfSums(0, ZERO, ZERO)).toEqual({ n: 0, mean: 0, variance: 0 });
    expect(sampleOfSums(1, [3, 0], [9, 0])).toEqual({ n: 1, mean: 3, variance: 0 });
  });
});

describe('improvementPct', () => {
  it.each([
    [1.5, 1.8, 20],
    [-0.5, -0.25, 50],
    [-0.5, 0.5, 200],
    [0, 0.3, 100],
    [0, -0.3, -100],
    [0, 0, 0],
  ])('improvement from %d to %d is %d %%', (a, b, pct) => {
    expect(improvementPct(a, b)).toBeCloseTo(pct, 10);
  });
});
