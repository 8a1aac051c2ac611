import { describe, expect, it } from 'vitest';
import { type SampleStats, welchTest } from '#engine/stats/welch.ts';

const sample = (n: number, mean: number, sd: number): SampleStats => ({ n, mean, variance: sd * sd });

/** Sufficient statistics of a list, by the textbook. */
function statsOf(values: readonly number[]): SampleStats {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return { n: values.length, mean, variance: squares / (values.length - 1) };
}

describe('Welch', () => {
  it('answers the vector of two trade lists', () => {
    const { t, df, probabilityBLarger } = welchTest(sample(320, 0.21, 2.0), sample(290, 0.42, 1.9))!;
    expect(t).toBeCloseTo(1.329532708074, 11);
    expect(df).toBeCloseTo(606.641246567, 8);
    expect(probabilityBLarger).toBeCloseTo(0.907913995435, 11);
  });

  it('answers what R prints of the sleep data (Student 1908)', () => {
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

  it('is the pooled test for samples of one size and variance', () => {
    const { t, df } = welchTest(sample(10, 0, 2), sample(10, 1, 2))!;
    expect(df).toBeCloseTo(18, 12);
    expect(t).toBeCloseTo(1 / (2 * Math.sqrt(2 / 10)), 12);
  });

  it('is undecided between equal means', () => {
    expect(welchTest(sample(30, 1, 2), sample(50, 1, 3))!.probabilityBLarger).toBe(0.5);
  });

  it('takes a sample without variance beside one that varies', () => {
    const { df } = welchTest(sample(5, 1, 0), sample(8, 2, 1))!;
    expect(df).toBeCloseTo(7, 12);
  });

  it('holds for the smallest variances', () => {
    const { t, df } = welchTest(sample(10, 0, 1e-120), sample(10, 1e-120, 1e-120))!;
    expect(t).toBeCloseTo(1 / Math.sqrt(0.2), 9);
    expect(df).toBeCloseTo(18, 9);
  });

  it.each([
    [sample(1, 1, 1), sample(100, 2, 1)],
    [sample(100, 1, 1), sample(0, 0, 0)],
    [sample(10, 1, 0), sample(10, 2, 0)],
  ])('is undefined without enough to go by', (a, b) => {
    expect(welchTest(a, b)).toBeUndefined();
  });
});
