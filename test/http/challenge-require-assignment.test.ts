import { beforeAll, expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

/** `require_assignment`: only trades of assigned keys count. */

const engine = fileEngine();
let fixture: ChallengeFixture;
beforeAll(async () => {
  fixture = await challengeFixture(engine, { deps: { challengeRequireAssignment: true } });
});

/** A new challenge without a canary. */
async function started(body: object = {}, own = fixture) {
  const { active_challenge_id: active } = (await own.store.read(MODEL, [])).model!;
  if (active) await own.post(active, 'rollback');
  return (await own.create({ enable_canary: false, ...body })).body;
}

const stored = async (id: string) => {
  const { stages, equity } = (await fixture.deps.challenges.read(id))!;
  return { stages, equity };
};

it('require_assignment defaults to the setting of the platform and can be set either way', async () => {
  expect((await started()).require_assignment).toBe(true);
  const without = await started({ require_assignment: false });
  expect(without.require_assignment).toBe(false);
  expect(without.warnings).toEqual([
    'require_assignment is off: trades whose key was not assigned count; on this platform the default is on',
  ]);
  const open = await challengeFixture(engine);
  expect(await started({}, open)).toMatchObject({ require_assignment: false, warnings: [] });
  expect(await started({ require_assignment: true }, open)).toMatchObject({ require_assignment: true });
});

it('200 trades without assigned keys do not promote a version', async () => {
  const own = await challengeFixture(engine, { deps: { challengeRequireAssignment: true } });
  const { challenge_id: id } = await started({ auto_promote: true }, own);
  await own.log(id, 'champion', generated(12345, 100, 0));
  const { body } = await own.log(id, 'challenger', generated(67890, 100, 1));
  expect(body).toMatchObject({ status: 'active', champion_trades: 0, challenger_trades: 0 });
  expect((await own.store.read(MODEL, [])).model!.production_version).toBe('1');
  expect((await own.read(id)).body).toMatchObject({ unassigned_trades: 200, champion_trades: 0 });
  expect((await own.evaluate(id)).warnings).toEqual([
    'unassigned: 200 trades have no key that was assigned before and do not count',
  ]);
});

it('trade without an assigned key is stored as unassigned and changes no totals', async () => {
  const { challenge_id: id } = await started({ max_errors: 1, max_drawdown_pct: 20 });
  const empty = await stored(id);
  const trade = (trade_id: string, fields: object = {}) => ({
    trade_id,
    variant: 'challenger',
    profit_pct: -90,
    ...fields,
  });
  const error = { status: 'error', profit_pct: undefined };
  const trades = [
    trade('no key'),
    trade('new key', { assignment_key: 'k' }),
    trade('same key', { assignment_key: 'k' }),
    trade('open', { status: 'open' }),
    trade('open'),
    ...[1, 2, 3].map((n) => trade(`error-${n}`, { ...error, assignment_key: `e-${n}` })),
  ];
  const { status, body } = await fixture.post(id, 'trades', { trades });
  expect(status).toBe(201);
  expect(body.items.map((item: any) => [item.accepted, item.unassigned, item.misassigned])).toEqual(
    trades.map(() => [true, true, false]),
  );
  expect(await stored(id)).toEqual(empty);
  const { items } = (await fixture.read(id, '/trades')).body;
  expect(items.map((item: any) => item.unassigned)).toEqual(items.map(() => true));
  // The trade has not assigned its key; from its assignment on, further trades of it count.
  const assigned = (await fixture.post(id, 'assignments', { assignment_key: 'k' })).body;
  expect(assigned.repeated).toBe(false);
  const after = trade('after', { variant: assigned.variant, profit_pct: 1, assignment_key: 'k' });
  expect((await fixture.post(id, 'trades', after)).body).toMatchObject({
    unassigned: false,
    misassigned: false,
    [`${assigned.variant}_trades`]: 1,
  });
  const other = { ...after, trade_id: 'other' };
  const wrong = { ...other, variant: assigned.variant === 'champion' ? 'challenger' : 'champion' };
  expect((await fixture.post(id, 'trades', wrong)).body).toMatchObject({
    unassigned: false,
    misassigned: true,
  });
});

it('trade that was over, or open for more than 60 s, when its key was assigned does not count', async () => {
  const { challenge_id: id } = await started();
  fixture.clock.forward(HOUR);
  const ago = (seconds: number) => new Date(fixture.clock.now() - 1000 * seconds).toISOString();
  const assigned = async (key: string) =>
    (await fixture.post(id, 'assignments', { assignment_key: key })).body.variant;
  const flags = async (trade_id: string, times: object, close?: object) => {
    const variant = await assigned(trade_id);
    const trade = { trade_id, assignment_key: trade_id, variant, profit_pct: 9 };
    let { body } = await fixture.post(id, 'trades', { ...trade, ...times, ...(close && { status: 'open' }) });
    if (close) ({ body } = await fixture.post(id, 'trades', { ...trade, ...times, ...close }));
    return [body.unassigned, body.champion_trades + body.challenger_trades];
  };
  expect(await flags('over', { opened_at: ago(3), closed_at: ago(1) })).toEqual([true, 0]);
  expect(await flags('over, without an open time', { closed_at: ago(1) })).toEqual([true, 0]);
  expect(await flags('open', { opened_at: ago(61) })).toEqual([true, 0]);
  expect(await flags('known at its close', {}, { closed_at: ago(1) })).toEqual([true, 0]);
  expect(await flags('clock behind', { opened_at: ago(60) })).toEqual([false, 1]);
  expect((await fixture.read(id)).body).toMatchObject({ unassigned_trades: 4 });
});

it('without require_assignment a trade assigns its new key and counts', async () => {
  const { challenge_id: id } = await started({ require_assignment: false });
  const trade = { trade_id: 'a', version: '1', profit_pct: 1, assignment_key: 'k' };
  const { body } = await fixture.post(id, 'trades', trade);
  expect(body.unassigned).toBe(false);
  expect(body.champion_trades).toBe(body.misassigned ? 0 : 1);
  expect((await fixture.post(id, 'assignments', { assignment_key: 'k' })).body.repeated).toBe(true);
});
