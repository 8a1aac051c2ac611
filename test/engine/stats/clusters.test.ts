import { describe, expect, it } from 'vitest';
import { NO_CLUSTERS, sampleOfClusters, withCluster } from '#engine/stats/clusters.ts';
import { type DoubleDouble, plus, ZERO } from '#engine/stats/double-double.ts';
import { permutationTest } from '#engine/stats/permutation.ts';
import { minimumDetectableEffect, sampleOf, stratifiedWelch, tradesNeeded } from '#engine/stats/welch.ts';
import { T14 } from '../../support/clustered-trades.ts';

const { champion: A, challenger: B } = T14;

const sumOf = (values: readonly number[]) => values.reduce((all: DoubleDouble, x) => plus(all, [x, 0]), ZERO);
const clusterOf = (values: readonly number[]) => ({ size: values.length, sum: sumOf(values) });

/** Sample built trade by trade, round-robin over the groups. */
function grown(groups: readonly (readonly number[])[]) {
  let totals = NO_CLUSTERS;
  const most = Math.max(0, ...groups.map((group) => group.length));
  for (let size = 1; size <= most; size++) {
    for (const group of groups) {
      if (size > group.length) continue;
      totals = withCluster(totals, clusterOf(group.slice(0, size - 1)), clusterOf(group.slice(0, size)));
    }
  }
  return sampleOfClusters(groups.flat().length, sumOf(groups.flat()), totals);
}

describe('clustered samples', () => {
  it('clustered sample from incremental totals matches T14', () => {
    const a = grown(A);
    const b = grown(B);
    expect(a.mean).toBeCloseTo(0.375, 12);
    expect(b.mean).toBeCloseTo(0.658333333, 9);
    expect(a.variance / a.n).toBeCloseTo(0.115505642, 9);
    expect(b.variance / b.n).toBeCloseTo(0.072370515, 9);
    const flatA = sampleOf(A.flat());
    const flatB = sampleOf(B.flat());
    expect(flatA.variance / flatA.n).toBeCloseTo(0.038352273, 9);
    expect(flatB.variance / flatB.n).toBeCloseTo(0.026887626, 9);
    expect(stratifiedWelch([{ a: flatA, b: flatB }]).t).toBeCloseTo(1.10928, 6);
    const clustered = stratifiedWelch([{ a, b }]);
    expect(clustered.t).toBeCloseTo(0.653675, 6);
    // Welch-Satterthwaite with 5 clusters per variant.
    const [ua, ub] = [0.115505642, 0.072370515];
    expect(clustered.df).toBeCloseTo((ua + ub) ** 2 / (ua ** 2 / 4 + ub ** 2 / 4), 6);
  });

  it('clusters of one trade equal single trades, and a removed cluster leaves no rounding error', () => {
    const values = [1, 4, 2, 8];
    const single = grown(values.map((value) => [value]));
    const { mean, variance } = sampleOf(values);
    expect(single).toEqual({ n: 4, mean, variance: expect.closeTo(variance, 12), groups: 4 });
    const gone = clusterOf([0.1, 0.7]);
    const none = clusterOf([]);
    const kept = withCluster(NO_CLUSTERS, none, clusterOf([0.3]));
    const left = withCluster(withCluster(kept, none, gone), gone, none);
    expect(left).toEqual({
      count: 1,
      sizes: 1,
      squares: [kept.squares[0], expect.closeTo(kept.squares[1], 30)],
      products: [kept.products[0], expect.closeTo(kept.products[1], 30)],
    });
  });

  it('clustered variance is 0 for one cluster and for differences within rounding', () => {
    expect(grown([[1, 2, 3]])).toEqual({ n: 3, mean: 2, variance: 0, groups: 1 });
    expect(grown([])).toEqual({ n: 0, mean: 0, variance: 0, groups: 0 });
    expect(grown([[0.3, 0.1 + 0.2], [0.3], [0.3, 0.3, 0.3]]).variance).toBe(0);
    expect(stratifiedWelch([{ a: grown([[1, 2, 3]]), b: grown(B) }]).usedStages).toBe(0);
  });

  /** Clusters of uneven sizes, so that a shuffle changes the number of trades per variant. */
  const uneven = (sizes: readonly number[], shift: number) =>
    sizes.map((size, n) => Array.from({ length: size }, (_, i) => ((n * 5 + i * 3) % 7) - 3 + shift));

  it.each([
    ['T14', A, B],
    ['very uneven ones', uneven([12, 9, 1, 10, 8], 0), uneven([1, 2, 1, 1], 1.5)],
  ])('cluster permutation p-value is within 0.02 of full enumeration: %s', (_, a, b) => {
    const all = [...a, ...b];
    const tOf = (second: number[][], first: number[][]) =>
      stratifiedWelch([{ a: grown(first), b: grown(second) }]).t;
    const observed = tOf(b, a);
    const ways = Array.from({ length: 2 ** all.length }, (_, mask) => mask)
      .map((mask) => all.map((group, i) => ({ group, inB: ((mask >> i) & 1) === 1 })))
      .filter((way) => way.filter(({ inB }) => inB).length === b.length)
      .map((way) => {
        const of = (wanted: boolean) => way.filter(({ inB }) => inB === wanted).map(({ group }) => group);
        return tOf(of(true), of(false));
      });
    const share = (is: (t: number) => boolean) => ways.filter(is).length / ways.length;
    const test = permutationTest([{ a: a.map(clusterOf), b: b.map(clusterOf) }], 1)!;
    expect(Math.abs(test.pUpper - share((t) => t >= observed - 1e-9))).toBeLessThan(0.02);
    expect(Math.abs(test.pLower - share((t) => t <= observed + 1e-9))).toBeLessThan(0.02);
  });

  it('cluster permutation test has a larger p-value than the test of single trades', () => {
    const together = permutationTest([{ a: A.map(clusterOf), b: B.map(clusterOf) }], 1)!;
    expect(permutationTest([{ a: A.flat(), b: B.flat() }], 1)!.p).toBeLessThan(together.p - 0.1);
  });
});

describe('minimum detectable effect', () => {
  const variant = (n: number, sd = 1) => ({ n, mean: 0, variance: sd * sd });

  it.each([
    [100, 100, 0.396],
    [660, 100, 0.301],
    [1000, 1000, 0.125],
  ])('minimum detectable effect with %d and %d trades is %d standard deviations', (a, b, effect) => {
    expect(minimumDetectableEffect(variant(a), variant(b))).toBeCloseTo(effect, 3);
  });

  it('tradesNeeded for 0.02 % at a deviation of 2 % is 156,978', () => {
    expect(tradesNeeded(4, 4, 0.02)).toBe(156_978);
    expect(minimumDetectableEffect(variant(156_978, 2), variant(156_978, 2))).toBeCloseTo(0.02, 6);
    expect(tradesNeeded(1, 1, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(minimumDetectableEffect(variant(0), variant(9))).toBe(Number.POSITIVE_INFINITY);
  });
});
