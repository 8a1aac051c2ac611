import { describe, expect, test } from 'vitest';
import { histogramOf } from '../../web/src/charts/histogram.ts';

describe('histogramOf', () => {
  test('counts every value once, in intervals of a round width', () => {
    const { width, edges, counts } = histogramOf([-2, -1.5, -0.1, 0, 0.1, 3.9], 6);
    expect(width).toBe(1);
    expect(edges).toEqual([-2, -1, 0, 1, 2, 3]);
    expect(counts).toEqual([2, 1, 2, 0, 0, 1]);
  });

  test('puts zero into the interval of the gains', () => {
    const { edges, counts } = histogramOf([-0.5, 0], 1);
    expect(counts[edges.indexOf(0)]).toBe(1);
  });

  test('counts an outlier in the last interval', () => {
    const values = [...Array.from({ length: 1_000 }, (_, index) => index / 100), 1_000_000];
    const { edges, counts } = histogramOf(values, 10);
    expect(edges.at(-1)).toBeLessThan(11);
    expect(counts.reduce((sum, count) => sum + count)).toBe(1_001);
  });

  test.each([
    ['no values', [], 0],
    ['equal values', [5, 5, 5], 1],
  ])('accepts %s', (_, values, intervals) => {
    expect(histogramOf(values, 40).counts).toHaveLength(intervals);
  });
});
