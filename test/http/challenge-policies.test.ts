import { describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { CodedError } from '#contract/values/errors.ts';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();

const tick = (fixture: ChallengeFixture) =>
  processDueChallenges(fixture.deps, (_, error) => {
    throw error;
  });

async function actionsOf(fixture: ChallengeFixture, id: string) {
  const { body } = await fixture.read(id, '/events');
  return body.items.map(({ action, actor, reason }: any) => [action, actor, reason]);
}

// docs/challenges.md#approvals.
describe('approval stage', () => {
  /** Challenge in stage_1 with dwell and trades complete: the next stage is due. */
  async function due(approval_stages: readonly string[]): Promise<readonly [ChallengeFixture, string]> {
    const fixture = await challengeFixture(engine);
    const { body } = await fixture.create({ approval_stages });
    expect(body.approval_stages).toEqual(approval_stages);
    const id = body.challenge_id;
    await fixture.log(id, 'champion', generated(12345, 60, 0));
    await fixture.log(id, 'challenger', generated(67890, 20, 0));
    expect((await fixture.read(id)).body).toMatchObject({ canary_stage: 'stage_1', hold: null });
    fixture.clock.forward(HOUR);
    expect((await tick(fixture)).changed).toEqual([id]);
    return [fixture, id];
  }

  it('stage with approval is entered only by advance; others automatically', async () => {
    const [fixture, id] = await due(['stage_3']);
    expect((await fixture.read(id)).body).toMatchObject({
      canary_stage: 'stage_2',
      next_stage: { canary_stage: 'stage_3', needs_approval: true },
    });
    await fixture.log(id, 'challenger', generated(67891, 20, 0));
    fixture.clock.forward(HOUR);
    await tick(fixture);
    const { body: held } = await fixture.read(id);
    expect(held).toMatchObject({ canary_stage: 'stage_2', traffic_split: [0.9, 0.1] });
    expect(held.hold).toMatchObject({ reason: 'approval', note: null });
    expect((await tick(fixture)).changed).toEqual([]);
    const resumed = await fixture.post(id, 'resume');
    expect([resumed.status, resumed.body.detail.code]).toEqual([409, 'RES005']);
    expect(resumed.body.detail.message).toContain('advance');
    expect((await fixture.read(id)).body).toEqual(held);
    const advanced = await fixture.post(id, 'advance', { comment: 'go' });
    expect(advanced.body).toMatchObject({ canary_stage: 'stage_3', hold: null });
    expect((await actionsOf(fixture, id)).slice(0, 3)).toEqual([
      ['advance', 'anonymous', 'go'],
      ['hold', 'platform', 'approval'],
      ['advance', 'platform', 'dwell and trades'],
    ]);
  });

  it('health hold precedes the approval hold, which returns afterwards', async () => {
    const [fixture, id] = await due(['stage_2']);
    expect((await fixture.read(id)).body.hold.reason).toBe('approval');
    fixture.clock.forward(24 * HOUR);
    await tick(fixture);
    expect((await fixture.read(id)).body.hold.reason).toBe('no_traffic');
    await fixture.log(id, 'champion', [0.1]);
    expect((await fixture.read(id)).body).toMatchObject({
      hold: { reason: 'approval' },
      canary_stage: 'stage_1',
    });
    // A manual hold and its resume are not an approval.
    await fixture.post(id, 'hold');
    await fixture.post(id, 'resume');
    await tick(fixture);
    expect((await fixture.read(id)).body).toMatchObject({
      hold: { reason: 'approval' },
      canary_stage: 'stage_1',
    });
    expect((await fixture.post(id, 'rollback')).body).toMatchObject({ status: 'rolled_back', hold: null });
  });

  it('approval stage must be a later canary stage, listed once', async () => {
    const fixture = await challengeFixture(engine);
    for (const [body, field] of [
      [{ approval_stages: ['stage_1'] }, 'approval_stages.0'],
      [{ approval_stages: ['stage_2', 'stage_5'] }, 'approval_stages.1'],
      [{ approval_stages: ['stage_2', 'stage_2'] }, 'approval_stages'],
      [{ approval_stages: ['stage_2'], enable_canary: false }, 'approval_stages'],
    ] as const) {
      const { status, body: said } = await fixture.create(body);
      expect([status, said.detail.code, said.detail.field]).toEqual([400, 'VAL005', field]);
    }
  });
});

// docs/challenges.md#promotion: the registry's promote in the transaction of the verdict.
describe('automatic promotion', () => {
  const auto = { enable_canary: false, auto_promote: true };
  const production = async (fixture: ChallengeFixture) =>
    (await fixture.store.read(MODEL, [])).model!.production_version;

  /** Challenge one trade before its challenger wins at the planned look. */
  async function almost(options: Parameters<typeof challengeFixture>[1] = {}, body: object = {}) {
    const fixture = await challengeFixture(engine, options);
    const id: string = (await fixture.create({ ...auto, ...body })).body.challenge_id;
    const profits = generated(67890, 100, 1);
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', profits.slice(0, 99));
    return { fixture, id, last: () => fixture.log(id, 'challenger', profits.slice(99)) };
  }

  it('automatic promotion commits with the winning trade in the name of the creator', async () => {
    const { fixture, id, last } = await almost();
    const { body: reply } = await last();
    expect(reply).toMatchObject({ status: 'completed', recommendation: 'PROMOTE_CHALLENGER' });
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({
      status: 'completed',
      outcome: 'challenger_wins',
      traffic_split: [0, 1],
      auto_promote: true,
      promotion_rejected: null,
      promoted_at: expect.any(String),
    });
    expect((await fixture.store.read(MODEL, [])).model).toMatchObject({
      production_version: '2',
      active_challenge_id: null,
    });
    const { body: history } = await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`);
    expect(history.items[0]).toMatchObject({
      action: 'promote',
      version: '2',
      archived_versions: ['1'],
      challenge_id: id,
      actor: 'anonymous',
      reason: `Challenge ${id} was won: promoted automatically`,
    });
    expect((await actionsOf(fixture, id)).slice(0, 3)).toEqual([
      ['promote', 'anonymous', 'auto_promote'],
      ['complete', 'platform', 'challenger_wins'],
      ['planned_look', 'platform', null],
    ]);
    expect((await tick(fixture)).changed).toEqual([]);
    expect((await fixture.post(id, 'promote')).body).toEqual(body);
  });

  it('automatic promotion commits with a whole batch of new keys', async () => {
    const fixture = await challengeFixture(engine);
    const id: string = (await fixture.create(auto)).body.challenge_id;
    const profits: Record<string, number[]> = {
      champion: generated(12345, 100, 0),
      challenger: generated(67890, 100, 1),
    };
    const trades: object[] = [];
    // Keys of both variants in turn: a sample ratio mismatch prevents promotion.
    for (let n = 0; trades.length < 25; n++) {
      const { body } = await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=k-${n}`);
      const { variant, key } = body;
      if (variant !== ['challenger', 'champion'][trades.length % 2]) continue;
      trades.push({ trade_id: key, assignment_key: key, variant, profit_pct: profits[variant]!.pop() });
    }
    for (const [variant, rest] of Object.entries(profits)) await fixture.log(id, variant, rest);
    const { status, body } = await fixture.post(id, 'trades', { trades });
    expect([status, body.status, body.challenger_trades]).toEqual([201, 'completed', 100]);
    expect(await production(fixture)).toBe('2');
  });

  it('automatic promotion is atomic when another version is promoted concurrently', async () => {
    const { fixture, id, last } = await almost();
    await fixture.register();
    await fixture.stage('3');
    const [logged, promoted] = await Promise.all([last(), fixture.promote('3')]);
    expect([logged.status, promoted.status]).toEqual([201, 200]);
    expect(await production(fixture)).toBe('3');
    const { body } = await fixture.read(id);
    const { body: history } = await fixture.get(`/api/v1/models/${MODEL}/history?limit=2`);
    const [, before] = history.items;
    const expected =
      body.promoted_at === null
        ? { status: 'rolled_back', reason: 'champion_replaced', traffic_split: [1, 0] }
        : { status: 'completed', outcome: 'challenger_wins', traffic_split: [0, 1] };
    expect(body).toMatchObject(expected);
    expect(before).toMatchObject(
      body.promoted_at === null ? { action: 'stage' } : { action: 'promote', version: '2', challenge_id: id },
    );
  });

  it('crash before the commit stores neither verdict nor promotion; the next call stores both', async () => {
    const whole = await almost();
    const client = createDocumentClient({ endpoint: engine.endpoint });
    const actions: number[] = [];
    client.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName !== 'TransactWriteItemsCommand') return next(args);
        actions.push((args.input as { TransactItems: unknown[] }).TransactItems.length);
        throw new Error('the host is gone');
      },
      { step: 'initialize', name: 'crash' },
    );
    const { fixture, id } = whole;
    const tables = { jobs: fixture.jobsTable, registry: fixture.table, series: '' };
    const dying = await registryFixture(engine, { client, tables, deps: { clock: fixture.clock } });
    const trade = { trade_id: 'last', variant: 'challenger', profit_pct: generated(67890, 100, 1)[99] };
    expect((await dying.strategy('POST', `/challenges/${id}/trades`, trade)).status).toBe(500);
    expect(actions).toHaveLength(1);
    expect([(await fixture.read(id)).body.status, await production(fixture)]).toEqual(['active', '1']);
    expect((await fixture.post(id, 'trades', trade)).status).toBe(201);
    expect(await production(fixture)).toBe('2');
    client.destroy();
  });

  it('automatic promotion waits for a user when the registry rejects, with one event', async () => {
    const made = await almost();
    const tables = { jobs: made.fixture.jobsTable, registry: made.fixture.table, series: '' };
    const deps = { clock: made.fixture.clock };
    const strict = await registryFixture(engine, { tables, deps: { ...deps, fourEyesRequired: true } });
    const { fixture, id } = made;
    const last = { trade_id: 'last', variant: 'challenger', profit_pct: 2 };
    expect((await strict.strategy('POST', `/challenges/${id}/trades`, last)).status).toBe(201);
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({
      status: 'completed',
      outcome: 'challenger_wins',
      promoted_at: null,
      traffic_split: [0.5, 0.5],
      promotion_rejected: { code: 'AUTH004', message: expect.stringContaining('ask another approver') },
    });
    expect((await tick(fixture)).changed).toEqual([]);
    await fixture.log(id, 'champion', [1]);
    expect((await actionsOf(fixture, id)).filter(([action]: any) => action === 'promotion_rejected')).toEqual(
      [['promotion_rejected', 'platform', expect.stringContaining('AUTH004')]],
    );
    expect((await fixture.post(id, 'promote')).body).toMatchObject({
      promoted_at: expect.any(String),
      traffic_split: [0, 1],
    });
  });

  it.each([
    ['a challenger that is not staged', { challenger_version: '3' }, 'Version 3 is in stage None'],
    [
      'a champion that is not in Production',
      { champion_version: '2', challenger_version: '4' },
      'Version 1 is in',
    ],
  ])('automatic promotion rejects %s', async (_, versions, message) => {
    const fixture = await challengeFixture(engine);
    await fixture.register();
    await fixture.register();
    await fixture.stage('4');
    const id = (await fixture.create({ ...auto, ...versions })).body.challenge_id;
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, 1));
    const { promotion_rejected } = (await fixture.read(id)).body;
    expect([promotion_rejected.code, promotion_rejected.message]).toEqual([
      'RES005',
      expect.stringContaining(message),
    ]);
    expect(await production(fixture)).toBe('1');
  });

  it('next repair run retries a promotion when the registry was unavailable', async () => {
    let broken = false;
    const wrap = (store: RegistryStore): RegistryStore =>
      new Proxy(store, {
        get: (target, name: keyof RegistryStore) => {
          if (broken && name === 'read') throw new CodedError('SVC005');
          const value = target[name];
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    const { fixture, id, last } = await almost({ wrap });
    broken = true;
    expect((await last()).status).toBe(201);
    expect((await fixture.read(id)).body).toMatchObject({
      status: 'completed',
      outcome: 'challenger_wins',
      promoted_at: null,
      promotion_rejected: null,
    });
    expect((await tick(fixture)).changed).toEqual([]);
    broken = false;
    expect((await tick(fixture)).changed).toEqual([id]);
    expect([(await fixture.read(id)).body.traffic_split, await production(fixture)]).toEqual([[0, 1], '2']);
  });

  it('automatic promotion runs at the deadline from any process', async () => {
    const { fixture, id, last } = await almost({}, { max_duration_hours: 2 });
    const open = async (variant: string, count: number) => {
      const trades = Array.from({ length: count }, (_, n) => ({ trade_id: `${variant}-${n}`, variant }));
      await fixture.post(id, 'trades', { trades: trades.map((trade) => ({ ...trade, status: 'open' })) });
    };
    // Too many open trades block the verdict at the planned look, but not at the deadline.
    await open('challenger', 40);
    await last();
    await open('champion', 60);
    expect((await fixture.read(id)).body.status).toBe('active');
    fixture.clock.forward(2 * HOUR);
    expect((await fixture.read(id)).body).toMatchObject({ outcome: 'challenger_wins', promoted_at: null });
    const next = await fixture.create({ champion_version: '2', challenger_version: '1' });
    expect([next.status, next.body.detail.code]).toEqual([410, 'RES006']);
    const { body } = await fixture.read(id);
    expect(body.promoted_at > body.ended_at || body.promoted_at === body.ended_at).toBe(true);
    expect([body.traffic_split, await production(fixture)]).toEqual([[0, 1], '2']);
  });

  it.each([
    ['a grant', { groups: [] }, 'user:cat'],
    ['a grant to a group', { groups: ['desk'] }, 'group:desk'],
  ])(
    'automatic promotion needs a creator who may still change the model: by %s',
    async (_, who, principal) => {
      for (const isRevoked of [false, true]) {
        const made = await challengeFixture(engine);
        const grants = [{ principal, level: 'write' }] as const;
        await made.store.sharing.share(MODEL, [], grants);
        const tables = { jobs: made.jobsTable, registry: made.table, series: '' };
        const authenticate = async () => ({ id: 'cat', roles: ['approver' as const], ...who });
        const deps = { clock: made.clock };
        const cat = await registryFixture(engine, { tables, service: { authenticate }, deps });
        const versions = { champion_version: '1', challenger_version: '2' };
        const { body } = await cat.strategy('POST', `/api/v1/models/${MODEL}/challenges`, {
          ...versions,
          ...auto,
        });
        if (isRevoked) await made.store.sharing.share(MODEL, grants, []);
        await made.log(body.challenge_id, 'champion', generated(12345, 100, 0));
        await made.log(body.challenge_id, 'challenger', generated(67890, 100, 1));
        expect(await production(made)).toBe(isRevoked ? '1' : '2');
        expect((await made.read(body.challenge_id)).body).toMatchObject({
          outcome: 'challenger_wins',
          promotion_rejected: isRevoked
            ? {
                code: 'AUTH005',
                message: expect.stringContaining('cat, who created this challenge, may not'),
              }
            : null,
        });
      }
    },
  );

  it.each([
    [['stage_2', 'stage_3', 'stage_4'], '1'],
    [['stage_4'], '1'],
    [[], '2'],
  ])('a win before the approvals of %j leaves version %s in Production', async (approval_stages, version) => {
    const { fixture, id, last } = await almost({}, { enable_canary: true, approval_stages });
    await last();
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({ outcome: 'challenger_wins', canary_stage: 'stage_1' });
    expect(body.promotion_rejected).toEqual(
      approval_stages.length === 0
        ? null
        : {
            at: expect.any(String),
            code: 'RES005',
            message: `It won before an approver had advanced it to ${approval_stages[0]}`,
          },
    );
    expect(await production(fixture)).toBe(version);
  });

  it('automatic promotion requires the right to promote', async () => {
    const made = await challengeFixture(engine);
    const tables = { jobs: made.jobsTable, registry: made.table, series: '' };
    for (const [role, auto_promote, status] of [
      ['researcher', true, 403],
      ['researcher', false, 201],
      ['approver', true, 201],
    ] as const) {
      const authenticate = async () => ({ id: 'anonymous', roles: [role], groups: [] });
      const fixture = await registryFixture(engine, { tables, service: { authenticate } });
      const body = { champion_version: '1', challenger_version: '2', auto_promote };
      const response = await fixture.strategy('POST', `/api/v1/models/${MODEL}/challenges`, body);
      expect(response.status).toBe(status);
      if (status === 201) await made.post(response.body.challenge_id, 'rollback');
      else
        expect(response.body.detail).toMatchObject({
          code: 'AUTH004',
          field: 'auto_promote',
          context: { required: 'approver' },
        });
    }
  });
});

// docs/challenges.md#routing: exits use the version that opened the position, also after a rollback.
describe('open positions after a challenge', () => {
  /** Challenge with one key assigned to each variant. */
  async function entered(body: object) {
    const fixture = await challengeFixture(engine);
    expect((await fixture.create({ on_rollback: 'sell' })).body.detail).toMatchObject({
      code: 'VAL005',
      field: 'on_rollback',
    });
    const id: string = (await fixture.create({ enable_canary: false, ...body })).body.challenge_id;
    const assign = async (key: string) =>
      (await fixture.post(id, 'assignments', { assignment_key: key })).body;
    const route = async (key: string) =>
      (await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${key}`)).body;
    const keys: Record<string, string> = {};
    for (let n = 0; Object.keys(keys).length < 2; n++) keys[(await assign(`k-${n}`)).variant] = `k-${n}`;
    return { fixture, id, assign, route, keys: keys as { champion: string; challenger: string } };
  }

  it.each([
    [undefined, 'finish', false],
    ['close', 'close', true],
  ])(
    'rolled-back challenge reports should_close for on_rollback %s',
    async (on_rollback, policy, should_close) => {
      const { fixture, id, assign, route, keys } = await entered({ on_rollback });
      expect((await fixture.read(id)).body.on_rollback).toBe(policy);
      expect(await assign(keys.challenger)).toMatchObject({ should_close: false, repeated: true });
      await fixture.post(id, 'rollback');
      for (const response of [await assign(keys.challenger), await route(keys.challenger)]) {
        expect(response).toMatchObject({ variant: 'challenger', version: '2', should_close });
        expect([response.challenge_id, response.traffic_split]).toEqual([id, [1, 0]]);
      }
      for (const response of [await assign(keys.champion), await route(keys.champion)])
        expect(response).toMatchObject({ variant: 'champion', version: '1', should_close: false });
      expect(await route('new')).toMatchObject({ challenge_id: null, version: '1', should_close: false });
    },
  );

  it('keys keep their version when the challenger is promoted, also keys assigned after its win', async () => {
    const { fixture, id, assign, route, keys } = await entered({ on_rollback: 'close' });
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, 1));
    const since: Record<string, string> = {};
    for (let n = 0; Object.keys(since).length < 2; n++) since[(await assign(`s-${n}`)).variant] = `s-${n}`;
    const totals = (await fixture.evaluate(id)).assignments;
    await assign('s-1000');
    expect((await fixture.evaluate(id)).assignments).toEqual(totals);
    await fixture.post(id, 'promote');
    for (const key of [keys.champion, since.champion!])
      expect(await route(key)).toMatchObject({ variant: 'champion', version: '1', should_close: false });
    for (const key of [keys.challenger, since.challenger!])
      expect(await route(key)).toMatchObject({ variant: 'challenger', version: '2', should_close: false });
    expect(await route('new')).toMatchObject({ challenge_id: null, version: '2' });
  });

  it('lapsed promotion reports should_close for positions of the challenger', async () => {
    const { fixture, id, route, keys } = await entered({ on_rollback: 'close' });
    await fixture.log(id, 'champion', generated(12345, 100, 0));
    await fixture.log(id, 'challenger', generated(67890, 100, 1));
    expect(await route(keys.challenger)).toMatchObject({ should_close: false, traffic_split: [0.5, 0.5] });
    await fixture.post(id, 'rollback');
    expect(await route(keys.challenger)).toMatchObject({ should_close: true, version: '2' });
  });
});
