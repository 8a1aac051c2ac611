import { PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { MAX_GRANTS } from '#contract/values/sharing.ts';
import { jobListOf } from '#contract/values/tables.ts';
import type { Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { accessScene, at, idsOf } from './access-backtests-fixture.ts';

const scene = accessScene();

const PARTS = [
  '',
  '/equity',
  '/report-data',
  '/trades',
  '/positions',
  '/curve',
  '/export?format=json',
  '/sharing',
];

/** Access items of a job by principal. */
async function rowsOf(jobId: string): Promise<Record<string, string>> {
  const { Items = [] } = await scene.fixture.client.send(
    new QueryCommand({
      TableName: scene.fixture.jobsTable,
      KeyConditionExpression: 'job_id = :id AND begins_with(#item, :access)',
      ExpressionAttributeNames: { '#item': 'item' },
      ExpressionAttributeValues: { ':id': jobId, ':access': 'ACCESS#' },
    }),
  );
  const listed = Items.filter(
    ({ principal_kind, principal_kind_status }) => principal_kind || principal_kind_status,
  );
  return Object.fromEntries(
    listed.map(({ item, principal_kind_status }) => [item.slice('ACCESS#'.length), principal_kind_status]),
  );
}

describe('caller', () => {
  it('getMe returns the subject, its groups and its roles with those that they include', async () => {
    const approver = scene.fixture.person('eve', 'approver', ['desk']);
    expect((await approver.get('/api/v1/me')).body).toEqual({
      subject: 'eve',
      roles: ['viewer', 'researcher', 'approver'],
      groups: ['approver', 'desk'],
      enforced: true,
    });
    expect((await scene.admin.get('/api/v1/me')).body.roles).toHaveLength(4);
  });

  it('getMe requires a token only where authentication is enforced', async () => {
    expect(await scene.fixture.withoutToken.get('/api/v1/me')).toMatchObject({
      status: 401,
      code: 'AUTH003',
    });
    expect((await scene.fixture.development.get('/api/v1/me')).body).toEqual({
      subject: 'anonymous',
      roles: ['viewer', 'researcher', 'approver', 'admin'],
      groups: [],
      enforced: false,
    });
  });
});

describe('backtest access', () => {
  it('backtest is visible only to its owner until it is shared', async () => {
    const id = await scene.fixture.backtest('ann', {}, 'completed');
    for (const part of PARTS) {
      const rejected = await scene.bob.get(at(id) + part);
      expect([part, rejected.status, rejected.code]).toEqual([part, 403, 'AUTH005']);
      expect(rejected.body.detail).toMatchObject({
        field: 'job_id',
        context: { resource: 'backtest', id, required: 'read' },
      });
      // The response contains no part of the job.
      expect(JSON.stringify(rejected.body)).not.toMatch(/ann|ema_crossover/);
    }
    const statuses = async (person: Person) =>
      Promise.all(PARTS.map(async (part) => (await person.get(at(id) + part)).status));
    for (const person of [scene.ann, scene.admin, scene.fixture.development])
      expect(new Set(await statuses(person))).toEqual(new Set([200]));
    expect(await statuses(scene.fixture.withoutToken)).toEqual(PARTS.map(() => 401));
    expect((await scene.bob.get(at('bt-unknown'))).code).toBe('RES001');
    expect((await scene.bob.get(at('nonsense'))).code).toBe('VAL005');
  });

  it('backtest can be changed only with a write grant', async () => {
    const id = await scene.fixture.backtest('ann');
    await scene.ann.share(at(id), 'user:bob');
    expect((await scene.bob.get(at(id))).status).toBe(200);
    expect(await scene.bob.post(`${at(id)}/cancel`)).toMatchObject({ status: 403, code: 'AUTH005' });
    expect((await scene.fixture.jobs.get(id))!.status).toBe('pending');
    await scene.ann.share(at(id), 'user:bob!');
    // A grant does not add a role.
    const viewer = scene.fixture.person('bob', 'viewer');
    expect(await viewer.post(`${at(id)}/cancel`)).toMatchObject({ status: 403, code: 'AUTH004' });
    expect(await scene.bob.post(`${at(id)}/cancel`)).toMatchObject({ status: 200 });
  });

  it('hyperopt job that is shared is read and used for a backtest by its grant', async () => {
    const id = `ho-${ulids.ulid()}`;
    await scene.fixture.hyperoptJobs.create({ ...pendingHyperopt(id), owner: 'ann' });
    const use = () =>
      scene.bob.post('/api/v1/backtests', { config: { strategy: 'ema_crossover' }, hyperopt_job_id: id });
    expect((await use()).code).toBe('AUTH005');
    const shared_with = [{ principal: 'user:bob', level: 'read' }];
    await scene.ann.strategy('PUT', `/api/v1/hyperopt/${id}/sharing`, { shared_with });
    expect((await scene.bob.strategy('GET', `/api/v1/hyperopt/${id}`)).status).toBe(200);
    // It has not ended.
    expect((await use()).code).toBe('RES005');
    expect(await scene.fixture.hyperoptJobs.get(id)).toMatchObject({ shared_with });
  });

  it('of two who share at once, the one that expected other grants is rejected', async () => {
    const id = await scene.fixture.backtest('ann');
    const change = (expected: readonly object[], ...names: string[]) =>
      scene.ann.put(`${at(id)}/sharing`, {
        shared_with: names.map((principal) => ({ principal })),
        expected_shared_with: expected,
      });
    expect((await change([], 'user:bob', 'user:dan')).status).toBe(200);
    const rejected = await change([], 'user:eve');
    expect([rejected.status, rejected.code, rejected.body.detail.field]).toEqual([
      409,
      'RES005',
      'expected_shared_with',
    ]);
    const { shared_with } = (await scene.ann.get(`${at(id)}/sharing`)).body;
    expect(shared_with).toMatchObject([{ principal: 'user:bob' }, { principal: 'user:dan' }]);
    expect(rejected.body.detail.context.shared_with).toEqual(shared_with);
    expect((await change([{ principal: 'user:dan', level: 'write' }, shared_with[0]])).code).toBe('RES005');
    expect((await change(shared_with.toReversed(), 'user:eve')).status).toBe(200);
  });

  it('only owner and admins can share a backtest', async () => {
    const id = await scene.fixture.backtest('ann');
    await scene.ann.share(at(id), 'user:bob!');
    expect(await scene.bob.share(at(id), 'user:bob!', 'user:eve')).toMatchObject({
      status: 403,
      code: 'AUTH005',
    });
    const sharing = { owner: 'ann', shared_with: [{ principal: 'user:bob', level: 'write' }] };
    expect((await scene.bob.get(`${at(id)}/sharing`)).body).toEqual(sharing);
    expect((await scene.admin.share(at(id), 'group:desk')).status).toBe(200);
    expect((await scene.bob.get(at(id))).code).toBe('AUTH005');
    expect((await scene.fixture.person('eve', 'viewer', ['desk']).get(at(id))).status).toBe(200);
    expect((await scene.fixture.person('eve', 'viewer', ['desks']).get(at(id))).code).toBe('AUTH005');
    expect((await scene.fixture.person('desk', 'viewer').get(at(id))).code).toBe('AUTH005');
    await scene.ann.share(at(id), 'everyone');
    expect((await scene.fixture.person('eve', 'viewer').get(at(id))).status).toBe(200);
    expect((await scene.fixture.withoutToken.get(at(id))).code).toBe('AUTH003');
    expect((await scene.ann.share(at('bt-unknown'))).code).toBe('RES001');
    expect((await scene.admin.share(at('bt-unknown'))).code).toBe('RES001');
  });

  it('removed grant takes effect immediately, and sharing is idempotent', async () => {
    const id = await scene.fixture.backtest('ann');
    for (let i = 0; i < 2; i++) {
      const { status, body } = await scene.ann.share(at(id), 'user:bob', 'group:desk!');
      expect([status, body.shared_with]).toEqual([
        200,
        [
          { principal: 'user:bob', level: 'read' },
          { principal: 'group:desk', level: 'write' },
        ],
      ]);
    }
    expect(await idsOf(scene.bob)).toContain(id);
    const before = (await scene.fixture.jobs.get(id))!;
    expect((await scene.ann.share(at(id))).body).toEqual({ owner: 'ann', shared_with: [] });
    // A concurrent job end does not restore the grant.
    await scene.fixture.jobs.sharing.settle({ ...before, status: 'completed' });
    expect(Object.keys(await rowsOf(id))).toEqual(['user:ann']);
    expect((await scene.bob.get(at(id))).code).toBe('AUTH005');
    expect(await idsOf(scene.bob)).not.toContain(id);
    expect(await idsOf(scene.ann)).toContain(id);
  });

  it.each([
    ['shared_with.0.principal', [{ principal: '' }]],
    ['shared_with.0.principal', [{ principal: 'user:\u202Eann' }]],
    ['shared_with.0.principal', [{ principal: 'user:a\nb' }]],
    ['shared_with.0.principal', [{ principal: 'bob' }]],
    ['shared_with.0.principal', [{ principal: 'user:' }]],
    ['shared_with.0.principal', [{ principal: 'user:a b' }]],
    ['shared_with.0.principal', [{ principal: `group:${'x'.repeat(129)}` }]],
    ['shared_with.0.principal', [{ principal: 'user:ann' }]],
    ['shared_with.1.principal', [{ principal: 'everyone' }, { principal: 'everyone', level: 'write' }]],
    ['shared_with.0.level', [{ principal: 'everyone', level: 'owner' }]],
    ['shared_with', Array.from({ length: MAX_GRANTS + 1 }, (_, i) => ({ principal: `user:${i}` }))],
  ])('rejects an invalid grant: %s', async (field, shared_with) => {
    const id = await scene.fixture.backtest('ann');
    const { status, body } = await scene.ann.put(`${at(id)}/sharing`, { shared_with });
    expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', field]);
    expect((await scene.fixture.jobs.get(id))!.shared_with).toBeUndefined();
  });

  it('backtest accepts the maximum number of grants and their replacement', async () => {
    const id = await scene.fixture.backtest('ann');
    const many = (prefix: string) => Array.from({ length: MAX_GRANTS }, (_, i) => `group:${prefix}-${i}`);
    expect((await scene.ann.share(at(id), ...many('a'))).status).toBe(200);
    expect((await scene.ann.share(at(id), ...many('b'))).status).toBe(200);
    expect(await idsOf(scene.fixture.person('eve', 'viewer', ['a-7']))).not.toContain(id);
    expect(await idsOf(scene.fixture.person('eve', 'viewer', ['b-7', 'b-9']))).toEqual(
      (await idsOf(scene.fixture.person('eve', 'viewer'))).concat(id).sort().reverse(),
    );
  });

  it('the same Idempotency-Key of another caller creates another backtest', async () => {
    const config = { strategy: 'ema_crossover', pairs: ['BTC/USDT:USDT'] };
    const submit = (person: Person) =>
      person.post('/api/v1/backtests', { config }, { 'Idempotency-Key': 'nightly' });
    const [own, again, other] = [await submit(scene.ann), await submit(scene.ann), await submit(scene.bob)];
    expect([own.status, again.status, other.status]).toEqual([201, 201, 201]);
    expect(again.body.job_id).toBe(own.body.job_id);
    expect(other.body.job_id).not.toBe(own.body.job_id);
    // A caller that knows owner and key can compute the ID; it grants no access.
    const suffix = sha256(JSON.stringify(['ann', 'nightly']))
      .slice(0, 25)
      .toUpperCase();
    expect(own.body.job_id).toBe(`bt-K${suffix}`);
    expect((await scene.bob.get(at(own.body.job_id))).code).toBe('AUTH005');
  });
});

describe('session of a backtest', () => {
  const config = { strategy: 'ema_crossover', pairs: ['BTC/USDT:USDT'] };
  const submit = (headers: Record<string, string>) =>
    scene.ann.post('/api/v1/backtests', { config }, headers);

  it('job returns the session of its submission, and null without one', async () => {
    const named = await submit({ 'Touchstone-Session': 'Agent_7.a-b' });
    const plain = await submit({});
    expect((await scene.ann.get(at(named.body.job_id))).body.session).toBe('Agent_7.a-b');
    expect((await scene.ann.get(at(plain.body.job_id))).body.session).toBeNull();
  });

  it.each(['', 'two words', '#trials', 's'.repeat(65)])('session %j is rejected', async (name) => {
    const { status, body } = await submit({ 'Touchstone-Session': name });
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'Touchstone-Session' });
  });
});

describe('backtest list', () => {
  it('cursor keeps its position while jobs are added and sharing changes', async () => {
    const experiment_name = `place-${ulids.ulid()}`;
    const make = (second: number) =>
      scene.fixture.backtest('ann', {
        experiment_name,
        created_at: new Date(Date.UTC(2026, 1, 1, 0, 0, second)).toISOString(),
      });
    const ids = [await make(1), await make(2), await make(3), await make(4)];
    for (const id of ids) await scene.ann.share(at(id), 'user:bob');
    const query = `/api/v1/backtests?limit=2&experiment_name=${experiment_name}`;
    const first = await scene.bob.get(query);
    expect(first.body.items.map((job: any) => job.job_id)).toEqual([ids[3], ids[2]]);
    // The last job of the page is removed, and a newer one is added.
    await scene.ann.share(at(ids[2]!));
    await scene.ann.share(at(await make(5)), 'user:bob');
    const next = await scene.bob.get(`${query}&cursor=${first.body.next_cursor}`);
    expect(next.body.items.map((job: any) => job.job_id)).toEqual([ids[1], ids[0]]);
    expect(next.body.next_cursor).toBeNull();
    // A cursor of another caller belongs to another list.
    expect((await scene.ann.get(`${query}&cursor=${first.body.next_cursor}`)).code).toBe('VAL006');
    expect((await scene.admin.get(`${query}&cursor=${first.body.next_cursor}`)).code).toBe('VAL006');
  });

  it('filter by status returns the current status when access items are outdated', async () => {
    const owner = `owner-${ulids.ulid()}`;
    const own = scene.fixture.person(owner);
    const changes = { experiment_name: owner };
    const mine = (status: string) => idsOf(own, `&status=${status}&experiment_name=${owner}`, 1);
    const ids = {
      pending: await scene.fixture.backtest(owner, changes),
      running: await scene.fixture.backtest(owner, changes, 'running'),
      completed: await scene.fixture.backtest(owner, changes, 'completed'),
      failed: await scene.fixture.backtest(owner, changes, 'failed'),
      cancelled: await scene.fixture.backtest(owner, changes, 'cancelled'),
    };
    expect(await rowsOf(ids.failed)).toEqual({ [`user:${owner}`]: `user:${owner}#backtest#failed` });
    for (const [status, id] of Object.entries(ids)) {
      expect(await mine(status)).toEqual([id]);
    }
    // The state machine updates the job without its access items.
    const left = await scene.fixture.backtest(owner, changes);
    await scene.fixture.client.send(
      new UpdateCommand({
        TableName: scene.fixture.jobsTable,
        Key: { job_id: left, item: 'JOB' },
        UpdateExpression:
          'SET #status = :failed, list_status = :place, #error = :why, error_code = :why, finished_at = :at, updated_at = :at',
        ExpressionAttributeNames: { '#status': 'status', '#error': 'error' },
        ExpressionAttributeValues: {
          ':failed': 'failed',
          ':place': `${jobListOf('backtest', left)}#failed`,
          ':why': 'SVC001',
          ':at': '2026-05-03T00:00:00.000Z',
        },
      }),
    );
    expect(await rowsOf(left)).toEqual({ [`user:${owner}`]: `user:${owner}#backtest#open` });
    for (let i = 0; i < 2; i++) {
      expect((await mine('failed')).sort()).toEqual([ids.failed, left].sort());
      expect(await mine('pending')).toEqual([ids.pending]);
      // A read that meets the outdated item repairs it.
      expect(Object.values(await rowsOf(left))).toEqual([`user:${owner}#backtest#failed`]);
    }
  });

  it('list omits a job when only an outdated access item names the caller', async () => {
    const id = await scene.fixture.backtest('ann');
    await scene.ann.share(at(id), 'user:bob');
    const row = {
      job_id: id,
      item: 'ACCESS#user:eve',
      position: `2026-01-01T00:00:00.000Z#${id}`,
      experiment_name: null,
      principal_kind: 'user:eve#backtest',
      principal_kind_status: 'user:eve#backtest#open',
    };
    await scene.fixture.client.send(new PutCommand({ TableName: scene.fixture.jobsTable, Item: row }));
    const orphan = { ...row, job_id: 'bt-gone', position: '2026-01-01T00:00:00.000Z#bt-gone' };
    await scene.fixture.client.send(new PutCommand({ TableName: scene.fixture.jobsTable, Item: orphan }));
    const eve = await idsOf(scene.fixture.person('eve'));
    expect(eve).not.toContain(id);
    expect(eve).not.toContain('bt-gone');
  });
});

it('concurrent grants are applied completely', async () => {
  const id = await scene.fixture.backtest('ann');
  const lists = [['user:a', 'user:b'], ['user:c'], ['user:b', 'user:d'], []];
  const responses = await Promise.all(lists.map((list) => scene.ann.share(at(id), ...list)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { shared_with = [] } = (await scene.fixture.jobs.get(id))!;
  const stored = shared_with.map(({ principal }) => principal);
  expect(lists).toContainEqual(stored);
  expect(Object.keys(await rowsOf(id)).sort()).toEqual(['user:ann', ...stored].sort());
  for (const name of ['a', 'b', 'c', 'd']) {
    expect((await idsOf(scene.fixture.person(name))).includes(id)).toBe(stored.includes(`user:${name}`));
  }
});

it('cancelled backtest keeps who cancelled it, for its event', async () => {
  const { fixture, admin } = scene;
  const id = await fixture.backtest('ann');
  expect((await admin.post(`${at(id)}/cancel`)).status).toBe(200);
  expect(await fixture.jobs.get(id)).toMatchObject({
    status: 'cancelled',
    owner: 'ann',
    cancelled_by: 'root',
  });
});
