import { expect, it } from 'vitest';
import { generated, HOUR } from '../support/challenge-fixture.ts';
import { fixture, started, useOneChallengeFixture } from '../support/one-challenge-fixture.ts';

useOneChallengeFixture();

async function variantOfTrade(id: string, variant: 'champion' | 'challenger') {
  return (await fixture.deps.challenges.read(id))!.stages[0]![variant];
}

it('open trade updates its unrealised profit until it is closed', async () => {
  const id = await started();
  const open = { trade_id: 'a', variant: 'challenger', status: 'open', pair: 'BTC/USDT:USDT' };
  const post = async (trade: object) => {
    const { status, body } = await fixture.post(id, 'trades', trade);
    return [status, body.duplicate ?? body.detail.code];
  };
  expect(await post({ ...open, profit_pct: 0.1 })).toEqual([201, false]);
  expect(await post({ ...open, profit_pct: 0.1 })).toEqual([200, true]);
  expect(await post({ ...open, profit_pct: -0.7 })).toEqual([201, false]);
  expect(await post(open)).toEqual([200, true]);
  expect(await post({ ...open, profit_pct: -0.7, pair: 'ETH/USDT:USDT' })).toEqual([409, 'RES005']);
  expect(await post({ ...open, profit_pct: 0.5, variant: 'champion' })).toEqual([409, 'RES005']);
  expect(await post({ ...open, trade_id: 'b' })).toEqual([201, false]);
  expect(await post({ ...open, trade_id: 'c', profit_pct: 0.3 })).toEqual([201, false]);
  expect((await fixture.evaluate(id)).unrealised).toEqual({
    champion: { open: 0, marked: 0, mean_pct: null },
    challenger: { open: 3, marked: 2, mean_pct: expect.closeTo(-0.2, 14) },
  });
  expect((await fixture.read(id)).body).toMatchObject({ challenger_trades: 0 });

  expect(await post({ ...open, status: 'closed', profit_pct: 2 })).toEqual([201, false]);
  expect((await fixture.evaluate(id)).unrealised.challenger).toEqual({ open: 2, marked: 1, mean_pct: 0.3 });
  // A repeated open post of a closed trade changes nothing.
  expect(await post({ ...open, profit_pct: 0.4 })).toEqual([200, true]);
  expect(await post({ ...open, trade_id: 'c', status: 'closed', profit_pct: 1 })).toEqual([201, false]);
  expect(await post({ ...open, trade_id: 'b', profit_pct: 1.1 })).toEqual([201, false]);
  expect(await post({ ...open, trade_id: 'b', status: 'closed', profit_pct: 1 })).toEqual([201, false]);
  const nothing = { open: 0, marked: 0, mean_pct: null };
  expect((await fixture.evaluate(id)).unrealised).toEqual({ champion: nothing, challenger: nothing });
  expect(await variantOfTrade(id, 'challenger')).toMatchObject({
    open: 0,
    closed: 3,
    sum: [4, 0],
    marked: null,
  });
});

it('unrealised profits and closed trades of one key form one cluster', async () => {
  const id = await started({ analysis_unit: 'assignment_key' });
  const { variant } = (await fixture.post(id, 'assignments', { assignment_key: 'k' })).body;
  const trade = (trade_id: string, profit_pct: number, more: object = {}) => ({
    trade_id,
    variant,
    profit_pct,
    assignment_key: 'k',
    ...more,
  });
  const open = { status: 'open' };
  const withoutKey = { assignment_key: undefined };
  await fixture.post(id, 'trades', {
    trades: [
      trade('a', 1),
      trade('b', 3, open),
      trade('c', 2),
      trade('b', 4, open),
      trade('d', 8, { ...open, ...withoutKey }),
    ],
  });
  const clusters = (count: number, squares: number, products: number, sizes: number) => ({
    count,
    squares: [squares, 0],
    products: [products, 0],
    sizes,
  });
  expect(await variantOfTrade(id, variant)).toMatchObject({
    clusters: clusters(1, 9, 6, 4),
    marked: { count: 2, sum: [12, 0], sum_of_squares: [80, 0], clusters: clusters(2, 49 + 64, 21 + 8, 10) },
  });
  await fixture.post(id, 'trades', trade('b', -1));
  expect(await variantOfTrade(id, variant)).toMatchObject({
    clusters: clusters(1, 4, 6, 9),
    marked: { count: 1, sum: [8, 0], clusters: clusters(2, 4 + 64, 6 + 8, 10) },
  });
  await fixture.post(id, 'trades', trade('d', 7, withoutKey));
  expect(await variantOfTrade(id, variant)).toMatchObject({
    clusters: clusters(2, 4 + 49, 6 + 7, 10),
    marked: null,
  });
});

it.each([
  ['without a mark price', null, { status: 'completed', outcome: 'challenger_wins' }],
  ['with unrealised profits', 1.2, { status: 'completed', outcome: 'challenger_wins' }],
  ['with unrealised losses', -5, { status: 'expired', outcome: null }],
])('final planned look includes open trades %s', async (_, mark, expected) => {
  const id = await started({ max_duration_hours: 4, min_trades: 120 });
  const opened = (variant: string, count: number, more: object) =>
    fixture.post(id, 'trades', {
      trades: Array.from({ length: count }, (_, n) => ({
        trade_id: `open-${variant}-${n}`,
        variant,
        status: 'open',
        ...more,
      })),
    });
  // Too many open trades of the challenger: its lead is not a verdict during the challenge.
  await opened('challenger', 40, mark === null ? {} : { profit_pct: mark });
  await fixture.log(id, 'champion', generated(12345, 120, 0));
  await fixture.log(id, 'challenger', generated(67890, 120, 0.6));
  await opened('champion', 20, {});
  expect((await fixture.read(id)).body).toMatchObject({ status: 'active', challenger_trades: 120 });
  fixture.clock.forward(4 * HOUR);
  expect((await fixture.read(id)).body).toMatchObject(expected);
  const late = await fixture.post(id, 'trades', {
    trade_id: 'open-challenger-0',
    variant: 'challenger',
    status: 'open',
    profit_pct: 3,
  });
  expect([late.status, late.body.late]).toEqual([201, true]);
  const { unrealised, criteria, warnings } = await fixture.evaluate(id);
  const { open, marked, mean_pct } = unrealised.challenger;
  expect(criteria.every(({ passed }: any) => passed)).toBe(true);
  expect(warnings.some((text: string) => text.startsWith('unrealised'))).toBe(mark === -5);
  expect([open, marked]).toEqual([40, mark === null ? 0 : 40]);
  if (mark !== null) expect(mean_pct).toBeCloseTo(mark, 12);
});
