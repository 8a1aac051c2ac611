import { describe, expect, it } from 'vitest';
import { permutationTest, type StageValues } from '#engine/stats/permutation.ts';
import { sampleOf, stratifiedWelch } from '#engine/stats/welch.ts';
import { generated } from './trade-lists.ts';

/** Exact p-values over every assignment of the variants. */
function byEnumeration({ a, b }: { a: number[]; b: number[] }) {
  const all = [...a, ...b];
  const tOf = (first: number[], second: number[]) =>
    stratifiedWelch([{ a: sampleOf(first), b: sampleOf(second) }]).t;
  const observed = tOf(a, b);
  let upper = 0;
  let lower = 0;
  let ways = 0;
  for (let mask = 0; mask < 2 ** all.length; mask++) {
    const second = all.filter((_, i) => (mask >> i) & 1);
    if (second.length !== b.length) continue;
    const t = tOf(
      all.filter((_, i) => !((mask >> i) & 1)),
      second,
    );
    ways++;
    if (t >= observed - 1e-9) upper++;
    if (t <= observed + 1e-9) lower++;
  }
  return { upper: upper / ways, lower: lower / ways };
}

describe('studentized permutation test', () => {
  it.each([
    ['equal variants', { a: [0.5, -1, 2, 0.3, -0.4, 1.1], b: [1.2, 0.1, 2.6, 0.9, -0.2, 1.9, 3] }],
    ['a small champion', { a: [0.5, -1], b: [1.2, 0.1, 2.6, 0.9, -0.2, 1.9, 3] }],
    ['a small challenger', { a: [0.5, -1, 2, 0.3, -0.4, 1.1, 0.2], b: [-1.2, 0.1] }],
    ['ties', { a: [0.1, 0.3, 0.1, 0.3, 0.1, 0.7], b: [0.3, 0.1, 0.7] }],
  ])('permutation p-value is within 0.02 of full enumeration: %s', (_, stage) => {
    const { upper, lower } = byEnumeration(stage);
    const test = permutationTest([stage], 1)!;
    expect(Math.abs(test.pUpper - upper)).toBeLessThan(0.02);
    expect(Math.abs(test.pLower - lower)).toBeLessThan(0.02);
    expect(test.p).toBe(Math.min(1, 2 * Math.min(test.pUpper, test.pLower)));
  });

  it('permutation test counts assignments equal up to rounding as ties', () => {
    // Wins of 0.3 and 0.1: the number of large ones among the eight trades of b is hypergeometric.
    const variant = (large: number, small: number) => [...Array(large).fill(0.3), ...Array(small).fill(0.1)];
    const test = permutationTest([{ a: variant(5, 5), b: variant(5, 3) }], 3)!;
    expect(Math.abs(test.pUpper - 20_997 / 43_758)).toBeLessThan(0.02);
    expect(Math.abs(test.pLower - 36_873 / 43_758)).toBeLessThan(0.02);
  });

  it("permutation p-value is near Welch's for two large stages", () => {
    const stages: StageValues[] = [
      { a: generated(1, 150, 0), b: generated(2, 150, 0.2) },
      { a: generated(3, 100, 1), b: generated(4, 60, 1.1) },
    ];
    const test = permutationTest(stages, 7)!;
    const welch = stratifiedWelch(stages.map(({ a, b }) => ({ a: sampleOf(a), b: sampleOf(b) })));
    expect(Math.abs(test.p - welch.p)).toBeLessThan(0.02);
  });

  it('permutation test shuffles within stages and ignores market moves between them', () => {
    const withMarketAt = (level: number): StageValues[] => [
      { a: generated(1, 300, 0), b: generated(2, 15, 0) },
      { a: generated(3, 30, level), b: generated(4, 30, level) },
    ];
    const { p } = permutationTest(withMarketAt(0), 1)!;
    expect(permutationTest(withMarketAt(1e8), 1)!.p).toBeCloseTo(p, 3);
  });

  it('permutation test detects a true difference', () => {
    const stage = { a: generated(1, 100, 0), b: generated(2, 100, 2) };
    expect(permutationTest([stage], 1)!.p).toBe(2 / 10_000);
  });

  it('permutation test is deterministic by seed', () => {
    const stage = { a: generated(1, 40, 0), b: generated(2, 10, 0.3) };
    expect(permutationTest([stage], 5)).toEqual(permutationTest([stage], 5));
    expect(permutationTest([stage], 5)).not.toEqual(permutationTest([stage], 6));
  });

  it('permutation test returns p = 1 without variance and undefined without enough trades', () => {
    const one = new Float64Array(20).fill(1.2);
    expect(permutationTest([{ a: one, b: one }], 1)).toEqual({ pUpper: 1, pLower: 1, p: 1 });
    expect(permutationTest([{ a: [1, 2, 3], b: [1] }], 1)).toBeUndefined();
    expect(permutationTest([], 1)).toBeUndefined();
  });

  it('permutation test keeps its size with 380 against 20 trades and rare losses, unlike Welch', () => {
    // One-sided 2.5 %: Welch promotes an equal challenger in about 14 % of these tests.
    let promotedByWelch = 0;
    let promoted = 0;
    for (let run = 0; run < 60; run++) {
      const returns = (seed: number, n: number) =>
        generated(seed, n, 0).map((x) => (x > 2.65 ? -6 + x / 10 : 1 + x / 10));
      const stage = { a: returns(1000 + run, 380), b: returns(5000 + 7 * run, 20) };
      const welch = stratifiedWelch([{ a: sampleOf(stage.a), b: sampleOf(stage.b) }]);
      if (welch.p < 0.05 && welch.difference > 0) promotedByWelch++;
      const test = permutationTest([stage], run)!;
      if (test.p < 0.05 && welch.difference > 0) promoted++;
    }
    expect(promoted).toBeLessThan(promotedByWelch);
    expect(promoted).toBeLessThanOrEqual(5);
  });
});
