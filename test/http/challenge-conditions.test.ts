import { PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { SOME_RESULT } from '../support/jobs.ts';
import { as, byRole, completedBacktest } from '../support/policy-fixture.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();

const tick = (fixture: ChallengeFixture) =>
  processDueChallenges(fixture.deps, (_, error) => {
    throw error;
  });
const production = async (fixture: ChallengeFixture) =>
  (await fixture.store.read(MODEL, [])).model!.production_version;

/** Challenge whose challenger wins at the first possible verdict. */
async function winning(fixture: ChallengeFixture, body: object = {}, more: object = {}): Promise<string> {
  const { challenge_id } = (await fixture.create({ enable_canary: false, ...body })).body;
  await fixture.log(challenge_id, 'champion', generated(12345, 100, 0), more);
  await fixture.log(challenge_id, 'challenger', generated(67890, 100, 1), more);
  return challenge_id;
}

describe('verdict conditions', () => {
  it('verdict requires only closed trades by default', async () => {
    const fixture = await challengeFixture(engine);
    const { challenge_id, min_hours, min_assignments } = (await fixture.create()).body;
    expect([min_hours, min_assignments]).toEqual([0, 0]);
    await fixture.log(challenge_id, 'champion', [1, 2, 3]);
    await fixture.log(challenge_id, 'challenger', [1]);
    fixture.clock.forward(1.5 * HOUR);
    expect((await fixture.evaluate(challenge_id)).conditions).toEqual({
      trades: { value: 1, needed: 100, met: false },
      assignments: { value: 0, needed: 0, met: true },
      hours: { value: 1.5, needed: 0, met: true },
    });
    expect((await fixture.evaluate(await winningAfter(fixture, challenge_id))).recommendation).toBe(
      'PROMOTE_CHALLENGER',
    );
  });

  async function winningAfter(fixture: ChallengeFixture, id: string): Promise<string> {
    await fixture.post(id, 'rollback');
    return winning(fixture);
  }

  it('minimum hours delay a winner until the deadline makes the verdict', async () => {
    const fixture = await challengeFixture(engine, { deps: { challengeMinHours: 24 } });
    const id = await winning(fixture, { auto_promote: true });
    const early = await fixture.evaluate(id);
    expect(early).toMatchObject({ status: 'active', recommendation: 'CONTINUE', planned_look: null });
    expect(early.conditions).toEqual({
      trades: { value: 100, needed: 100, met: true },
      assignments: { value: 0, needed: 0, met: true },
      hours: { value: 0, needed: 24, met: false },
    });
    fixture.clock.forward(24 * HOUR - 1);
    expect((await tick(fixture)).changed).toEqual([]);
    expect((await fixture.evaluate(id)).conditions.hours).toEqual({ value: 23.99, needed: 24, met: false });
    expect(await production(fixture)).toBe('1');
    fixture.clock.forward(1);
    expect((await tick(fixture)).changed).toEqual([id]);
    const after = await fixture.evaluate(id);
    expect(after).toMatchObject({ status: 'completed', recommendation: 'PROMOTE_CHALLENGER' });
    expect(after.conditions.hours).toEqual({ value: 24, needed: 24, met: true });
    expect(await production(fixture)).toBe('2');
    // The elapsed hours stop at its end.
    fixture.clock.forward(10 * HOUR);
    expect((await fixture.evaluate(id)).conditions.hours.value).toBe(24);
  });

  it('minimum hours delay a loser, not a rollback for harm', async () => {
    const fixture = await challengeFixture(engine, { deps: { challengeMinHours: 24 } });
    const { challenge_id: id } = (await fixture.create({ enable_canary: false, max_drawdown_pct: 40 })).body;
    await fixture.log(id, 'champion', generated(12345, 100, 0.3));
    await fixture.log(id, 'challenger', generated(67890, 100, 0));
    expect(await fixture.evaluate(id)).toMatchObject({ status: 'active', recommendation: 'CONTINUE' });
    await fixture.log(id, 'challenger', [-41]);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'rolled_back', reason: 'max_drawdown' });
  });

  it('minimum assignments count the variant with fewer', async () => {
    const fixture = await challengeFixture(engine, { deps: { challengeMinAssignments: 20 } });
    const id = await winning(fixture);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'active', min_assignments: 20 });
    const keys = { champion: 0, challenger: 0 };
    const assignUntil = async (least: number) => {
      while (Math.min(keys.champion, keys.challenger) < least) {
        const assignment_key = `k-${keys.champion + keys.challenger}`;
        const { body } = await fixture.post(id, 'assignments', { assignment_key });
        keys[body.variant as keyof typeof keys] += 1;
      }
    };
    await assignUntil(19);
    expect((await tick(fixture)).changed).toEqual([]);
    const { conditions, recommendation } = await fixture.evaluate(id);
    expect(conditions).toMatchObject({
      trades: { value: 100, needed: 100, met: true },
      assignments: { value: 19, needed: 20, met: false },
    });
    expect(recommendation).toBe('CONTINUE');
    await assignUntil(20);
    expect((await tick(fixture)).changed).toEqual([id]);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'completed', outcome: 'challenger_wins' });
  });

  it('minimum assignments may equal the closed trades required', async () => {
    const deps = { challengeMinAssignments: 'min_trades' } as const;
    const fixture = await challengeFixture(engine, { deps });
    const { body } = await fixture.create({ min_trades: 50 });
    expect(body).toMatchObject({ effective_min_trades: 100, min_assignments: 100 });
    await fixture.post(body.challenge_id, 'rollback');
    expect((await fixture.create({ min_trades: 120 })).body).toMatchObject({ min_assignments: 120 });
  });

  it('creation warns when the duration is too short for the conditions', async () => {
    const fixture = await challengeFixture(engine, { deps: { challengeMinHours: 24 } });
    const { body } = await fixture.create({ max_duration_hours: 24 });
    expect(body.warnings).toEqual([
      'no_verdict_possible: the challenge ends after 24 h; on this platform a verdict needs more than 24 h',
    ]);
    await fixture.post(body.challenge_id, 'rollback');
    expect((await fixture.create({ max_duration_hours: 25 })).body.warnings).toEqual([]);
  });
});

describe('challenger with a rejected backtest comparison', () => {
  /** Version 2 has the backtest of version 1 with a drawdown and a profit factor beyond two guardrails. */
  async function rejected() {
    const fixture = await challengeFixture(engine);
    const result = { ...SOME_RESULT, max_drawdown_pct: 8.4, profit_factor: 0.9 };
    await completedBacktest(fixture, 'bt-worse', { result });
    await fixture.register({ backtest_run_id: 'bt-worse' });
    await fixture.stage('3', { skip_validation: true });
    return fixture;
  }
  const warning =
    /^compare_rejects: by their backtests the challenger should be rejected: .*drawdown is 100 % larger.*profit factor is 0\.9/;

  it('rejected comparison is a warning at creation, in each evaluation and at promotion', async () => {
    const fixture = await rejected();
    const created = await fixture.create({ challenger_version: '3', enable_canary: false });
    expect(created.body.warnings).toEqual([expect.stringMatching(warning)]);
    const { challenge_id: id } = created.body;
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, 1));
    const { recommendation, warnings } = await fixture.evaluate(id);
    expect([recommendation, warnings]).toEqual([
      'PROMOTE_CHALLENGER',
      expect.arrayContaining([expect.stringMatching(warning)]),
    ]);
    expect((await fixture.post(id, 'promote')).status).toBe(200);
    const { items } = (await fixture.read(id, '/events')).body;
    expect(items[0]).toMatchObject({ action: 'promote', warnings: [expect.stringMatching(warning)] });
    expect(items[1].warnings).toEqual([]);
    const { body } = await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`);
    expect(body.items[0]).toMatchObject({ action: 'promote', challenge_id: id });
    expect(body.items[0].notes).toContainEqual(expect.stringMatching(warning));
  });

  it('rejected comparison is reported by automatic promotion and by the registry', async () => {
    for (const auto_promote of [true, false]) {
      const fixture = await rejected();
      const body = { challenger_version: '3', enable_canary: false, auto_promote };
      const id = await winning(fixture, body);
      if (!auto_promote) await fixture.promote('3');
      expect(await production(fixture)).toBe('3');
      const { items } = (await fixture.read(id, '/events')).body;
      expect(items[0]).toMatchObject({ action: 'promote', warnings: [expect.stringMatching(warning)] });
      const history = (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body.items[0];
      expect(history).toMatchObject({ challenge_id: id, version: '3' });
    }
  });

  it('creation returns no warning when the comparison finds no regression', async () => {
    const fixture = await challengeFixture(engine);
    expect((await fixture.create()).body.warnings).toEqual([]);
  });
});

describe('winner that the release policy rejects', () => {
  /** Won challenge of an approver, under a policy introduced after both versions were staged. */
  async function won() {
    const before = await challengeFixture(engine);
    const created = await before.create({ enable_canary: false, auto_promote: true });
    const id: string = created.body.challenge_id;
    await before.log(id, 'champion', generated(12345, 100, 0));
    await before.log(id, 'challenger', generated(67890, 100, 1).slice(0, 99));
    const tables = { jobs: before.jobsTable, registry: before.table, series: '' };
    const releasePolicy = { minTrades: 30, lookAheadCertificate: false };
    const fixture = await registryFixture(engine, {
      tables,
      service: byRole,
      deps: { clock: before.clock, releasePolicy },
    });
    const last = { trade_id: 'last', variant: 'challenger', profit_pct: generated(67890, 100, 1)[99] };
    expect((await fixture.strategy('POST', `/challenges/${id}/trades`, last)).status).toBe(201);
    const post = (body: object, role: 'approver' | 'admin') =>
      fixture.strategy('POST', `/challenges/${id}/promote`, body, as(role));
    return { before, fixture, id, post };
  }
  const waive = { checks: ['min_trades'], reason: 'The challenge has shown more trades' };

  it('winner stays unpromoted with a reason and an event until an admin waives the check', async () => {
    const { before, fixture, id, post } = await won();
    const { body } = await before.read(id);
    expect(body).toMatchObject({
      status: 'completed',
      outcome: 'challenger_wins',
      promoted_at: null,
      traffic_split: [0.5, 0.5],
      promotion_rejected: {
        code: 'RES005',
        message: expect.stringContaining('min_trades: 10 trades; at least 30 are required'),
      },
    });
    expect(await production(before)).toBe('1');
    expect((await before.read(id, '/events')).body.items[0]).toMatchObject({
      action: 'promotion_rejected',
      reason: expect.stringContaining('misses the release policy'),
    });
    expect((await tick({ ...before, deps: fixture.deps })).changed).toEqual([]);
    const rejected = await post({}, 'approver');
    expect([rejected.status, rejected.body.detail.code]).toEqual([409, 'RES005']);
    expect(rejected.body.detail.context.checks).toContainEqual(
      expect.objectContaining({ name: 'min_trades', status: 'failed' }),
    );
    const notAdmin = await post({ waive }, 'approver');
    expect([notAdmin.status, notAdmin.body.detail.code]).toEqual([403, 'AUTH004']);
    const unreasoned = await post({ waive: { checks: ['min_trades'] } }, 'admin');
    expect([unreasoned.status, unreasoned.body.detail.code]).toEqual([400, 'VAL004']);
    expect((await post({ waive }, 'admin')).body).toMatchObject({ promoted_at: expect.any(String) });
    expect(await production(before)).toBe('2');
    const { items } = (await before.get(`/api/v1/models/${MODEL}/history?limit=1`)).body;
    expect(items[0]).toMatchObject({ actor: 'root', challenge_id: id, waiver: waive });
  });
});

it('challenge stored by the previous version is read and continues', async () => {
  const fixture = await challengeFixture(engine);
  const { challenge_id: id } = (await fixture.create({ enable_canary: false })).body;
  await fixture.log(id, 'champion', generated(12345, 100, 0));
  await fixture.log(id, 'challenger', generated(67890, 100, 1).slice(0, 99));
  const names = [
    'waivers',
    'evidence',
    'waiver',
    'min_hours',
    'min_assignments',
    'require_assignment',
    'unassigned',
    'warnings',
  ];
  let removed = 0;
  const asBefore = (item: Record<string, any>) => {
    const { catalog_row: row } = item;
    const kept = Object.entries(item).filter(([name]) => {
      // The previous version stored warnings on challenges but not on events.
      const isOld = !names.includes(name) || (name === 'warnings' && item.sk === 'META');
      removed += isOld ? 0 : 1;
      return isOld;
    });
    if (!row) return Object.fromEntries(kept);
    const { waivers: _, ...oldRow } = JSON.parse(row);
    return { ...Object.fromEntries(kept), catalog_row: JSON.stringify(oldRow) };
  };
  for await (const { Items = [] } of paginateScan({ client: engine.client }, { TableName: fixture.table })) {
    for (const item of Items)
      await engine.client.send(new PutCommand({ TableName: fixture.table, Item: asBefore(item) }));
  }
  expect(removed).toBeGreaterThan(8);
  expect((await fixture.evaluate(id)).conditions).toMatchObject({
    assignments: { needed: 0, met: true },
    hours: { needed: 0, met: true },
  });
  expect((await fixture.read(id, '/events')).body.items[0].warnings).toEqual([]);
  const version = await fixture.get(`/api/v1/models/${MODEL}/versions/2`);
  expect(version.body).toMatchObject({ evidence: null, waivers: [] });
  expect((await fixture.get(`/api/v1/models/${MODEL}/history`)).body.items[0].waiver).toBeNull();
  const { items } = (await fixture.get('/api/v1/catalog/strategies')).body;
  expect(items.map(({ waivers }: { waivers: unknown }) => waivers)).toEqual([[], []]);
  await fixture.post(id, 'trades', { trade_id: 'last', variant: 'challenger', profit_pct: 2 });
  expect((await fixture.post(id, 'promote')).status).toBe(200);
  expect(await production(fixture)).toBe('2');
});
