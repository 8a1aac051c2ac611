import { describe, expect, it } from 'vitest';
import { binFeatures, type FeatureMatrix } from '#engine/ml/features.ts';
import { createRandom } from '#engine/random.ts';
import { matrixOf } from './synthetic.ts';

const binOne = (values: readonly number[], maxBins: number) => {
  const { bins, cuts, hasMissing } = binFeatures(matrixOf([Float64Array.from(values)]), maxBins);
  return { bins: [...bins[0]!], cuts: [...cuts[0]!], hasMissing: hasMissing[0]! };
};

describe('binFeatures', () => {
  it('binFeatures gives each value a bin with cuts half-way when there are enough bins', () => {
    expect(binOne([5, 1, 2, 1, 5], 3)).toEqual({
      bins: [2, 0, 1, 0, 2],
      cuts: [1.5, 3.5],
      hasMissing: false,
    });
  });

  it('binFeatures puts missing values into the last bin', () => {
    expect(binOne([Number.NaN, 1, 2], 8)).toEqual({ bins: [2, 0, 1], cuts: [1.5], hasMissing: true });
    expect(binOne([Number.NaN, Number.NaN], 8)).toEqual({ bins: [1, 1], cuts: [], hasMissing: true });
  });

  it('binFeatures separates infinities and neighboring doubles', () => {
    const next = 1 + Number.EPSILON;
    const { bins, cuts } = binOne([Number.NEGATIVE_INFINITY, 1, next, Number.POSITIVE_INFINITY], 4);
    expect(bins).toEqual([0, 1, 2, 3]);
    expect(cuts).toEqual([Number.NEGATIVE_INFINITY, 1, next]);
    expect(binOne([-1e308, 1e308], 4).bins).toEqual([0, 1]);
  });

  it('binFeatures makes bins of about equal size', () => {
    const random = createRandom(1);
    const values = Float64Array.from({ length: 10_000 }, () => random() ** 5);
    const { bins } = binFeatures(matrixOf([values]), 50);
    const counts = new Array(50).fill(0);
    for (const bin of bins[0]!) counts[bin]++;
    for (const count of counts) expect(Math.abs(count - 200)).toBeLessThanOrEqual(1);
  });

  it('binFeatures gives a value of half the rows its own bin and the others the rest', () => {
    const values = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? 0.5 : i / 1000));
    const { bins } = binOne(values, 11);
    const counts = new Map<number, number>();
    for (const bin of bins) counts.set(bin, (counts.get(bin) ?? 0) + 1);
    expect(counts.size).toBe(11);
    expect([...counts.values()].filter((count) => count > 150)).toHaveLength(1);
  });

  it('binFeatures follows the order of values and ignores the order of rows', () => {
    const random = createRandom(2);
    const values = Array.from({ length: 3000 }, () => Math.round(100 * random() ** 2) / 7);
    const { bins, cuts } = binOne(values, 255);
    values.forEach((value, i) => {
      expect(bins[i]).toBe(cuts.filter((cut) => cut < value).length);
    });
    expect(binOne([...values].reverse(), 255).bins).toEqual([...bins].reverse());
  });

  it('binFeatures orders doubles of any bits as numbers', () => {
    const random = createRandom(3);
    const words = Uint32Array.from({ length: 4000 }, () => random() * 2 ** 32);
    const values = new Float64Array(words.buffer);
    values.set([
      -0,
      0,
      Number.MIN_VALUE,
      -Number.MIN_VALUE,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    // NaN with the sign bit set.
    words.set([0, 0xfff80000], 20);
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    const { cuts, bins } = binFeatures(matrixOf([values]), 255);
    const rank = (value: number) => cuts[0]!.filter((cut) => cut < value).length;
    expect([...bins[0]!]).toEqual([...values].map((v) => (Number.isNaN(v) ? cuts[0]!.length + 1 : rank(v))));
    const below = Array.from(cuts[0]!, (cut) => sorted.filter((value) => value <= cut).length);
    below.forEach((count, k) => {
      expect(sorted[count]! > sorted[count - 1]!).toBe(true);
      expect(Math.abs(count - (below[k - 1] ?? 0) - sorted.length / 255)).toBeLessThan(2);
    });
  });

  it.each([
    ['no columns', { names: [], columns: [], rows: 0 }, /at least one feature/],
    [
      'missing names',
      { names: ['a'], columns: [new Float64Array(2), new Float64Array(2)], rows: 2 },
      /1 names/,
    ],
    [
      'a repeated name',
      { names: ['a', 'a'], columns: [new Float64Array(2), new Float64Array(2)], rows: 2 },
      /same name/,
    ],
    [
      'a short column',
      { names: ['a'], columns: [new Float64Array(2)], rows: 3 },
      /a has 2 values for 3 rows/,
    ],
  ] as [string, FeatureMatrix, RegExp][])('binFeatures rejects a matrix with %s', (_, matrix, message) => {
    expect(() => binFeatures(matrix, 64)).toThrow(message);
  });

  it.each([1, 256, 2.5])('binFeatures rejects %d bins', (maxBins) => {
    expect(() => binOne([1, 2], maxBins)).toThrow(/2 to 255/);
  });
});
