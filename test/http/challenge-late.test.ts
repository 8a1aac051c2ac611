import { expect, it } from 'vitest';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { closedTotals, storeChallenge } from '../support/challenge-scenarios.ts';
import { fileEngine } from '../support/file-engine.ts';

const engine = fileEngine();

/** Each way to end a challenge, with the expected state. */
const ENDS: Record<
  string,
  readonly [end: (fixture: ChallengeFixture, id: string) => Promise<unknown>, object]
> = {
  'the challenger has won': [
    (fixture, id) => fixture.log(id, 'challenger', generated(67890, 80, 1)),
    { status: 'completed', outcome: 'challenger_wins' },
  ],
  'it was promoted': [
    async (fixture, id) => {
      await fixture.log(id, 'challenger', generated(67890, 80, 1));
      await fixture.post(id, 'promote');
    },
    { status: 'completed', outcome: 'challenger_wins', traffic_split: [0, 1] },
  ],
  'its promotion lapsed': [
    async (fixture, id) => {
      await fixture.log(id, 'challenger', generated(67890, 80, 1));
      fixture.clock.forward(8 * 24 * HOUR);
    },
    { status: 'completed', outcome: 'champion_kept' },
  ],
  'the champion has won': [
    (fixture, id) => fixture.log(id, 'challenger', generated(67890, 80, -0.8)),
    { status: 'completed', outcome: 'champion_wins' },
  ],
  'it did harm': [
    (fixture, id) => fixture.log(id, 'challenger', generated(67890, 40, -5)),
    { status: 'rolled_back', reason: 'harm' },
  ],
  'it lost too much': [
    (fixture, id) => fixture.log(id, 'challenger', [-280], { leverage: 3 }),
    { status: 'rolled_back', reason: 'max_drawdown' },
  ],
  'it was rolled back by hand': [
    (fixture, id) => fixture.post(id, 'rollback'),
    { status: 'rolled_back', reason: 'manual' },
  ],
  'its time was up': [async (fixture) => fixture.clock.forward(40 * HOUR), { status: 'expired' }],
  'another version was promoted': [
    async (fixture) => {
      await fixture.register();
      await fixture.stage('3');
      await fixture.promote('3');
    },
    { status: 'rolled_back', reason: 'champion_replaced' },
  ],
  'the challenger was promoted in the registry': [
    (fixture) => fixture.promote('2'),
    { status: 'completed', outcome: 'promoted_manually' },
  ],
};

/** State that a late trade must not change. */
async function frozen(fixture: ChallengeFixture, id: string) {
  const { evaluated_at: _, open_trades: __, ...evaluation } = await fixture.evaluate(id);
  const { late_trades: ___, updated_at: ____, ...challenge } = (await fixture.read(id)).body;
  const { stages, equity, events } = (await fixture.deps.challenges.read(id))!;
  return { evaluation, challenge, totals: { stages, equity }, events };
}

it.each(Object.keys(ENDS))('late trades change nothing when the challenge ended because %s', async (name) => {
  const [end, expected] = ENDS[name]!;
  const fixture = await challengeFixture(engine);
  const id = 'ch-late';
  const policy = { max_duration_hours: 40, max_drawdown_pct: 250 };
  const ends_at = new Date(fixture.clock.now() + 40 * HOUR).toISOString();
  const variants = [4, closedTotals(100, 0.4, 1.8), closedTotals(20, 0.5, 1.8)] as const;
  await storeChallenge(fixture, id, [variants], { ...policy, ends_at });
  const opened = { trade_id: 'open', variant: 'challenger', status: 'open' };
  await fixture.post(id, 'trades', opened);
  const counted = { trade_id: 'counted', variant: 'champion', profit_pct: 0.4 };
  await fixture.post(id, 'trades', counted);
  const before = new Date(fixture.clock.now()).toISOString();
  fixture.clock.forward(HOUR);
  await end(fixture, id);
  const tick = () => processDueChallenges(fixture.deps, () => expect.unreachable());
  await tick();
  const left = await frozen(fixture, id);
  const { late: lateBefore } = (await fixture.deps.challenges.read(id))!;
  expect(left.challenge).toMatchObject(expected);
  fixture.clock.forward(HOUR);
  const late = [
    // Open at the end and closed afterwards.
    { trade_id: 'open', variant: 'challenger', profit_pct: 400 },
    { trade_id: 'untold', variant: 'champion', profit_pct: -90 },
    { trade_id: 'opened before', variant: 'challenger', profit_pct: 300, opened_at: before },
    { trade_id: 'with a key', variant: 'challenger', profit_pct: 300, assignment_key: 'late' },
    { trade_id: 'still open', variant: 'champion', status: 'open', opened_at: before },
  ];
  const { status, body } = await fixture.post(id, 'trades', { trades: late });
  expect(status).toBe(201);
  expect(body.items.map((item: any) => [item.accepted, item.late, item.duplicate])).toEqual(
    late.map(() => [true, true, false]),
  );
  const after = new Date(fixture.clock.now()).toISOString();
  const since = { trade_id: 'since', variant: 'champion', profit_pct: 1, opened_at: after };
  expect((await fixture.post(id, 'trades', since)).body.detail.code).toBe('RES005');
  // Trades reported before stay duplicates; a repeated late trade is one too.
  for (const again of [opened, counted, late[1]!]) {
    expect((await fixture.post(id, 'trades', again)).body).toMatchObject({ accepted: true, duplicate: true });
  }
  await tick();
  expect(await frozen(fixture, id)).toEqual(left);
  expect((await fixture.read(id)).body.late_trades).toBe(lateBefore + late.length);
  const { items } = await fixture.deps.challenges.trades(id, 1000, null);
  const stored = new Map(items.map((trade) => [trade.trade_id, trade.late]));
  expect(late.map(({ trade_id }) => stored.get(trade_id))).toEqual(late.map(() => true));
});
