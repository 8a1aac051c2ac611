import { expect, it } from 'vitest';
import { challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { closedTotals, storeChallenge } from '../support/challenge-scenarios.ts';
import { engine, fixture, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';

useOneChallengeFixture();

const evaluationsOf = async (id: string, query = '') => (await fixture.read(id, `/evaluations${query}`)).body;

it('evaluations of a challenge hold interval, p, split and both equity curves, oldest first', async () => {
  const { body: created } = await fixture.create({ enable_canary: true, min_trades: 100 });
  const id: string = created.challenge_id;
  expect(await evaluationsOf(id)).toMatchObject({
    items: [],
    next_cursor: null,
    current: { champion_trades: 0, confidence_interval: null, equity: { champion: 0, challenger: 0 } },
  });
  await fixture.log(id, 'champion', [1]);
  await fixture.log(id, 'challenger', [0.5]);
  await fixture.log(id, 'champion', [-0.25]);
  await fixture.log(id, 'challenger', [2]);
  await fixture.log(id, 'champion', [9], { status: 'open' });
  const { items } = await evaluationsOf(id);
  expect(items.map(({ equity }: any) => [equity.champion, equity.challenger])).toEqual([
    [1, 0],
    [1, 0.5],
    [0.75, 0.5],
    [0.75, 2.5],
  ]);
  expect(items.map(({ mean }: any) => [mean.champion, mean.challenger])).toEqual([
    [1, null],
    [1, 0.5],
    [0.375, 0.5],
    [0.375, 1.25],
  ]);
  // The last one is what `evaluate` returns.
  const evaluation = await fixture.evaluate(id);
  expect(items.at(-1)).toMatchObject({
    sequence: 4,
    champion_trades: 2,
    challenger_trades: 2,
    traffic_split: [0.95, 0.05],
    difference: 1.25 - 0.375,
    p_value: expect.closeTo(evaluation.p_value, 10),
    confidence_interval: evaluation.confidence_interval.map((end: number) => expect.closeTo(end, 9)),
    improvement_pct: expect.closeTo(evaluation.improvement_pct, 9),
  });
  await fixture.post(id, 'advance');
  await fixture.post(id, 'rollback');
  const page = await evaluationsOf(id, '?limit=5');
  expect(page.items.map(({ sequence }: any) => sequence)).toEqual([1, 2, 3, 4, 5]);
  expect(page.items[4]).toMatchObject({ canary_stage: 'stage_2', traffic_split: [0.9, 0.1] });
  const rest = await evaluationsOf(id, `?limit=5&cursor=${page.next_cursor}`);
  expect(rest.items).toMatchObject([{ sequence: 6, status: 'rolled_back', traffic_split: [1, 0] }]);
  const { sequence: _, ...last } = rest.items[0];
  expect(rest.current).toMatchObject({ ...last, evaluated_at: expect.any(String) });
});

it('an evaluation is stored when the closed trades have increased by 1 %', async () => {
  const id = `ch-${'0'.repeat(26)}`;
  const totals = closedTotals(500, 0.4, 1.8);
  const changes = { trades: 1_000, evaluations: 40, evaluated_trades: 1_000, min_trades: 100_000 };
  await storeChallenge(fixture, id, [[4, totals, totals]], changes);
  for (const profit of generated(7, 12, 0)) await fixture.log(id, 'champion', [profit]);
  const { items } = await evaluationsOf(id);
  expect(items).toMatchObject([{ sequence: 41, champion_trades: 510, challenger_trades: 500 }]);
});

it('challenges of all models are listed newest first by page and by current status', async () => {
  const own = await challengeFixture(engine);
  const ids: string[] = [];
  // The clock does not move: the challenges were all created at one time.
  for (const end of ['rollback', 'rollback', undefined]) {
    const { challenge_id } = (await own.create({ max_duration_hours: 24 })).body;
    ids.unshift(challenge_id);
    if (end) await own.post(challenge_id, end);
  }
  const list = async (query: string) => (await own.strategy('GET', `/api/v1/challenges?${query}`)).body;
  const idsOf = ({ items }: any) => items.map(({ challenge_id }: any) => challenge_id);
  expect((await list('')).items[0]).toEqual((await own.read(ids[0]!)).body);
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: any = await list(`limit=1${cursor && `&cursor=${cursor}`}`);
    pages.push(...idsOf(page));
    cursor = page.next_cursor;
  }
  expect(pages).toEqual(ids);
  expect(idsOf(await list('status=active'))).toEqual([ids[0]]);
  expect(idsOf(await list('status=rolled_back&limit=1'))).toEqual([ids[1]]);
  own.clock.forward(24 * HOUR);
  expect(idsOf(await list('status=active'))).toEqual([]);
  expect(idsOf(await list('status=expired'))).toEqual([ids[0]]);
  const { body } = await own.strategy('GET', '/api/v1/challenges?cursor=bm8');
  expect(body.detail).toMatchObject({ code: 'VAL006', field: 'cursor' });
});
