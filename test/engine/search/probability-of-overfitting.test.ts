import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '#engine/random.ts';
import { probabilityOfOverfitting } from '#engine/search/overfitting.ts';

/** Standard normal number (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Daily returns of trials with these true daily Sharpe ratios. */
function trialsWith(seed: number, skills: readonly number[], days: number): Float64Array[] {
  const random = createRandom(seed);
  return skills.map((skill) => Float64Array.from({ length: days }, () => 0.01 * (skill + normal(random))));
}

const skillsOf = (count: number, of: (i: number) => number) => Array.from({ length: count }, (_, i) => of(i));

/** Mean over jobs with different seeds, because one job of few days has low statistical power. */
function meanOver(seeds: number, of: (seed: number) => number): number {
  return skillsOf(seeds, of).reduce((a, b) => a + b, 0) / seeds;
}

/** Literal definition: every subset of half the blocks, ratios computed from the days. */
function byDefinition(returns: readonly Float64Array[], blocks: number) {
  const days = returns[0]!.length;
  const ratio = (values: number[]) => {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return mean / Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
  };
  const pairs: { x: number; y: number; logit: number }[] = [];
  for (let mask = 0; mask < 2 ** blocks; mask++) {
    if (mask.toString(2).replaceAll('0', '').length !== blocks / 2) continue;
    const isIn = (day: number) => (mask >> Math.floor((day * blocks) / days)) & 1;
    const inside = returns.map((values) => ratio([...values].filter((_, day) => isIn(day))));
    const outside = returns.map((values) => ratio([...values].filter((_, day) => !isIn(day))));
    const chosen = inside.indexOf(Math.max(...inside));
    const rank = outside.filter((value) => value <= outside[chosen]!).length;
    const w = rank / (returns.length + 1);
    pairs.push({ x: inside[chosen]!, y: outside[chosen]!, logit: Math.log(w / (1 - w)) });
  }
  const n = pairs.length;
  const meanX = pairs.reduce((a, { x }) => a + x, 0) / n;
  const meanY = pairs.reduce((a, { y }) => a + y, 0) / n;
  return {
    blocks,
    splits: n,
    probability: pairs.filter(({ logit }) => logit <= 0).length / n,
    loss_probability: pairs.filter(({ y }) => y < 0).length / n,
    degradation_slope:
      pairs.reduce((a, { x, y }) => a + (x - meanX) * (y - meanY), 0) /
      pairs.reduce((a, { x }) => a + (x - meanX) ** 2, 0),
  };
}

describe('probabilityOfOverfitting', () => {
  it.each([
    [40, 8],
    [60, 12],
  ])('PBO equals its definition for %d days in %d blocks', (days, blocks) => {
    for (let seed = 1; seed <= 3; seed++) {
      const returns = trialsWith(
        seed,
        skillsOf(7, (i) => 0.03 * i),
        days,
      );
      const expected = byDefinition(returns, blocks);
      const found = probabilityOfOverfitting(returns)!;
      expect(found).toMatchObject({
        blocks,
        splits: expected.splits,
        probability: expected.probability,
        loss_probability: expected.loss_probability,
      });
      expect(found.degradation_slope).toBeCloseTo(expected.degradation_slope, 9);
    }
  });

  it('PBO of a long series uses 12,870 combinations of 8 of 16 blocks', () => {
    const found = probabilityOfOverfitting(trialsWith(1, [0, 0, 0.1], 736))!;
    expect(found).toMatchObject({ blocks: 16, splits: 12_870 });
  });

  it('PBO is about 0.5 without skill', () => {
    const probability = meanOver(
      30,
      (seed) =>
        probabilityOfOverfitting(
          trialsWith(
            seed,
            skillsOf(20, () => 0),
            160,
          ),
        )!.probability,
    );
    expect(Math.abs(probability - 0.5)).toBeLessThan(0.1);
  });

  it('PBO is near 0 when one trial has strong skill', () => {
    const found = probabilityOfOverfitting(
      trialsWith(
        1,
        skillsOf(50, (i) => (i === 7 ? 0.5 : 0)),
        400,
      ),
    )!;
    expect(found.probability).toBeLessThan(0.01);
    expect(found.loss_probability).toBeLessThan(0.01);
  });

  it('PBO is between 0 and 0.3 for graded skill', () => {
    const graded = meanOver(
      10,
      (seed) =>
        probabilityOfOverfitting(
          trialsWith(
            seed,
            skillsOf(30, (i) => 0.01 * i),
            400,
          ),
        )!.probability,
    );
    expect(graded).toBeGreaterThan(0.005);
    expect(graded).toBeLessThan(0.3);
  });

  it('PBO is above 0.9 when winners of one half lose in the other', () => {
    // Each trial earns on its own days and loses on all others.
    const returns = skillsOf(16, (i) => i).map((own) =>
      Float64Array.from(
        { length: 160 },
        (_, day) => (Math.floor(day / 10) === own ? 0.15 : -0.01) + 1e-4 * (day % 7),
      ),
    );
    const found = probabilityOfOverfitting(returns)!;
    expect(found.probability).toBeGreaterThan(0.9);
    expect(found.loss_probability).toBeGreaterThan(0.9);
  });

  it('PBO accepts trials that never trade', () => {
    const found = probabilityOfOverfitting([
      ...trialsWith(1, [0.5], 100),
      new Float64Array(100),
      new Float64Array(100),
    ])!;
    expect(found.probability).toBeLessThan(0.05);
    expect(probabilityOfOverfitting([new Float64Array(100), new Float64Array(100)])).toMatchObject({
      loss_probability: 0,
      degradation_slope: null,
    });
  });

  it('PBO gives equal trials their mean rank', () => {
    const [one] = trialsWith(1, [0.5], 100);
    expect(probabilityOfOverfitting([one!, one!, one!])!.probability).toBe(1);
    const withOthers = [one!, one!, new Float64Array(100), new Float64Array(100)];
    expect(probabilityOfOverfitting(withOthers)!.probability).toBe(0);
  });

  it.each([
    [9, null],
    [10, 2],
    [19, 2],
    [20, 4],
    [79, 14],
    [80, 16],
    [5000, 16],
  ])('PBO divides %d days into %o blocks', (days, blocks) => {
    const found = probabilityOfOverfitting(trialsWith(1, [0, 0.1], days));
    expect(found?.blocks ?? null).toBe(blocks);
  });

  it('PBO is null for fewer than two trials', () => {
    expect(probabilityOfOverfitting(trialsWith(1, [0], 100))).toBeNull();
    expect(probabilityOfOverfitting([])).toBeNull();
  });
});
