import { expect, it } from 'vitest';
import { HOUR } from '../support/challenge-fixture.ts';
import { fixture, started, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';

useOneChallengeFixture();

const failed = (trade_id: string, variant = 'challenger') => ({
  trade_id,
  variant,
  status: 'error',
  error_message: 'No order book',
});

it('error counts once for its variant and is not a trade', async () => {
  const id = await started();
  expect((await fixture.read(id)).body.max_errors).toBeNull();
  const first = await fixture.post(id, 'trades', failed('a'));
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({
    trade_status: 'error',
    challenger_trades: 0,
    recommendation: 'CONTINUE',
  });
  const again = await fixture.post(id, 'trades', failed('a'));
  expect([again.status, again.body.duplicate]).toEqual([200, true]);
  await fixture.post(id, 'trades', failed('b', 'champion'));
  await fixture.log(id, 'champion', [1, 2]);
  const changes = [
    { ...failed('a'), error_message: 'Another' },
    { trade_id: 'a', variant: 'challenger', profit_pct: 1 },
    { trade_id: 'a', variant: 'challenger', status: 'open' },
  ];
  for (const change of changes)
    expect((await fixture.post(id, 'trades', change)).body.detail.code).toBe('RES005');
  // An open trade is closed normally despite errors since.
  await fixture.post(id, 'trades', { trade_id: 'c', variant: 'challenger', status: 'open' });
  expect((await fixture.post(id, 'trades', failed('c'))).body.detail.code).toBe('RES005');
  expect(await fixture.evaluate(id)).toMatchObject({
    errors: { champion: 1, challenger: 1 },
    open_trades: { champion: 0, challenger: 1 },
    champion_trades: 2,
    champion_mean: 1.5,
    challenger_trades: 0,
    challenger_mean: 0,
  });
  expect((await fixture.read(id)).body).toMatchObject({ champion_errors: 1, challenger_errors: 1 });
  const { body } = await fixture.read(id, '/trades');
  expect(body.items.find((trade: any) => trade.trade_id === 'a')).toMatchObject({
    status: 'error',
    error_message: 'No order book',
    profit_pct: null,
    closed_at: null,
  });
});

it.each([
  [{ profit_pct: 1 }, 'profit_pct'],
  [{ profit_abs: 1 }, 'profit_abs'],
  [{ status: 'closed', profit_pct: 1 }, 'error_message'],
  [{ error_message: 'x'.repeat(501) }, 'error_message'],
])('error trade requires a message and has no profit: %j', async (change, field) => {
  const id = await started();
  const { status, body } = await fixture.post(id, 'trades', { ...failed('a'), ...change });
  expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', field]);
});

it('too many counted errors roll back immediately; others do not', async () => {
  const id = await started({ max_errors: 2 });
  // Errors of the champion and of keys assigned to it.
  const keys = ['k-0', 'k-1', 'k-2', 'k-3', 'k-4', 'k-5', 'k-6', 'k-7'];
  const trades = keys.map((key, n) => ({ ...failed(`k-${n}`), assignment_key: key }));
  const { body } = await fixture.post(id, 'trades', { trades: keys.map((key) => failed(key, 'champion')) });
  expect(body.status).toBe('active');
  const { items } = (await fixture.post(id, 'trades', { trades: [{ ...trades[0], trade_id: 'one' }] })).body;
  const counted = items.filter((item: any) => !item.misassigned).length;
  for (let n = counted; n < 2; n++) await fixture.post(id, 'trades', failed(`e-${n}`));
  expect((await fixture.read(id)).body).toMatchObject({ status: 'active', challenger_errors: 2 });
  const last = await fixture.post(id, 'trades', failed('last'));
  expect(last.body).toMatchObject({ status: 'rolled_back', recommendation: 'ROLLBACK' });
  expect((await fixture.read(id)).body).toMatchObject({
    status: 'rolled_back',
    reason: 'errors',
    max_errors: 2,
    challenger_errors: 3,
    traffic_split: [1, 0],
  });
  const late = await fixture.post(id, 'trades', failed('late'));
  expect(late.body).toMatchObject({ accepted: true, late: true });
  expect((await fixture.read(id)).body.challenger_errors).toBe(3);
});

it('errors count as traffic and do not reduce the open trade imbalance', async () => {
  const id = await started();
  fixture.clock.forward(23 * HOUR);
  await fixture.post(id, 'trades', failed('a'));
  fixture.clock.forward(23 * HOUR);
  await fixture.log(id, 'champion', Array(20).fill(1));
  expect((await fixture.read(id)).body.hold).toBeNull();
  // 10 of 20 entered trades are open, regardless of the number of errors.
  const trades = Array.from({ length: 90 }, (_, n) => failed(`e-${n}`));
  await fixture.post(id, 'trades', { trades });
  const open = Array.from({ length: 10 }, (_, n) => ({
    trade_id: `o-${n}`,
    variant: 'challenger',
    status: 'open',
  }));
  await fixture.post(id, 'trades', { trades: open });
  await fixture.log(id, 'challenger', Array(10).fill(1));
  expect((await fixture.read(id)).body.hold).toMatchObject({ reason: 'open_trades' });
  expect(await fixture.evaluate(id)).toMatchObject({ errors: { champion: 0, challenger: 91 } });
});

it.each([[0], [1.5], [1e7]])('rejects max_errors %d as out of range', async (max_errors) => {
  const { status } = await fixture.create({ max_errors });
  expect([400, 422]).toContain(status);
});
