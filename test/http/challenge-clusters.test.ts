import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { studentTwoSidedP } from '#engine/stats/distributions.ts';
import { permutationTest } from '#engine/stats/permutation.ts';
import { generated } from '../support/challenge-fixture.ts';
import { T14 } from '../support/clustered-trades.ts';
import { engine, fixture, started, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';
import { registryFixture } from '../support/registry-fixture.ts';

useOneChallengeFixture();

type Variant = 'champion' | 'challenger';

/** A challenge whose trades of one key are one cluster. */
const clustered = (body: object = {}) => started({ analysis_unit: 'assignment_key', ...body });

/** Keys that fall to a variant at 50 %, by the digest of the challenge and the key. */
function keysOf(id: string, variant: Variant, count: number): string[] {
  const keys: string[] = [];
  for (let n = 0; keys.length < count; n++) {
    const bucket = createHash('sha256').update(`${id}:key-${n}`).digest().readUInt32BE() / 2 ** 32;
    if (bucket < 0.5 === (variant === 'challenger')) keys.push(`key-${n}`);
  }
  return keys;
}

/** Trades of a variant with one key per list. */
function keyed(id: string, variant: Variant, lists: readonly (readonly number[])[]) {
  const keys = keysOf(id, variant, lists.length);
  return lists.flatMap((profits, list) =>
    profits.map((profit_pct, n) => ({
      trade_id: `${variant}-${list}-${n}`,
      variant: variant,
      profit_pct,
      assignment_key: keys[list]!,
    })),
  );
}

async function logAll(id: string, trades: readonly object[]) {
  for (let start = 0; start < trades.length; start += 100) {
    const { status } = await fixture.post(id, 'trades', { trades: trades.slice(start, start + 100) });
    expect(status).toBe(201);
  }
}

/** Standard error of a confidence interval at a number of trades, by the formula of src/engine/stats/always-valid.ts; it is tuned to 400. */
function errorBehind([low, high]: [number, number], effectiveSize: number): number {
  const bits = -2 * Math.log(0.05);
  const x = (effectiveSize * (bits + Math.log(1 + bits))) / 400;
  return (high - low) / 2 / Math.sqrt(((1 + x) / x) * 2 * Math.log(Math.sqrt(1 + x) / 0.05));
}

it('trades of one key are one cluster, also when opened first without the key (T14)', async () => {
  const id = await clustered();
  const trades = [...keyed(id, 'champion', T14.champion), ...keyed(id, 'challenger', T14.challenger)];
  const shuffled = trades.map((_, n) => trades[(n * 7) % trades.length]!);
  const opened = shuffled.slice(0, 6).map(({ profit_pct: _, ...trade }) => ({ ...trade, status: 'open' }));
  await logAll(id, opened);
  await logAll(
    id,
    shuffled.slice(0, 6).map(({ assignment_key: _, ...trade }) => trade),
  );
  await logAll(id, shuffled.slice(6));
  const evaluation = await fixture.evaluate(id);
  expect(evaluation).toMatchObject({
    analysis_unit: 'assignment_key',
    clusters: { champion: 5, challenger: 5 },
    champion_trades: 12,
    challenger_trades: 12,
    open_trades: { champion: 0, challenger: 0 },
    warnings: expect.not.arrayContaining([expect.stringContaining('dependent_trades')]),
  });
  expect(evaluation.champion_mean).toBeCloseTo(0.375, 12);
  expect(evaluation.challenger_mean).toBeCloseTo(0.658333333, 9);
  // 12 and 12 trades have an effective size of 24.
  const error = errorBehind(evaluation.confidence_interval, 24);
  expect((0.658333333 - 0.375) / error).toBeCloseTo(0.653675, 6);
  const [ua, ub] = [0.115505642, 0.072370515];
  const df = (ua + ub) ** 2 / (ua ** 2 / 4 + ub ** 2 / 4);
  expect(evaluation.p_value_fixed).toBeCloseTo(studentTwoSidedP(0.653675, df), 6);
  // 2.80 standard errors relative to the champion's mean.
  expect(evaluation.minimum_detectable_improvement_pct).toBeCloseTo((2.801585 * error * 100) / 0.375, 2);
});

it('unit trade treats trades of one key as independent and warns (T14)', async () => {
  const id = await started();
  await logAll(id, [...keyed(id, 'champion', T14.champion), ...keyed(id, 'challenger', T14.challenger)]);
  const evaluation = await fixture.evaluate(id);
  expect(evaluation).toMatchObject({ analysis_unit: 'trade', clusters: null });
  expect((0.658333333 - 0.375) / errorBehind(evaluation.confidence_interval, 24)).toBeCloseTo(1.10928, 6);
  // One of the ten keys has a single trade.
  expect(evaluation.warnings).toContainEqual(expect.stringMatching(/^dependent_trades: 9 keys/));
  const independent = await started();
  await logAll(independent, keyed(independent, 'champion', [[1], [2]]));
  await fixture.post(independent, 'trades', {
    ...keyed(independent, 'champion', [[1, 3]])[1],
    status: 'open',
  });
  expect(JSON.stringify((await fixture.evaluate(independent)).warnings)).not.toContain('dependent_trades');
});

it('key keeps the stage of its first trade', async () => {
  const id = await clustered({ enable_canary: true });
  const trade = { variant: 'champion', profit_pct: 1, assignment_key: 'k' };
  const first = await fixture.post(id, 'trades', { ...trade, trade_id: 'a' });
  const variant = first.body.misassigned ? 'challenger' : 'champion';
  fixture.clock.forward(1000);
  await fixture.post(id, 'advance');
  fixture.clock.forward(1000);
  const opened_at = new Date(fixture.clock.now()).toISOString();
  const later = { ...trade, variant, trade_id: 'b', opened_at };
  expect((await fixture.post(id, 'trades', later)).body.canary_stage).toBe('stage_1');
  const other = { ...later, trade_id: 'c', assignment_key: undefined };
  expect((await fixture.post(id, 'trades', other)).body.canary_stage).toBe('stage_2');
});

it('concurrent posts of one key from two hosts give the totals of sequential posts', async () => {
  const id = await clustered();
  const tables = { jobs: fixture.jobsTable, registry: fixture.table, series: '' };
  const second = await registryFixture(engine, { tables, deps: { clock: fixture.clock } });
  const lists = [0, 1, 2].map((list) => Array.from({ length: 8 }, (_, n) => (list * 5 + n * 3) / 4 - 2));
  const trades = keyed(id, 'challenger', lists);
  const responses = await Promise.all(
    [...trades, ...trades].map((trade, n) =>
      (n % 2 ? fixture : second).strategy('POST', `/challenges/${id}/trades`, trade),
    ),
  );
  for (const [n, { status }] of responses.entries())
    if (status === 503) await fixture.post(id, 'trades', trades[n % trades.length]!);
  const { stages } = (await fixture.deps.challenges.read(id))!;
  const sums = lists.map((list) => list.reduce((a, b) => a + b, 0));
  const total = (of: (sum: number) => number) => [sums.reduce((all, sum) => all + of(sum), 0), 0];
  expect(stages[0]!.challenger).toMatchObject({
    closed: 24,
    assigned: 3,
    sum: total((sum) => sum),
    clusters: { count: 3, squares: total((s) => s * s), products: total((s) => 8 * s), sizes: 3 * 64 },
  });
});

it('commit fails when another write changed the key after it was read', async () => {
  const id = await clustered();
  const [trade] = keyed(id, 'champion', [[1, 2]]);
  await fixture.post(id, 'trades', trade);
  const store = fixture.deps.challenges;
  const { challenge: before, assignments } = await store.find(id, {
    assignmentKeys: [trade!.assignment_key],
  });
  const read = assignments.get(trade!.assignment_key)!;
  const after = { ...before!, revision: before!.revision + 1 };
  const write = (revision: number) =>
    store.commit({
      before: before!,
      after,
      events: [],
      assignments: [{ before: { ...read, revision }, after: { ...read, revision: read.revision + 1 } }],
    });
  expect(await write(read.revision - 1)).toBe('conflict');
  expect(await write(read.revision)).toBe('done');
});

it('verdict waits for 20 keys of each variant and permutes keys when variants are unbalanced', async () => {
  const id = await clustered();
  const lists = (seed: number, count: number, rareLoss: number) =>
    Array.from({ length: count }, (_, n) => generated(n + 7 * seed, 5, n % 15 === 0 ? rareLoss : 0.5));
  // The loss of one key in 15 has not occurred in the challenger yet.
  const champion = lists(3, 45, -8);
  const challenger = lists(11, 20, 0.5);
  await logAll(id, [...keyed(id, 'champion', champion), ...keyed(id, 'challenger', challenger.slice(0, 19))]);
  const more = keyed(id, 'challenger', challenger.slice(0, 1)).flatMap((trade) =>
    [1, 2].map((n) => ({ ...trade, trade_id: `more-${trade.trade_id}-${n}` })),
  );
  await logAll(id, more);
  const early = await fixture.evaluate(id);
  expect(early.planned_look).toBeNull();
  expect(early.challenger_trades).toBe(105);
  expect(early.criteria).toContainEqual({
    name: 'min_clusters',
    operator: '>=',
    threshold: 20,
    value: 19,
    passed: false,
  });
  const [last] = keyed(id, 'challenger', challenger).slice(-5);
  await fixture.post(id, 'trades', last);
  const { planned_look, p_value_fixed } = await fixture.evaluate(id);
  expect(planned_look).toMatchObject({
    champion_trades: 225,
    challenger_trades: 106,
    p_value_method: 'permutation',
  });
  const clusters = (all: readonly (readonly number[])[]) =>
    all.map((list) => ({ size: list.length, sum: [list.reduce((a, b) => a + b, 0), 0] as const }));
  const [first, ...others] = challenger.slice(0, 19);
  const variants = {
    a: clusters(champion),
    b: clusters([[...first!, ...first!, ...first!], ...others, challenger[19]!.slice(0, 1)]),
  };
  const { p } = permutationTest([variants], 1)!;
  expect(Math.abs(planned_look.p_value - Math.max(p, p_value_fixed))).toBeLessThan(0.02);
  // With unit trade the verdict would already be made.
  const byTrade = permutationTest([{ a: champion.flat(), b: challenger.flat() }], 1)!;
  expect(byTrade.p).toBeLessThan(planned_look.p_value - 0.1);
});

it('batch of 100 new keys is stored together with its verdict and promotion', async () => {
  const id = await clustered({ auto_promote: true });
  await logAll(
    id,
    keyed(
      id,
      'champion',
      generated(12345, 100, 0).map((profit) => [profit]),
    ),
  );
  // Keys of only one variant hold it; a held challenge is not promoted automatically.
  await fixture.post(id, 'resume');
  await logAll(
    id,
    keyed(
      id,
      'challenger',
      generated(67890, 100, 1).map((profit) => [profit]),
    ),
  );
  expect(await fixture.evaluate(id)).toMatchObject({
    status: 'completed',
    clusters: { champion: 100, challenger: 100 },
    traffic_split: [0, 1],
    assignments: { champion: 100, challenger: 100 },
  });
});

it('unknown analysis unit is rejected', async () => {
  const { status, body } = await fixture.create({ analysis_unit: 'day' });
  expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', 'analysis_unit']);
});
