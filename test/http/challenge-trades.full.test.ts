import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';
import { challengeFixtures, totals } from './challenge-trades-fixture.ts';

const scene = challengeFixtures();
const { started } = scene;

it('200 concurrent posts with duplicates count each trade once, with exact sums', async () => {
  const first = await challengeFixture(scene.engine);
  const id = (await first.create({ enable_canary: false, min_trades: 1000 })).body.challenge_id;
  // A second host has no common queue with the first.
  const tables = { jobs: first.jobsTable, registry: first.table, series: '' };
  const second = await registryFixture(scene.engine, { tables, deps: { clock: first.clock } });
  // Sums of multiples of 0.25 are exact in any order.
  const trades = Array.from({ length: 100 }, (_, n) => ({
    trade_id: `t-${n}`,
    variant: n % 2 ? 'challenger' : 'champion',
    profit_pct: ((n * 7) % 40) / 4 - 5,
  }));
  const posts = [...trades, ...trades].map((trade, n) =>
    (n % 3 ? first : second).strategy('POST', `/challenges/${id}/trades`, trade),
  );
  const responses = await Promise.all(posts);
  // A write conflict (503) and, on a loaded machine, the time limit of a call (504) ask for a retry.
  for (const [n, { status }] of responses.entries()) {
    expect([200, 201, 503, 504]).toContain(status);
    if (status >= 503) await first.post(id, 'trades', trades[n % 100]!);
  }
  expect(responses.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(100);
  const expected = (variant: string) => {
    const profits = trades.filter((trade) => trade.variant === variant).map(({ profit_pct }) => profit_pct);
    const sum = (of: (profit: number) => number) => profits.reduce((all, profit) => all + of(profit), 0);
    return { n: 50, sum: sum((profit) => profit), squares: sum((profit) => profit * profit) };
  };
  expect(await totals(first, id)).toEqual({
    champion: expected('champion'),
    challenger: expected('challenger'),
  });
  const { body } = await first.read(id, '/trades?limit=100');
  expect(new Set(body.items.map(({ trade_id }: any) => trade_id)).size).toBe(100);
  expect(body.items.map(({ sequence }: any) => sequence)).toEqual(
    Array.from({ length: 100 }, (_, n) => 100 - n),
  );
});

it('reading an evaluation changes no outcome', async () => {
  const [fixture, first] = await started({ enable_canary: false, max_duration_hours: 40 });
  await fixture.post(first, 'rollback');
  const steps = [
    { variant: 'champion', profits: generated(12345, 60, 0) },
    { variant: 'challenger', profits: generated(67890, 60, 0.4) },
    { variant: 'champion', profits: generated(12346, 60, 0) },
    { variant: 'challenger', profits: generated(67891, 60, 0.4) },
  ] as const;
  const play = async (reads: readonly number[]) => {
    const { body } = await fixture.create({ enable_canary: false, max_duration_hours: 40 });
    const id = body.challenge_id;
    const look = async (place: number) => {
      for (let n = 0; n < reads[place]!; n++) {
        await fixture.evaluate(id);
        await fixture.read(id);
        await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=k`);
      }
    };
    for (const [place, { variant, profits }] of steps.entries()) {
      await look(place);
      await fixture.log(id, variant, profits);
      fixture.clock.forward(HOUR);
    }
    await look(steps.length);
    fixture.clock.forward(40 * HOUR);
    await look(steps.length + 1);
    // The first read stores the expiry.
    await fixture.read(id);
    const { stages, planned_look, status, outcome, equity, trades, events } =
      (await fixture.deps.challenges.read(id))!;
    const {
      evaluated_at: _,
      challenge_id: __,
      planned_look: ___,
      ...evaluation
    } = await fixture.evaluate(id);
    if (status === 'active' || outcome === 'challenger_wins') await fixture.post(id, 'rollback');
    return {
      status,
      outcome,
      equity,
      trades,
      events,
      evaluation,
      look: planned_look && { ...planned_look, at: '' },
      stages: stages.map((stage) => ({ ...stage, since: '' })),
    };
  };
  const unread = await play([0, 0, 0, 0, 0, 0]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }), async (reads) => {
      expect(await play(reads)).toEqual(unread);
    }),
    { numRuns: 6, seed: 7 },
  );
});
