import { expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture, generated } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

const engine = fileEngine();

// docs/challenges.md#verdict-rules: above 10 %, more than 20 points, over the limit. Sums of decimals differ in the last digit.
it('verdict fails a metric that equals its threshold', async () => {
  const fixture = await challengeFixture(engine);
  const begin = async (body: object = {}) =>
    (await fixture.create({ enable_canary: false, ...body })).body.challenge_id;
  for (const [champion, challenger] of [
    [1, 1.1],
    [0.3, 0.33],
    [-1, -0.9],
  ]) {
    const id = await begin();
    await fixture.log(id, 'champion', Array(100).fill(champion));
    await fixture.log(id, 'challenger', Array(100).fill(challenger));
    expect(await fixture.evaluate(id)).toMatchObject({ status: 'active', p_value: 0, improvement_pct: 10 });
    await fixture.post(id, 'rollback');
  }
  for (const [limit, profits, more] of [
    [0.3, [-0.1, -0.1, -0.1], -0.001],
    [10, Array(100).fill(-0.1), -0.001],
    [0.9, [0.1, 0.2, -0.3, -0.6], -0.001],
  ] as const) {
    const id = await begin({ max_drawdown_pct: limit });
    await fixture.log(id, 'challenger', profits);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'active', challenger_drawdown_pct: limit });
    await fixture.log(id, 'challenger', [more]);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'rolled_back', reason: 'max_drawdown' });
  }
  // 18 of 20 and 14 of 20.
  const id = await begin();
  for (const [variant, open] of [
    ['champion', 14],
    ['challenger', 18],
  ] as const) {
    await fixture.log(id, variant, Array(20 - open).fill(1));
    const trades = Array.from({ length: open }, (_, n) => ({ trade_id: `${variant}-${n}`, variant }));
    await fixture.post(id, 'trades', { trades: trades.map((trade) => ({ ...trade, status: 'open' })) });
  }
  expect((await fixture.read(id)).body.hold).toBeNull();
  const { criteria } = await fixture.evaluate(id);
  expect(criteria.at(-1)).toMatchObject({ name: 'open_trade_gap', value: 20, passed: true });
});

// docs/challenges.md#promotion: a verdict without automatic promotion; a held challenge waits for a user.
it.each<[string, (fixture: ChallengeFixture, id: string) => Promise<unknown>, string | null]>([
  ['by trades that do not vary', async () => undefined, 'zero variance'],
  ['during a manual hold', (fixture, id) => fixture.post(id, 'hold'), 'held when it won: manual'],
  [
    'with a sample ratio mismatch',
    (fixture, id) => misassign(fixture, id),
    'held when it won: sample_ratio_mismatch',
  ],
  [
    'with a mismatch that a user has accepted',
    async (fixture, id) => {
      await misassign(fixture, id);
      await fixture.post(id, 'resume');
    },
    null,
  ],
])('promotion_rejected states the reason of a win %s', async (name, prepare, message) => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: false, auto_promote: true })).body.challenge_id;
  await prepare(fixture, id);
  const [worse, better] = name.includes('vary')
    ? [Array(100).fill(1), Array(100).fill(1.2)]
    : [generated(12345, 100, 0), generated(67890, 100, 1)];
  await fixture.log(id, 'champion', worse);
  await fixture.log(id, 'challenger', better);
  const { body } = await fixture.read(id);
  expect(body).toMatchObject({ status: 'completed', outcome: 'challenger_wins', hold: null });
  if (message !== null) {
    expect(body.promoted_at).toBeNull();
    expect(body.promotion_rejected).toMatchObject({
      code: 'RES005',
      message: expect.stringContaining(message),
    });
    expect((await fixture.read(id, '/events?limit=1')).body.items[0].action).toBe('promotion_rejected');
    await fixture.post(id, 'promote');
  }
  expect((await fixture.read(id)).body.traffic_split).toEqual([0, 1]);
});

/** Assigns keys of the champion only: 11 of 11 at 50 % have p < 0.001. */
async function misassign(fixture: ChallengeFixture, id: string): Promise<void> {
  for (let n = 0, given = 0; given < 11; n++) {
    const { body } = await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=k-${n}`);
    if (body.variant !== 'champion') continue;
    await fixture.post(id, 'assignments', { assignment_key: `k-${n}` });
    given++;
  }
  expect((await fixture.read(id)).body.hold.reason).toBe('sample_ratio_mismatch');
}

it('promotion lapses when another version enters Production', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
  await fixture.log(id, 'champion', generated(12345, 100, 0));
  await fixture.log(id, 'challenger', generated(67890, 100, 1));
  await fixture.register();
  await fixture.stage('3');
  expect((await fixture.promote('3')).status).toBe(200);
  expect((await fixture.read(id)).body).toMatchObject({
    status: 'completed',
    outcome: 'champion_kept',
    reason: 'champion_replaced',
    promoted_at: null,
    traffic_split: [1, 0],
  });
  expect((await fixture.read(id, '/events?limit=1')).body.items[0]).toMatchObject({
    action: 'keep_champion',
    reason: 'champion_replaced',
    actor: 'anonymous',
  });
  expect((await fixture.evaluate(id)).recommendation).toBe('KEEP_CHAMPION');
  const { body } = await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=new`);
  expect(body).toMatchObject({ version: '3', challenge_id: null });
});
