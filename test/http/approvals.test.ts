import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireApprovals } from '#domain/approvals/expire-approvals.ts';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingJob } from '../support/jobs.ts';

const NOW = Date.parse('2026-06-01T12:00:00.000Z');
const DAY = 86_400_000;

let now = NOW;
/** Model whose version 1 an approval has promoted. */
let promoted: string;
/** Model with versions 1 to 7 in stage None. */
let listed: string;
let fixture: AccessFixture;
let ann: Person;
let bob: Person;
let amy: Person;
let root: Person;
beforeAll(async () => {
  fixture = await accessFixture({ clock: { now: () => now } });
  ann = fixture.person('ann');
  bob = fixture.person('bob');
  amy = fixture.person('amy', 'approver');
  root = fixture.person('root', 'admin');
});
afterAll(() => fixture?.stop());

const ALL = '/api/v1/approvals';
const of = (model: string) => `/api/v1/models/${model}/approvals`;

function move(person: Person, model: string, name: 'stage' | 'promote', version: number) {
  return person.post(`/api/v1/strategies/${model}/${name}`, { version });
}

/** Models of ann, shared with amy (write) and bob (read): built-in strategies, one per test. */
const MODELS = [
  'ema_crossover',
  'buy_and_hold',
  'donchian_trend',
  'macd_momentum',
  'bollinger_breakout',
  'supertrend',
  'rsi_mean_reversion',
  'ml_classifier',
];

/** A model with versions in these stages, from number 1. */
async function model(...stages: ('None' | 'Staging' | 'Production')[]): Promise<string> {
  const name = MODELS.shift()!;
  const { config } = pendingJob('bt-0');
  const run = await fixture.backtest('ann', { config: { ...config, strategy: name } }, 'completed');
  for (const [index, stage] of stages.entries()) {
    expect((await ann.register(run, name)).status).toBe(201);
    if (stage === 'None') continue;
    expect((await move(root, name, 'stage', index + 1)).status).toBe(200);
    if (stage === 'Production') expect((await move(root, name, 'promote', index + 1)).status).toBe(200);
  }
  await ann.share(`/api/v1/models/${name}`, 'user:amy!', 'user:bob');
  return name;
}

function request(person: Person, name: string, body: Record<string, unknown> = {}, headers = {}) {
  return person.post(of(name), { action: 'promote', version: 2, reason: 'Won', ...body }, headers);
}

async function requested(name: string, body: Record<string, unknown> = {}, person = ann): Promise<string> {
  const answer = await request(person, name, body);
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  return answer.body.approval_id;
}

const decide = (person: Person, id: string, decision: string, body: object = {}, headers = {}) =>
  person.post(`${ALL}/${id}/${decision}`, body, headers);
const production = async (name: string) => (await ann.get(`/api/v1/models/${name}/production`)).body.version;
const show = async (id: string) => (await ann.get(`${ALL}/${id}`)).body;

describe('request for approval', () => {
  let name: string;
  beforeAll(async () => {
    name = await model('Production', 'Staging', 'None');
  });

  it('has who, why, and a due time in 7 days, and fixes version and champion', async () => {
    const { status, body } = await request(bob, name, { version: 'latest', action: 'stage' });
    expect([status, body]).toEqual([
      201,
      {
        approval_id: expect.stringMatching(/^ap-[0-9A-Z]{26}$/),
        model_name: name,
        action: 'stage',
        version: '3',
        status: 'requested',
        reason: 'Won',
        requested_by: 'bob',
        requested_at: '2026-06-01T12:00:00.000Z',
        due_at: '2026-06-08T12:00:00.000Z',
        decided_by: null,
        decided_at: null,
        decision_reason: null,
        expected_production: '1',
      },
    ]);
    expect(await show(body.approval_id)).toEqual(body);
    expect((await ann.get(of(name))).body).toEqual({ items: [body], next_cursor: null });
    expect((await bob.get(`${ALL}?status=requested`)).body.items).toEqual([body]);
    expect((await decide(bob, body.approval_id, 'withdraw')).body).toMatchObject({
      status: 'withdrawn',
      decided_by: 'bob',
      decision_reason: null,
    });
  });

  it.each([
    ['no reason', { reason: undefined }, 400, undefined],
    ['a number as reason', { reason: 7 }, 400, undefined],
    ['an invisible reason', { reason: ' \u200b\n' }, 400, 'VAL004'],
    ['a long reason', { reason: 'x'.repeat(2_001) }, 400, 'VAL005'],
    ['an unknown action', { action: 'delete' }, 400, 'VAL005'],
    ['__proto__ as action', { action: '__proto__' }, 400, 'VAL005'],
    ['constructor as action', { action: 'constructor' }, 400, 'VAL005'],
    ['no version', { version: undefined }, 400, 'VAL004'],
    ['an unknown version', { version: 9 }, 404, 'RES003'],
    ['__proto__ as version', { version: '__proto__' }, 404, 'RES003'],
    ['a long version', { version: 'x'.repeat(10_000) }, 404, 'RES003'],
    ['due_at in less than a minute', { due_at: '2026-06-01T12:00:59Z' }, 400, 'VAL005'],
    ['due_at in more than 30 days', { due_at: '2026-07-01T12:00:01Z' }, 400, 'VAL005'],
    ['due_at that is no time', { due_at: 'tomorrow' }, 400, 'VAL005'],
    ['a long due_at', { due_at: '9'.repeat(100_000) }, 400, 'VAL005'],
    ['another champion', { expected_production: 2 }, 409, 'RES005'],
    ['no champion where there is one', { expected_production: null }, 409, 'RES005'],
    ['the staging of a staged version', { action: 'stage' }, 409, 'RES005'],
    ['the promotion of the champion', { action: 'promote', version: 1 }, 409, 'RES005'],
    ['the staging of the champion', { action: 'stage', version: 1 }, 409, 'RES005'],
    ['the rollback to the champion', { action: 'rollback', version: 1 }, 409, 'RES005'],
  ])('is rejected for %s', async (_, body, status, code) => {
    const answer = await request(bob, name, body);
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  it.each([
    ['2026-06-01T12:01:00Z', '2026-06-01T12:01:00.000Z'],
    ['2026-07-01T14:00:00+02:00', '2026-07-01T12:00:00.000Z'],
    ['2026-06-03', '2026-06-03T00:00:00.000Z'],
    ['20260603T0630', '2026-06-03T06:30:00.000Z'],
  ])('takes due_at %s', async (due_at, stored) => {
    const { body } = await request(ann, name, { due_at });
    expect(body.due_at).toBe(stored);
    await decide(ann, body.approval_id, 'withdraw');
  });

  it('of a model that the caller may not read is AUTH005, and its ID too', async () => {
    const id = await requested(name);
    const eve = fixture.person('eve', 'approver', ['quants']);
    expect((await request(eve, name)).code).toBe('AUTH005');
    expect((await eve.get(of(name))).code).toBe('AUTH005');
    expect((await eve.get(`${ALL}/${id}`)).code).toBe('AUTH005');
    for (const decision of ['approve', 'decline', 'withdraw']) {
      expect((await decide(eve, id, decision, { reason: 'why' })).code).toBe('AUTH005');
    }
    expect((await eve.get(ALL)).body).toEqual({ items: [], next_cursor: null });
    expect((await fixture.person('val', 'viewer').get(`${ALL}/ap-0`)).code).toBe('APR001');
    expect((await root.post(`${ALL}/ap-0/approve`, {})).code).toBe('APR001');
    expect((await root.get(`${ALL}/${'x'.repeat(101)}`)).code).toBe('VAL005');
    await decide(ann, id, 'withdraw');
  });

  it('is open once per action and version', async () => {
    const id = await requested(name);
    const again = await request(bob, name);
    expect([again.status, again.code, again.body.detail.context.approval_id]).toEqual([409, 'RES005', id]);
    const concurrent = await Promise.all(
      Array.from({ length: 5 }, () => request(bob, name, { action: 'stage', version: 3 })),
    );
    expect(concurrent.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    await decide(ann, id, 'withdraw');
    expect(await requested(name)).not.toBe(id);
    const { model: stored } = await fixture.registry.read(name, []);
    expect(stored!.open_approvals).toHaveLength(2);
    for (const { approval_id } of stored!.open_approvals) await decide(root, approval_id, 'withdraw');
  });

  it('with an Idempotency-Key is made once', async () => {
    const headers = { 'Idempotency-Key': 'k1' };
    const first = await request(ann, name, {}, headers);
    const second = await request(ann, name, {}, headers);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect((await request(ann, name, { reason: 'Other' }, headers)).code).toBe('RES005');
    await decide(ann, first.body.approval_id, 'withdraw');
  });
});

describe('decision', () => {
  let plain: string;
  beforeAll(async () => {
    plain = await model('Staging');
  });

  it('approval makes the transition in the same transaction, and the history names the request', async () => {
    const name = await model('Production', 'Staging', 'None');
    const staging = await requested(name, { action: 'stage', version: 3 });
    // A stage needs a researcher with write access, a promotion an approver.
    expect((await decide(bob, staging, 'approve')).code).toBe('AUTH005');
    await ann.share(`/api/v1/models/${name}`, 'user:amy!', 'user:bob!');
    expect((await decide(bob, staging, 'approve')).body.status).toBe('approved');
    const id = await requested(name);
    expect((await decide(bob, id, 'approve')).code).toBe('AUTH004');
    expect((await decide(bob, id, 'decline', { reason: 'no' })).code).toBe('AUTH004');
    const { status, body } = await decide(amy, id, 'approve', { reason: 'Looks good' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        approval_id: id,
        status: 'approved',
        decided_by: 'amy',
        decided_at: '2026-06-01T12:00:00.000Z',
        decision_reason: 'Looks good',
      }),
    ]);
    expect(await production(name)).toBe('2');
    const { items } = (await ann.get(`/api/v1/models/${name}/history?limit=1`)).body;
    expect(items[0]).toMatchObject({ action: 'promote', version: '2', actor: 'amy', reason: 'Won' });
    expect(items[0].notes).toContain(`approval ${id}`);
    expect((await fixture.registry.read(name, [])).model!.open_approvals).toEqual([]);
    // The same decision by the same user is no error; any other is.
    expect((await decide(amy, id, 'approve')).body).toEqual(body);
    for (const [person, decision] of [
      [root, 'approve'],
      [amy, 'decline'],
      [ann, 'withdraw'],
    ] as const) {
      const late = await decide(person, id, decision, { reason: 'late' });
      expect([late.status, late.code, late.body.detail.context.status]).toEqual([409, 'RES005', 'approved']);
    }
  });

  it('nobody approves a request of their own, admins included', async () => {
    const name = plain;
    for (const person of [amy, root]) {
      const id = await requested(name, { version: 1 }, person);
      const own = await decide(person, id, 'approve');
      expect([own.status, own.code, own.body.detail.context.rule]).toEqual([403, 'AUTH004', 'four_eyes']);
      expect((await show(id)).status).toBe('requested');
      await decide(person, id, 'withdraw');
    }
  });

  it('decline needs a reason and keeps it, and a withdrawal is of the requester or an admin', async () => {
    const name = plain;
    const id = await requested(name, { version: 1 });
    for (const body of [{}, { reason: ' ' }])
      expect((await decide(amy, id, 'decline', body)).code).toBe('VAL004');
    expect((await decide(bob, id, 'withdraw')).code).toBe('AUTH005');
    expect((await decide(amy, id, 'withdraw')).code).toBe('AUTH005');
    const declined = await decide(amy, id, 'decline', { reason: 'Too few trades\u202e<b>' });
    expect(declined.body).toMatchObject({
      status: 'declined',
      decided_by: 'amy',
      decision_reason: 'Too few trades\u202e<b>',
    });
    expect((await decide(amy, id, 'decline', { reason: 'again' })).body).toEqual(declined.body);
    expect((await decide(root, id, 'decline', { reason: 'again' })).code).toBe('RES005');
    const second = await requested(name, { version: 1 });
    expect((await decide(root, second, 'withdraw', { reason: 'Stale' })).body.status).toBe('withdrawn');
    expect(await production(name)).toBe(null);
  });

  it('without authentication a request is made and withdrawn, and never decided', async () => {
    const name = plain;
    const { development } = fixture;
    const id = await requested(name, { version: 1 });
    for (const decision of ['approve', 'decline']) {
      const rejected = await decide(development, id, decision, { reason: 'why' });
      expect([rejected.status, rejected.code]).toEqual([403, 'AUTH004']);
      expect(rejected.body.detail.message).toContain('--auth');
    }
    await decide(ann, id, 'withdraw');
    const own = await requested(name, { version: 1 }, development);
    expect((await show(own)).requested_by).toBe('anonymous');
    expect((await decide(amy, own, 'approve')).body.status).toBe('approved');
    promoted = name;
  });

  it('rules that reject the transition leave the request open', async () => {
    const name = await model('Production', 'None', 'Staging');
    const unstaged = await requested(name);
    const rejected = await decide(amy, unstaged, 'approve');
    expect([rejected.status, rejected.code]).toEqual([409, 'RES005']);
    expect(rejected.body.detail.context).toMatchObject({
      status: 'requested',
      production: '1',
      stage: 'None',
    });
    // Staged in the meantime, it can be approved: the champion is the same.
    const other = await requested(name, { version: 3 });
    expect((await move(root, name, 'promote', 3)).status).toBe(200);
    expect(await show(other)).toMatchObject({
      status: 'withdrawn',
      decided_by: 'platform',
      decision_reason: 'The transition happened otherwise: promote',
    });
    // A rollback without a version is to the version before, fixed when requested.
    const back = await requested(name, { action: 'rollback', version: undefined });
    expect(await show(back)).toMatchObject({ version: '1', expected_production: '3' });
    const changed = await decide(amy, unstaged, 'approve');
    expect([changed.status, changed.code]).toEqual([409, 'RES005']);
    expect(changed.body.detail.context).toMatchObject({ expected_production: '1', production: '3' });
    expect((await show(unstaged)).status).toBe('requested');
    expect((await decide(amy, back, 'approve')).body.status).toBe('approved');
    expect(await production(name)).toBe('1');
  });
});

describe('stop', () => {
  /** The model of the decisions before: version 1 is in Production. */
  let stopping: string;
  beforeAll(() => {
    stopping = promoted;
  });
  it('names no version, needs one in Production, and its approval leaves Production empty', async () => {
    const body = { action: 'stop', version: undefined };
    const rejected = await request(ann, stopping, { ...body, version: 1 });
    expect([rejected.status, rejected.code]).toEqual([400, 'VAL005']);
    const first = await requested(stopping, body);
    expect(await show(first)).toMatchObject({ version: null, expected_production: '1' });
    expect((await request(bob, stopping, body)).code).toBe('RES005');
    expect((await decide(amy, first, 'approve')).body.status).toBe('approved');
    expect(await production(stopping)).toBe(null);
    expect((await request(ann, stopping, body)).code).toBe('RES005');
    // A rollback starts it again; a direct stop withdraws the request.
    const back = await requested(stopping, { action: 'rollback', version: 1 });
    expect((await decide(amy, back, 'approve')).body.status).toBe('approved');
    const second = await requested(stopping, body);
    expect((await amy.post(`/api/v1/models/${stopping}/stop`, { reason: 'Loss' })).status).toBe(200);
    expect(await show(second)).toMatchObject({ status: 'withdrawn', decided_by: 'platform' });
  });
});

describe('concurrent decisions', () => {
  it('exactly one of them holds', async () => {
    const name = await model('Production', 'Staging', 'Staging');
    const second = fixture.person('zoe', 'approver');
    await ann.share(`/api/v1/models/${name}`, 'user:amy!', 'user:zoe!');
    for (const version of [2, 3]) {
      const id = await requested(name, { version });
      const calls = [
        () => decide(amy, id, 'approve'),
        () => decide(second, id, 'approve'),
        () => decide(root, id, 'approve'),
        () => decide(second, id, 'decline', { reason: 'no' }),
        () => decide(ann, id, 'withdraw'),
      ];
      const answers = await Promise.all(calls.map((call) => call()));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
      const { body } = answers.find(({ status }) => status === 200)!;
      expect(await show(id)).toEqual(body);
      expect((await production(name)) === String(version)).toBe(body.status === 'approved');
    }
  });

  it('a request that is made while its transition happens is rejected or withdrawn', async () => {
    const name = await model('Production', 'Staging');
    const [made, promoted] = await Promise.all([request(ann, name), move(root, name, 'promote', 2)]);
    expect(promoted.status).toBe(200);
    if (made.status === 201) expect((await show(made.body.approval_id)).status).toBe('withdrawn');
    else expect([made.status, made.code]).toEqual([409, 'RES005']);
    expect((await fixture.registry.read(name, [])).model!.open_approvals).toEqual([]);
  });
});

describe('lists', () => {
  it('model has at most 20 open requests, and the lists have pages, newest first', async () => {
    const name = await model('None', 'None', 'None', 'None', 'None', 'None', 'None');
    listed = name;
    const all = [1, 2, 3, 4, 5, 6, 7].flatMap((version) =>
      ['stage', 'promote', 'rollback'].map((action) => ({ version, action })),
    );
    const ids: string[] = [];
    for (const body of all.slice(0, 20)) ids.unshift(await requested(name, body, bob));
    const rejected = await request(bob, name, all[20]);
    expect([rejected.status, rejected.code, rejected.body.detail.context]).toEqual([
      409,
      'RES005',
      { model_name: name, count: 20, max: 20 },
    ]);
    for (const list of [`${of(name)}?limit=7`, `${ALL}?limit=7&status=requested`]) {
      const found: string[] = [];
      for (let next = ''; ; ) {
        const { body } = await bob.get(`${list}${next}`);
        expect(body.items.length).toBeLessThanOrEqual(7);
        const own = body.items.filter((each: { model_name: string }) => each.model_name === name);
        found.push(...own.map(({ approval_id }: { approval_id: string }) => approval_id));
        if (body.next_cursor === null) break;
        next = `&cursor=${body.next_cursor}`;
      }
      expect(found).toEqual(ids);
    }
    // A stage may be approved by researchers with write access, the rest by approvers only.
    const waiting = async (person: Person) => {
      const { items } = (await person.get(`${ALL}?waiting_for=me&limit=100`)).body;
      return items.filter((each: { model_name: string }) => each.model_name === name).length;
    };
    expect([await waiting(ann), await waiting(amy), await waiting(root), await waiting(bob)]).toEqual([
      7, 20, 20, 0,
    ]);
    expect(await waiting(fixture.development)).toBe(0);
    expect((await bob.get(`${ALL}?waiting_for=you`)).code).toBe('VAL005');
    expect((await bob.get(`${ALL}?cursor=x`)).code).toBe('VAL006');
  });
});

describe('four eyes', () => {
  it('registrant approves no promotion where the platform requires four eyes', async () => {
    const strict = await accessFixture({ fourEyesRequired: true });
    const [reg, other] = [strict.person('reg', 'approver'), strict.person('other', 'approver')];
    const { config } = pendingJob('bt-0');
    const strategy = 'ema_crossover';
    const run = await strict.backtest('reg', { config: { ...config, strategy } }, 'completed');
    await reg.register(run, strategy);
    await reg.share(`/api/v1/models/${strategy}`, 'user:other!');
    await move(reg, strategy, 'stage', 1);
    const { approval_id } = (await request(other, strategy, { version: 1 })).body;
    expect((await reg.get(`${ALL}?waiting_for=me`)).body.items).toEqual([]);
    const rejected = await decide(reg, approval_id, 'approve');
    expect([rejected.code, rejected.body.detail.context.rule]).toEqual(['AUTH004', 'four_eyes']);
    expect((await decide(reg, approval_id, 'decline', { reason: 'Wait' })).status).toBe(200);
    await strict.stop();
  });
});

describe('time', () => {
  it('request past its due time is expired at every read and cannot be decided', async () => {
    const name = await model('Staging');
    const id = await requested(name, { version: 1, due_at: '2026-06-02' });
    now = Date.parse('2026-06-01T23:59:59.999Z');
    expect((await show(id)).status).toBe('requested');
    now = Date.parse('2026-06-02T00:00:00.000Z');
    const expired = { status: 'expired', decided_by: null, decided_at: null };
    expect(await show(id)).toMatchObject(expired);
    expect((await ann.get(of(name))).body.items).toEqual([expect.objectContaining(expired)]);
    expect((await ann.get(`${of(name)}?status=requested`)).body.items).toEqual([]);
    expect((await amy.get(`${ALL}?status=expired`)).body.items).toHaveLength(1);
    const { items } = (await amy.get(`${ALL}?waiting_for=me`)).body;
    expect(items.map(({ model_name }: { model_name: string }) => model_name)).not.toContain(name);
    for (const decision of ['approve', 'decline', 'withdraw']) {
      const late = await decide(root, id, decision, { reason: 'late' });
      expect([late.code, late.body.detail.context.status]).toEqual(['RES005', 'expired']);
    }
    // Another one may be made, and the transition ends only that.
    const second = await requested(name, { version: 1 });
    expect((await move(root, name, 'promote', 1)).status).toBe(200);
    expect((await show(id)).status).toBe('expired');
    expect((await show(second)).status).toBe('withdrawn');
    now = NOW + DAY;
  });
});

it('pass of repair stores that a request has expired, once, and a decision before it holds', async () => {
  const name = listed;
  // Those of the tests before have expired.
  now = NOW + 8 * DAY;
  const [first, second] = [
    await requested(name, { version: 1, due_at: isoIn(60) }),
    await requested(name, { action: 'rollback', version: 1, due_at: isoIn(60) }),
  ];
  await decide(ann, second, 'withdraw');
  const stored = async (id: string) => (await fixture.registry.approvals.read(id))!.status;
  const errors: unknown[] = [];
  const pass = () =>
    expireApprovals({ registry: fixture.registry, clock: { now: () => now } }, (...error) =>
      errors.push(error),
    );
  await pass();
  expect(await stored(first)).toBe('requested');
  now += 60_000;
  await pass();
  await pass();
  expect([await stored(first), await stored(second), errors]).toEqual(['expired', 'withdrawn', []]);
});

function isoIn(seconds: number): string {
  return new Date(now + seconds * 1_000).toISOString();
}
