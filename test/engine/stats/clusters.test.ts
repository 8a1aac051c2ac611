import { describe, expect, it } from 'vitest';
import { clusteredMean } from '#engine/stats/clusters.ts';
import { minimumDetectableEffect, tradesNeeded } from '#engine/stats/detectable-effect.ts';
import { sampleOf } from '#engine/stats/samples.ts';
import { stratifiedWelch } from '#engine/stats/stratified-welch.ts';

describe('clustered trades', () => {
  it('T14', () => {
    const a = [[0.5, 0.7, 0.4], [-0.6, -0.9], [1, 1.3, 0.8, 1.1], [-0.2, 0.1], [0.3]];
    const b = [
      [1.1, 0.9],
      [-0.3, 0.2, -0.1],
      [1.6, 1.4],
      [0.4, 0.6, 0.5],
      [0.7, 0.9],
    ];
    const groupedA = clusteredMean(a);
    const groupedB = clusteredMean(b);
    expect(groupedA.mean).toBeCloseTo(0.375, 12);
    expect(groupedB.mean).toBeCloseTo(0.658333333, 9);
    expect(groupedA.variance).toBeCloseTo(0.115505642, 9);
    expect(groupedB.variance).toBeCloseTo(0.072370515, 9);
    const flatA = sampleOf(a.flat());
    const flatB = sampleOf(b.flat());
    expect(flatA.variance / flatA.n).toBeCloseTo(0.038352273, 9);
    expect(flatB.variance / flatB.n).toBeCloseTo(0.026887626, 9);
    expect(stratifiedWelch([{ a: flatA, b: flatB }]).t).toBeCloseTo(1.10928, 6);
    const error = Math.sqrt(groupedA.variance! + groupedB.variance!);
    expect((groupedB.mean - groupedA.mean) / error).toBeCloseTo(0.653675, 6);
  });

  it('are single trades when every group holds one', () => {
    const values = [1, 4, 2, 8];
    const single = clusteredMean(values.map((value) => [value]));
    const { variance } = sampleOf(values);
    expect(single.variance).toBeCloseTo(variance / 4, 12);
  });

  it('need two groups', () => {
    expect(clusteredMean([[1, 2, 3], []])).toEqual({ mean: 2, variance: undefined });
    expect(clusteredMean([])).toEqual({ mean: 0, variance: undefined });
  });
});

describe('size of the promise', () => {
  const arm = (n: number, sd = 1) => ({ n, mean: 0, variance: sd * sd });

  it.each([
    [100, 100, 0.396],
    [660, 100, 0.301],
    [1000, 1000, 0.125],
  ])('with %d and %d trades a difference of %d standard deviations can be seen', (a, b, effect) => {
    expect(minimumDetectableEffect(arm(a), arm(b))).toBeCloseTo(effect, 3);
  });

  it('is out of reach for a tenth of 0.2 % a trade at 2 %: 156,978 trades', () => {
    expect(tradesNeeded(4, 4, 0.02)).toBe(156_978);
    expect(minimumDetectableEffect(arm(156_978, 2), arm(156_978, 2))).toBeCloseTo(0.02, 6);
    expect(tradesNeeded(1, 1, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(minimumDetectableEffect(arm(0), arm(9))).toBe(Number.POSITIVE_INFINITY);
  });
});
