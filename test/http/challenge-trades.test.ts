import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { challengeFixture, HOUR } from '../support/challenge-fixture.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';
import { storedChallenge } from '../support/stored-challenge.ts';
import { challengeFixtures, totals } from './challenge-trades-fixture.ts';

const scene = challengeFixtures();
const { started } = scene;

// First four bytes of what `printf ch-demo:order-1 | sha256sum` prints, by 2^32.
it('assignments follow the digest of the key and stay fixed while the traffic share grows', async () => {
  const fixture = await challengeFixture(scene.engine);
  const at = new Date(fixture.clock.now()).toISOString();
  const ends_at = new Date(fixture.clock.now() + 100 * HOUR).toISOString();
  const stages = storedChallenge().stages.map((stage) => ({ ...stage, since: at }));
  for (const challenge_id of ['ch-demo', 'ch-other']) {
    const { revision } = (await fixture.store.read(MODEL, [])).model!;
    const times = { created_at: at, updated_at: at, last_traffic_at: at, ends_at };
    const after = storedChallenge({ challenge_id, stages, ...times });
    expect(
      await fixture.deps.challenges.commit({ before: null, after, events: [], modelRevision: revision }),
    ).toBe('done');
  }
  const assign = async (key: string, id = 'ch-demo') =>
    (await fixture.post(id, 'assignments', { assignment_key: key })).body;
  for (const [key, bucket] of [
    ['order-1', 0.6116938221],
    ['order-2', 0.60755136],
    ['order-3', 0.7532058321],
    ['order-42', 0.4255663301],
    ['order-25', 0.0131010283],
    ['order-52', 0.0215657712],
    ['order-56', 0.0395279145],
    ['BTC/USDT:USDT|2026-01-01T00:00:00Z', 0.4880292679],
  ] as const) {
    const response = await assign(key);
    expect(response.bucket).toBeCloseTo(bucket, 9);
    expect(response).toMatchObject({
      variant: bucket < 0.05 ? 'challenger' : 'champion',
      version: bucket < 0.05 ? '2' : '1',
      traffic_split: [0.95, 0.05],
      repeated: false,
    });
  }
  expect((await assign('order-1', 'ch-other')).bucket).toBeCloseTo(0.1138723651, 9);
  for (let step = 0; step < 3; step++) await fixture.post('ch-demo', 'advance');
  // Known keys keep their variant; a new key uses the current traffic share.
  expect(await assign('order-42')).toMatchObject({
    variant: 'champion',
    canary_stage: 'stage_1',
    repeated: true,
  });
  expect((await fixture.evaluate('ch-demo')).assignments).toEqual({ champion: 5, challenger: 3 });
});

it('route returns the challenge decision or Production and records nothing', async () => {
  const [fixture, id] = await started();
  const route = async (key: string) =>
    (await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${key}`)).body;
  const first = await route('a');
  const { body: assigned } = await fixture.post(id, 'assignments', { assignment_key: 'a' });
  expect(first).toMatchObject({ challenge_id: id, variant: assigned.variant, bucket: assigned.bucket });
  expect(assigned.repeated).toBe(false);
  await fixture.post(id, 'rollback');
  expect(await route('b')).toEqual({
    model_name: MODEL,
    key: 'b',
    version: '1',
    entry_version: '1',
    challenge_id: null,
    should_close: false,
    variant: null,
    canary_stage: null,
    bucket: null,
    traffic_split: null,
  });
});

it('identical trade is a duplicate; a different trade with its ID is a conflict', async () => {
  const [fixture, id] = await started();
  const trade = { trade_id: 'a', variant: 'champion', profit_pct: 0.5 };
  const first = await fixture.strategy('POST', `/challenges/${id}/trades`, trade);
  expect(first.status).toBe(201);
  expect(first.body).toEqual({
    challenge_id: id,
    trade_id: 'a',
    variant: 'champion',
    accepted: true,
    duplicate: false,
    canary_stage: 'stage_1',
    trade_status: 'closed',
    misassigned: false,
    unassigned: false,
    late: false,
    status: 'active',
    champion_trades: 1,
    challenger_trades: 0,
    recommendation: 'CONTINUE',
    warnings: [],
  });
  const again = await fixture.post(id, 'trades', trade);
  expect([again.status, again.body.duplicate, again.body.champion_trades]).toEqual([200, true, 1]);
  const other = await fixture.post(id, 'trades', { ...trade, profit_pct: 0.6 });
  expect([other.status, other.body.detail.code]).toEqual([409, 'RES005']);
});

it('trade opens and closes once and counts in the stage of its opening', async () => {
  const [fixture, id] = await started();
  const open = { trade_id: 'a', version: 2, status: 'open', pair: 'BTC/USDT:USDT' };
  const close = { trade_id: 'a', variant: 'challenger', profit_pct: 1.5 };
  expect((await fixture.post(id, 'trades', open)).body).toMatchObject({
    trade_status: 'open',
    challenger_trades: 0,
  });
  await fixture.post(id, 'advance');
  const another = await fixture.post(id, 'trades', { ...close, pair: 'ETH/USDT:USDT' });
  expect([another.status, another.body.detail.code]).toEqual([409, 'RES005']);
  const closed = await fixture.post(id, 'trades', close);
  expect([closed.status, closed.body.canary_stage, closed.body.challenger_trades]).toEqual([
    201,
    'stage_1',
    1,
  ]);
  for (const repeat of [open, close])
    expect((await fixture.post(id, 'trades', repeat)).body.duplicate).toBe(true);
  const { body } = await fixture.post(id, 'trades', { ...close, profit_pct: 1.6 });
  expect(body.detail.code).toBe('RES005');
  expect(await totals(fixture, id)).toMatchObject({ challenger: { n: 1, sum: 1.5, squares: 2.25 } });
});

it('trade of a key assigned to the other variant is stored and does not count', async () => {
  const [fixture, id] = await started();
  const { variant } = (await fixture.post(id, 'assignments', { assignment_key: 'k' })).body;
  const wrong = variant === 'champion' ? 'challenger' : 'champion';
  const trade = { trade_id: 'a', variant: wrong, profit_pct: 1, assignment_key: 'k' };
  expect((await fixture.post(id, 'trades', trade)).body).toMatchObject({ accepted: true, misassigned: true });
  expect((await fixture.read(id)).body).toMatchObject({
    misassigned_trades: 1,
    champion_trades: 0,
    challenger_trades: 0,
  });
  expect((await fixture.evaluate(id)).assignments[variant]).toBe(1);
});

it('after the end, earlier open trades are late and new ones are rejected', async () => {
  const [fixture, id] = await started();
  const trade = { variant: 'champion', profit_pct: 1 };
  await fixture.post(id, 'trades', { ...trade, trade_id: 'open', status: 'open' });
  fixture.clock.forward(HOUR);
  await fixture.post(id, 'rollback');
  fixture.clock.forward(HOUR);
  const before = await totals(fixture, id);
  const opened = (hours: number) => new Date(fixture.clock.now() - hours * HOUR).toISOString();
  const responses = await fixture.post(id, 'trades', {
    trades: [
      { ...trade, trade_id: 'open', profit_pct: 9 },
      { ...trade, trade_id: 'untold' },
      { ...trade, trade_id: 'before', opened_at: opened(2) },
      { ...trade, trade_id: 'after', opened_at: opened(0.5) },
    ],
  });
  expect(responses.status).toBe(201);
  expect(responses.body.items.map((item: any) => item.late ?? item.error.code)).toEqual([
    true,
    true,
    true,
    'RES005',
  ]);
  expect(await totals(fixture, id)).toEqual(before);
  expect((await fixture.read(id)).body).toMatchObject({ late_trades: 3, status: 'rolled_back' });
  const single = await fixture.post(id, 'trades', { ...trade, trade_id: 'after', opened_at: opened(0.5) });
  expect([single.status, single.body.detail.code]).toEqual([409, 'RES005']);
});

it.each([
  [{ variant: 'champion', profit_pct: 1 }, 'missing', 'trade_id'],
  [{ trade_id: 'a', variant: 'champion' }, 'missing', 'profit_pct'],
  [{ trade_id: 'a', variant: 'champion', profit_pct: '1' }, 'float_type', 'profit_pct'],
  [{ trade_id: 'a', profit_pct: 1 }, 'VAL004', 'variant'],
  [{ trade_id: '', variant: 'champion', profit_pct: 1 }, 'VAL005', 'trade_id'],
  [{ trade_id: 'a', variant: 'third', profit_pct: 1 }, 'VAL005', 'variant'],
  [{ trade_id: 'a', version: '9', profit_pct: 1 }, 'VAL005', 'version'],
  [{ trade_id: 'a', variant: 'champion', profit_pct: -101 }, 'VAL005', 'profit_pct'],
  [{ trade_id: 'a', variant: 'champion', profit_pct: 1, pair: 'BTC' }, 'VAL002', 'pair'],
  [
    { trade_id: 'a', variant: 'champion', profit_pct: 1, opened_at: '2026-02-02', closed_at: '2026-02-01' },
    'VAL001',
    'opened_at',
  ],
])('rejects %j as a single trade and in a batch, and stores nothing', async (trade, code, field) => {
  const [fixture, id] = await started();
  const good = { trade_id: 'good', variant: 'champion', profit_pct: 1 };
  const single = await fixture.post(id, 'trades', trade);
  const batch = await fixture.post(id, 'trades', { trades: [good, trade] });
  const said = ({ body: { detail } }: { body: any }) =>
    Array.isArray(detail)
      ? [detail[0].type.replace(/^number_type$/, 'float_type'), detail[0].loc.at(-1)]
      : [detail.code, detail.field.split('.').at(-1)];
  expect(said(single)).toEqual([code, field]);
  // The version check needs the challenge: in a batch it rejects only that item.
  if (field === 'version') return void expect(batch.body.items[1].error.field).toBe('trades.1.version');
  expect(said(batch)).toEqual([code, field]);
  expect((await fixture.read(id)).body.champion_trades).toBe(0);
});

it('repeated batch after a crash counts each trade once', async () => {
  const whole = await challengeFixture(scene.engine);
  const id = (await whole.create({ min_trades: 1000 })).body.challenge_id;
  const client = createDocumentClient({ endpoint: scene.engine.endpoint });
  let writes = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== TransactWriteCommand.name.replace('Command', 'ItemsCommand'))
        return next(args);
      writes++;
      if (writes === 3) throw new Error('the host is gone');
      return next(args);
    },
    { step: 'initialize', name: 'crash' },
  );
  const tables = { jobs: whole.jobsTable, registry: whole.table, series: '' };
  const dying = await registryFixture(scene.engine, { client, tables, deps: { clock: whole.clock } });
  const trades = Array.from({ length: 100 }, (_, n) => ({
    trade_id: `t-${n}`,
    variant: 'champion',
    profit_pct: n / 4,
  }));
  expect((await dying.strategy('POST', `/challenges/${id}/trades`, { trades })).status).toBe(500);
  expect((await whole.read(id)).body.champion_trades).toBe(50);
  const { status, body } = await whole.post(id, 'trades', { trades });
  expect([status, body.champion_trades]).toEqual([201, 100]);
  expect(body.items.map(({ duplicate }: any) => duplicate)).toEqual(trades.map((_, n) => n < 50));
  expect((await totals(whole, id)).champion).toMatchObject({ n: 100, sum: (99 * 100) / 2 / 4 });
  client.destroy();
});
