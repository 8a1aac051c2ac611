import { expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { challengeFixture } from '../support/challenge-fixture.ts';
import { compare } from '../support/challenge-model.ts';
import { closedTotals, repeatableFixture, storeChallenge } from '../support/challenge-scenarios.ts';
import { fileEngine } from '../support/file-engine.ts';

const engine = fileEngine();

// Vector T7 of test/engine/stats/welch.test.ts.
it('p-value is 1 with a single trade of a variant; the mean without trades is 0', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
  const nothing = { p_value: 1, p_value_fixed: 1, is_significant: false, recommendation: 'CONTINUE' };
  const none = { ...nothing, champion_mean: 0, challenger_mean: 0, improvement_pct: 0 };
  expect(await fixture.evaluate(id)).toMatchObject({ ...none, confidence_interval: null });
  await fixture.log(id, 'challenger', [1, 2, 3]);
  expect(await fixture.evaluate(id)).toMatchObject({ ...nothing, champion_mean: 0, challenger_mean: 2 });
  await fixture.log(id, 'champion', [0.5]);
  expect(await fixture.evaluate(id)).toMatchObject({ ...nothing, champion_mean: 0.5, challenger_mean: 2 });
});

// Vector T8 of test/engine/stats/welch.test.ts.
it("comparison is stratified by canary stage when the pooled means reverse (Simpson's paradox)", async () => {
  const fixture = await challengeFixture(engine);
  await storeChallenge(
    fixture,
    'ch-ramp',
    [
      [1, closedTotals(380, 0.5, 2), closedTotals(20, 0.8, 2.2)],
      [2, closedTotals(180, 0.3, 1.9), closedTotals(20, 0.55, 2.1)],
      [3, closedTotals(60, 0, 2.1), closedTotals(20, 0.2, 2)],
      [4, closedTotals(40, -0.4, 2), closedTotals(40, -0.1, 2)],
    ],
    { min_trades: 1000, effective_min_trades: 1000 },
  );
  const found = await fixture.evaluate('ch-ramp');
  expect(found.champion_mean).toBeCloseTo(0.095833333333, 11);
  expect(found.challenger_mean).toBeCloseTo(0.3625, 11);
  expect(found.p_value_fixed).toBeCloseTo(0.27833809705, 11);
  expect(found.improvement_pct).toBeCloseTo(278.260869565, 8);
  expect(found.raw.champion_mean).toBeCloseTo(0.345454545455, 11);
  expect(found.raw.challenger_mean).toBeCloseTo(0.27, 11);
  expect([found.champion_trades, found.challenger_trades]).toEqual([660, 100]);
});

// Variants are equal in each stage, and the market improves while the challenger's share grows.
it('traffic ramp in a changing market does not promote', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create()).body.challenge_id;
  const around = (mean: number, n: number) =>
    Array.from({ length: n }, (_, i) => mean + ((i * 7) % 20) / 5 - 1.9);
  await fixture.log(id, 'champion', around(-1, 80));
  await fixture.log(id, 'challenger', around(-1, 20));
  for (let step = 0; step < 3; step++) await fixture.post(id, 'advance');
  await fixture.log(id, 'champion', around(2, 40));
  await fixture.log(id, 'challenger', around(2, 80));
  const found = await fixture.evaluate(id);
  expect(found).toMatchObject({ status: 'active', recommendation: 'CONTINUE', p_value: 1 });
  expect(found.planned_look).not.toBeNull();
  expect(found.improvement_pct).toBeCloseTo(0, 9);
  const { raw } = found;
  expect(raw.challenger_mean - raw.champion_mean).toBeCloseTo(1.4, 9);
});

// Values of SciPy, as in test/engine/stats/sample-ratio.test.ts.
it.each([
  [[[1, 930, 70]], 0.003709009991, 'healthy'],
  [[[3, 260, 140]], 3.8596e-6, 'mismatch'],
  [[[4, 520, 480]], 0.205903210732, 'healthy'],
  [
    [
      [1, 372, 28],
      [2, 176, 24],
      [3, 58, 22],
      [4, 41, 39],
    ],
    0.333865664953,
    'healthy',
  ],
] as const)('sample ratio test matches SciPy: %j', async (assigned, p, status) => {
  const fixture = await challengeFixture(engine);
  const stages = assigned.map(
    ([stage, a, b]) => [stage, closedTotals(0, 0, 0, a), closedTotals(0, 0, 0, b)] as const,
  );
  await storeChallenge(fixture, 'ch-split', stages);
  const { srm, assignments } = await fixture.evaluate('ch-split');
  expect(srm.status).toBe(status);
  expect(srm.p_value / p).toBeCloseTo(1, 5);
  expect(assignments.challenger).toBe(assigned.reduce((sum, [, , b]) => sum + b, 0));
  // The next trade holds the challenge only on a mismatch.
  await fixture.log('ch-split', 'champion', [0.1]);
  const { hold } = (await fixture.read('ch-split')).body;
  expect(hold?.reason ?? null).toBe(status === 'mismatch' ? 'sample_ratio_mismatch' : null);
});

/** Small winners and rare large losses. */
function shortVol(seed: number, n: number, shift: number): number[] {
  const random = createRandom(seed);
  return Array.from({ length: n }, () => {
    const value = random() < 0.86 ? 0.5 + random() : -4 - 4 * random();
    return Math.round(100 * (value + shift)) / 100;
  });
}

/** Two-sided p by definition: permute the labels and recompute the statistic. */
function permuted(champion: readonly number[], challenger: readonly number[], shuffles: number): number {
  const random = createRandom(99);
  const all = [...champion, ...challenger];
  const t = (values: readonly number[]) =>
    compare([
      { trades: { champion: values.slice(0, champion.length), challenger: values.slice(champion.length) } },
    ]).t;
  const seen = t(all);
  let up = 1;
  let low = 1;
  for (let n = 0; n < shuffles; n++) {
    for (let i = all.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [all[i], all[j]] = [all[j]!, all[i]!];
    }
    const value = t(all);
    if (value >= seen) up++;
    if (value <= seen) low++;
  }
  return Math.min(1, (2 * Math.min(up, low)) / (shuffles + 1));
}

// docs/challenges.md#verdict-rules: 220 against 100 trades are unbalanced.
it.each([
  ['promotes where the permutation test is significant too', 11, 'challenger_wins'],
  ['does not promote where only the Welch test is significant', 96, null],
])('unbalanced planned look %s', async (_, seed, outcome) => {
  const champion = shortVol(seed, 220, 0);
  const challenger = shortVol(seed + 1000, 100, 0.3);
  const plain = compare([{ trades: { champion, challenger } }]);
  expect(plain.p).toBeLessThan(0.05);
  const looks: unknown[] = [];
  // Equal trades with equal IDs have equal p-values on every host.
  for (let again = 0; again < 2; again++) {
    const fixture = await repeatableFixture(engine);
    const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    await fixture.log(id, 'champion', champion);
    await fixture.log(id, 'challenger', challenger);
    const found = await fixture.evaluate(id);
    looks.push(found.planned_look);
    expect(found).toMatchObject({
      status: outcome ? 'completed' : 'active',
      recommendation: outcome ? 'PROMOTE_CHALLENGER' : 'CONTINUE',
      p_value_method: 'permutation',
      p_value: found.planned_look.p_value,
      is_significant: outcome !== null,
    });
    expect(found.p_value_fixed).toBeCloseTo(plain.p, 9);
    expect((await fixture.read(id)).body.outcome).toBe(outcome);
  }
  const p = permuted(champion, challenger, 1999);
  const noise = 5 * Math.sqrt((2 * p) / 1999);
  expect(Math.abs((looks[0] as { p_value: number }).p_value - p)).toBeLessThan(noise);
  expect(looks[1]).toEqual(looks[0]);
});

it('planned look with variants of up to twice the other uses Welch only', async () => {
  const fixture = await repeatableFixture(engine);
  const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
  const champion = shortVol(96, 200, 0);
  const challenger = shortVol(1096, 100, 0.3);
  await fixture.log(id, 'champion', champion);
  await fixture.log(id, 'challenger', challenger);
  const { planned_look } = await fixture.evaluate(id);
  expect(planned_look.p_value_method).toBe('welch');
  expect(planned_look.p_value).toBeCloseTo(compare([{ trades: { champion, challenger } }]).p, 9);
});
