import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import type { Overview } from '#contract/platform/overview-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';

let fixture: AccessFixture;
let ann: Person;
let bob: Person;
let admin: Person;
/** Replaced by the test of a failing part. */
let listPage: DynamoSeriesStore['listPage'];
beforeAll(async () => {
  const series = {
    getMany: async () => new Map(),
    listPage: (...call: Parameters<typeof listPage>) => listPage(...call),
  };
  fixture = await accessFixture({ series: series as never });
  listPage = async () => ({ items: [], next: null });
  [ann, bob, admin] = [fixture.person('ann'), fixture.person('bob'), fixture.person('root', 'admin')];
});
afterAll(() => fixture?.stop());

async function overview(person: Person): Promise<Overview> {
  const { status, body } = await person.get('/api/v1/overview');
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const exact = (value: number) => ({ value, relation: 'exact' });
const created = (day: number) => ({ created_at: `2026-05-0${day}T00:00:00.000Z` });

it('overview has the jobs that the caller may see: counts, unfinished and last ended', async () => {
  const finished = await fixture.backtest('ann', created(1), 'completed');
  const failed = await fixture.backtest('ann', created(2), 'failed');
  const pending = await fixture.backtest('ann', created(1));
  const running = await fixture.backtest('ann', created(3), 'running');
  await fixture.jobs.setProgress(running, 1, 0.25, '2026-05-03T00:00:00.000Z');
  const shared = await fixture.backtest('bob', created(4), 'cancelled');
  await fixture.backtest('bob', created(5), 'running');
  await fixture.hyperoptJobs.create({ ...pendingHyperopt('ho-1'), owner: 'ann', ...created(6) });
  await bob.share(`/api/v1/backtests/${shared}`, 'user:ann');
  const seen = await overview(ann);
  expect(seen.counts).toEqual({
    backtests: {
      pending: exact(1),
      running: exact(1),
      completed: exact(1),
      failed: exact(1),
      cancelled: exact(1),
    },
    hyperopt: {
      pending: exact(1),
      running: exact(0),
      completed: exact(0),
      failed: exact(0),
      cancelled: exact(0),
    },
    collections: expect.objectContaining({ pending: exact(0) }),
  });
  expect(seen.moving.map(({ kind, id, progress }) => [kind, id, progress])).toEqual([
    ['backtest', running, 0.25],
    ['backtest', pending, 0],
    ['hyperopt', 'ho-1', 0],
  ]);
  expect(new Set(seen.ended.map(({ id }) => id))).toEqual(new Set([finished, failed, shared]));
  expect(seen.ended.find(({ id }) => id === finished)).toMatchObject({
    kind: 'backtest',
    status: 'completed',
    progress: 1,
    name: 'ema_crossover',
    total_profit_pct: expect.any(Number),
  });
  expect(seen.missing).toEqual([]);
  const all = await overview(admin);
  expect(all.counts.backtests).toMatchObject({ running: exact(2), pending: exact(1), cancelled: exact(1) });
  expect(all.moving).toHaveLength(4);
  await bob.share(`/api/v1/backtests/${shared}`);
  expect((await overview(ann)).counts.backtests).toMatchObject({ cancelled: exact(0) });
  expect((await ann.delete(`/api/v1/backtests/${finished}`)).status).toBe(204);
  for (const person of [ann, admin]) {
    const { counts, ended } = await overview(person);
    expect(counts.backtests).toMatchObject({ completed: exact(0), failed: exact(1) });
    expect(ended.map(({ id }) => id)).not.toContain(finished);
  }
  const nobody = await overview(fixture.person('eve', 'viewer'));
  expect([nobody.moving, nobody.ended, nobody.counts.backtests?.running]).toEqual([[], [], exact(0)]);
});

it('overview shows the last ten ended jobs and counts unfinished ones up to a limit', async () => {
  const own = await accessFixture();
  const cal = own.person('cal');
  for (let index = 0; index < 12; index++) await own.backtest('cal', created(1), 'failed');
  const pending = Array.from({ length: 101 }, (_, index) => pendingJob(`bt-p${index}`, { owner: 'cal' }));
  await Promise.all(pending.map((job) => own.jobs.create(job)));
  await own.backtest('cal', { created_at: '2020-01-01T00:00:00.000Z' }, 'running');
  const seen = await overview(cal);
  expect(seen.ended).toHaveLength(10);
  expect(seen.counts.backtests).toMatchObject({
    failed: exact(12),
    running: { value: 1, relation: 'at_least' },
    pending: { value: 99, relation: 'at_least' },
  });
  expect([seen.moving.length, seen.moving[0]!.status]).toEqual([50, 'running']);
  const all = await overview(own.person('root', 'admin'));
  expect(all.counts.backtests).toEqual(seen.counts.backtests);
  await own.stop();
});

it('overview has production versions and challenges of models that the caller can read', async () => {
  const model = 'ema_crossover';
  for (const version of [1, 2]) {
    const run = await fixture.backtest('ann', { config: pendingJob('bt-0').config }, 'completed');
    await ann.register(run, model);
    await ann.post(`/api/v1/strategies/${model}/stage`, { version });
  }
  const versions = { champion_version: '1', challenger_version: '2' };
  await admin.post(`/api/v1/strategies/${model}/promote`, { version: 1 });
  const { body } = await ann.strategy('POST', `/api/v1/models/${model}/challenges`, versions);
  const trades = [1, 2.5, -0.5].map((profit_pct, index) => ({
    trade_id: `t-${index}`,
    variant: 'champion',
    profit_pct,
  }));
  const live = { challenge_id: body.challenge_id, trades: 0, mean_profit_pct: null as number | null };
  expect((await overview(ann)).production!.items[0]!.live).toEqual(live);
  const logged = await ann.strategy('POST', `/api/v1/challenges/${body.challenge_id}/trades`, { trades });
  expect(logged.status).toBe(201);
  live.trades = 3;
  live.mean_profit_pct = 1;
  const seen = await overview(ann);
  expect(seen.production).toMatchObject({
    items: [{ model_name: model, version: '1', active_challenge_id: body.challenge_id, live }],
    more: false,
  });
  expect(seen.challenges).toMatchObject({ items: [{ challenge_id: body.challenge_id }], more: false });
  const other = await overview(bob);
  expect([other.production, other.challenges]).toEqual([
    { items: [], more: false },
    { items: [], more: false },
  ]);
});

it('overview has what waits for a decision that the caller may make', async () => {
  const model = 'ema_crossover';
  const amy = fixture.person('amy', 'approver');
  const none = { count: 0, approvals: [], challenges: [], more: false };
  await ann.share(`/api/v1/models/${model}`, 'user:amy!', 'user:bob');
  const request = { action: 'promote', version: 2, reason: 'Won' };
  const { body } = await bob.post(`/api/v1/models/${model}/approvals`, request);
  expect((await overview(amy)).waiting).toEqual({ ...none, count: 1, approvals: [body] });
  // Of researchers only stagings wait, and of nobody what they requested.
  for (const person of [ann, bob, fixture.development])
    expect((await overview(person)).waiting).toEqual(none);
  const { challenge_id } = (await overview(amy)).challenges!.items[0]!;
  await amy.strategy('POST', `/api/v1/challenges/${challenge_id}/rollback`, { reason: 'drill' });
  const canary = { champion_version: '1', challenger_version: '2', approval_stages: ['stage_2'] };
  const held = await ann.strategy('POST', `/api/v1/models/${model}/challenges`, canary);
  const id = held.body.challenge_id;
  const put = async (changes: object) => {
    const key = { TableName: fixture.registryTable, Key: { pk: `CHALLENGE#${id}`, sk: 'META' } };
    const { Item } = await fixture.client.send(new GetCommand(key));
    await fixture.client.send(
      new PutCommand({ TableName: fixture.registryTable, Item: { ...Item, ...changes } }),
    );
  };
  const at = held.body.created_at;
  const winner = { status: 'completed', outcome: 'challenger_wins', ended_at: at, hold: null };
  for (const state of [{ hold: { reason: 'approval', since: at, note: null } }, winner]) {
    await put(state);
    const both = (await overview(amy)).waiting!;
    expect([both.count, both.challenges.map((each) => each.challenge_id)]).toEqual([2, [id]]);
    expect((await overview(ann)).waiting).toEqual(none);
    expect((await overview(fixture.person('val', 'approver'))).waiting).toEqual(none);
  }
  // Without authentication challenges are decided as before.
  expect((await overview(fixture.development)).waiting).toMatchObject({ count: 1, approvals: [] });
});

it('overview reports a part as missing that takes longer than 4 s', async () => {
  let limit = new AbortController();
  const real = AbortSignal.timeout.bind(AbortSignal);
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== 4_000) return real(ms);
    limit = new AbortController();
    return limit.signal;
  });
  // A read that never ends: the time limit that began last is its own.
  listPage = () => {
    limit.abort(new DOMException('4 s have passed', 'TimeoutError'));
    return new Promise(() => {});
  };
  const partial = await overview(ann).finally(() => timeout.mockRestore());
  expect(partial).toMatchObject({ missing: ['freshness'], freshness: null });
  expect(partial.counts.backtests).not.toBeNull();
});

it('overview has the oldest series, and reports a part that fails as missing', async () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const series = ([symbol, hours]: [string, number]) => ({
    exchange: 'sim',
    symbol,
    timeframe: '1h' as const,
    first: hoursAgo(100),
    last: hoursAgo(hours),
    count: 1,
    gap_count: 0,
    gaps: [],
    longest_omitted_gap: 0,
    updated_at: hoursAgo(0),
  });
  const ages: [string, number][] = [
    ['BTC/USDT:USDT', 2],
    ['ETH/USDT:USDT', 50],
  ];
  listPage = async () => ({ items: ages.map(series), next: null });
  const { freshness } = await overview(ann);
  expect(freshness).toMatchObject({ exchange: 'sim', series: 2, stale: 1, complete: true });
  expect(freshness!.worst.map(({ symbol, age_hours, fresh }) => [symbol, age_hours, fresh])).toEqual([
    ['ETH/USDT:USDT', 49, false],
    ['BTC/USDT:USDT', 1, true],
  ]);
  listPage = () => Promise.reject(new CodedError('DATA005'));
  const partial = await overview(ann);
  expect(partial).toMatchObject({ missing: ['freshness'], freshness: null });
  expect(partial.counts.backtests).not.toBeNull();
});
