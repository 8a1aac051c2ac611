import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoSignalsStore } from '#adapters/dynamo/signals-store.ts';
import { DynamoWebhookStore } from '#adapters/dynamo/webhook-store.ts';
import { ulids } from '#adapters/ids.ts';
import type { Ownership, StoredSharing } from '#domain/access/access.ts';
import { shareResource } from '#domain/access/sharing.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene, at, idsOf } from './access-backtests-fixture.ts';

const scene = accessScene();
const AT = '2026-05-02T00:00:00.000Z';
const OWNERSHIP = '/api/v1/ownership';

const give = (resource: string, owner: string) => scene.admin.post(OWNERSHIP, { resource, owner });
const of = (model: string) => `/api/v1/models/${model}`;

/** A model of an owner with one staged version. */
async function staged(owner: string, model: string): Promise<void> {
  const person = scene.fixture.person(owner);
  const { config } = pendingJob('bt-0');
  const run = await scene.fixture.backtest(owner, { config: { ...config, strategy: model } }, 'completed');
  expect((await person.register(run, model)).status).toBe(201);
  expect((await person.post(`/api/v1/strategies/${model}/stage`, { version: 1 })).status).toBe(200);
}

describe('names of models', () => {
  it('refusal names the owner, also of a built-in strategy, and an admin gives the model to another user', async () => {
    await staged('squatter', 'ema_crossover');
    const desk = scene.fixture.person('desk-lead');
    const { config } = pendingJob('bt-0');
    const strategy = 'ema_crossover';
    const run = await scene.fixture.backtest('desk-lead', { config: { ...config, strategy } }, 'completed');
    const refused = await desk.register(run, strategy);
    expect([refused.status, refused.code]).toEqual([403, 'AUTH005']);
    expect(refused.body.detail.message).toContain('ask its owner, squatter, or an admin');
    expect(refused.body.detail.context).toMatchObject({ resource: 'model', owner: 'squatter' });

    await scene.fixture.person('squatter').share(of(strategy), 'user:desk-lead', 'group:desk!');
    const given = await give('models/ema_crossover', 'desk-lead');
    expect([given.status, given.body]).toEqual([
      200,
      { owner: 'desk-lead', shared_with: [{ principal: 'group:desk', level: 'write' }] },
    ]);
    expect((await desk.register(run, strategy)).body).toMatchObject({ version: '2' });
    expect((await scene.fixture.person('squatter').get(`${of(strategy)}/versions`)).code).toBe('AUTH005');
    const listed = async (user: string) => {
      const { body } = await scene.fixture.person(user).get('/api/v1/catalog/strategies?limit=100');
      return body.items.map(({ name, owner }: { name: string; owner: string }) => [name, owner]);
    };
    expect(await listed('squatter')).toEqual([]);
    expect(await listed('desk-lead')).toEqual([[strategy, 'desk-lead']]);
    // A repeat changes nothing, and grants can be changed as before.
    expect((await give('models/ema_crossover', 'desk-lead')).body).toEqual(given.body);
    expect((await desk.share(of(strategy))).body).toEqual({ owner: 'desk-lead', shared_with: [] });
  });

  it('challenges go with their model', async () => {
    await staged('ann', 'macd_momentum');
    const { config } = pendingJob('bt-0');
    const strategy = 'macd_momentum';
    const run = await scene.fixture.backtest('ann', { config: { ...config, strategy } }, 'completed');
    expect((await scene.ann.register(run, strategy)).status).toBe(201);
    await scene.ann.post(`/api/v1/strategies/${strategy}/stage`, { version: 2 });
    expect((await scene.admin.post(`/api/v1/strategies/${strategy}/promote`, { version: 1 })).status).toBe(
      200,
    );
    const started = await scene.ann.strategy('POST', `/api/v1/models/${strategy}/challenges`, {
      champion_version: '1',
      challenger_version: '2',
    });
    expect(started.status, JSON.stringify(started.body)).toBe(201);
    const challenge = `/api/v1/challenges/${started.body.challenge_id}`;
    expect((await scene.bob.strategy('GET', challenge)).code).toBe('AUTH005');
    expect((await give(`models/${strategy}`, 'bob')).status).toBe(200);
    expect((await scene.bob.strategy('GET', challenge)).status).toBe(200);
    expect((await scene.ann.strategy('GET', challenge)).code).toBe('AUTH005');
    const named = await give(`challenges/${started.body.challenge_id}`, 'bob');
    expect([named.code, named.body.detail.message]).toEqual([
      'VAL005',
      expect.stringContaining('a challenge goes with its model'),
    ]);
  });
});

describe('jobs', () => {
  it('ended job changes its lists and its experiment with its owner; an unfinished one is refused', async () => {
    const [from, to] = [`user-${ulids.ulid()}`, `user-${ulids.ulid()}`];
    const experiment_name = 'trend';
    const id = await scene.fixture.backtest(from, { experiment_name }, 'completed');
    const running = await scene.fixture.backtest(from, {}, 'running');
    const refused = await give(`backtests/${running}`, to);
    expect([refused.status, refused.code]).toEqual([409, 'RES005']);
    await scene.fixture.person(from).share(at(id), `user:${to}`);
    expect((await give(`backtests/${id}`, to)).body).toEqual({ owner: to, shared_with: [] });
    expect(await idsOf(scene.fixture.person(to))).toEqual([id]);
    expect(await idsOf(scene.fixture.person(from))).toEqual([running]);
    expect((await scene.fixture.person(from).get(at(id))).code).toBe('AUTH005');
    const experiments = async (user: string) =>
      (await scene.fixture.person(user).get('/api/v1/experiments')).body.items.map(
        ({ name, jobs }: { name: string; jobs: unknown }) => [name, jobs],
      );
    expect(await experiments(from)).toEqual([]);
    expect(await experiments(to)).toEqual([['trend', expect.anything()]]);
  });

  it('job changes its experiment in the transaction of its transfer', async () => {
    const [from, to] = [`user-${ulids.ulid()}`, `user-${ulids.ulid()}`];
    const id = await scene.fixture.backtest(from, { experiment_name: 'trend' }, 'completed');
    // The process ends after the write of the job.
    const { client, jobsTable } = scene.fixture;
    let isStored = false;
    const send = async (command: object) => {
      if (isStored) throw new Error('the process ends');
      isStored = command instanceof TransactWriteCommand;
      return client.send(command as never);
    };
    const jobs = new DynamoJobStore(Object.assign(Object.create(client), { send }), jobsTable);
    const owned = { owner: from, shared_with: [] };
    await jobs.sharing.transfer(id, owned, { owner: to, shared_with: [] }).catch(() => undefined);
    const names = async (user: string) =>
      (await scene.fixture.person(user).get('/api/v1/experiments')).body.items.map((each: any) => each.name);
    expect([await names(from), await names(to)]).toEqual([[], ['trend']]);
  });

  it('a repeated submission does not show the owner before what became of the job', async () => {
    const user = `user-${ulids.ulid()}`;
    const person = scene.fixture.person(user);
    const key = { 'Idempotency-Key': 'nightly' };
    const body = { config: { strategy: 'ema_crossover' } };
    const { job_id: id } = (await person.post('/api/v1/backtests', body, key)).body;
    expect((await person.post('/api/v1/backtests', body, key)).body.job_id).toBe(id);
    await person.post(`${at(id)}/cancel`);
    expect((await give(`backtests/${id}`, 'bob')).status).toBe(200);
    const repeated = await person.post('/api/v1/backtests', body, key);
    expect([repeated.status, repeated.code]).toEqual([409, 'RES005']);
    expect(JSON.stringify(repeated.body)).not.toContain(id);
  });

  it('a repeated submission says that the job was deleted', async () => {
    const person = scene.fixture.person(`user-${ulids.ulid()}`);
    const key = { 'Idempotency-Key': 'nightly' };
    const body = { config: { strategy: 'ema_crossover' } };
    const { job_id: id } = (await person.post('/api/v1/backtests', body, key)).body;
    await person.post(`${at(id)}/cancel`);
    expect((await person.delete(at(id))).status).toBe(204);
    expect((await person.get(at(id))).code).toBe('RES006');
    const repeated = await person.post('/api/v1/backtests', body, key);
    expect([repeated.status, repeated.code]).toEqual([409, 'RES005']);
    expect(repeated.body.detail.message).toContain('was deleted: use a new key');
  });

  it('job is found in the list of its kind only', async () => {
    const id = await scene.fixture.backtest('ann', {}, 'completed');
    expect((await give(`hyperopt/${id}`, 'bob')).code).toBe('OPT001');
    expect((await scene.ann.get(at(id))).status).toBe(200);
  });

  it('hyperopt job is given too', async () => {
    const id = `ho-${ulids.ulid()}`;
    await scene.fixture.hyperoptJobs.create({ ...pendingHyperopt(id), owner: 'ann' });
    expect((await give(`hyperopt/${id}`, 'bob')).code).toBe('RES005');
    await scene.ann.strategy('POST', `/api/v1/hyperopt/${id}/cancel`);
    expect((await give(`hyperopt/${id}`, 'bob')).status).toBe(200);
    expect((await scene.bob.strategy('GET', `/api/v1/hyperopt/${id}`)).status).toBe(200);
  });
});

describe('share that began before a transfer', () => {
  const grants = [{ principal: 'user:eve', level: 'write' }];
  const rowOf = {
    backtest: async () => `backtests/${await scene.fixture.backtest('ann', {}, 'completed')}`,
    model: async () => {
      await staged('ann', 'supertrend');
      return 'models/supertrend';
    },
    signals: async () => `signals/${await newSignals('ann')}`,
  } as const;

  it.each(['backtest', 'model', 'signals'] as const)('of a %s is rejected', async (kind) => {
    const resource = await rowOf[kind]();
    const { jobs, registry, client, jobsTable } = scene.fixture;
    const signals = new DynamoSignalsStore(client, jobsTable);
    const { sharing, unknown } = ownershipOf({
      jobs,
      registry,
      signals,
      challenges: { read: async () => undefined },
    })[kind];
    let isGiven = false;
    const late: StoredSharing = {
      find: async (id) => {
        const found = await sharing.find(id);
        if (!isGiven) expect((await give(resource, 'bob')).status).toBe(200);
        isGiven = true;
        return found;
      },
      share: (...args) => sharing.share(...args),
      transfer: (...args) => sharing.transfer(...args),
    };
    const ownership = { [kind]: { sharing: late, unknown } } as unknown as Ownership;
    const id = resource.split('/')[1]!;
    const ann = { id: 'ann', groups: [], isAdmin: false };
    const shared = shareResource(ownership, ann, { kind, id, field: 'id' }, { shared_with: grants });
    await expect(shared).rejects.toMatchObject({ code: 'AUTH005' });
    expect(await sharing.find(id)).toMatchObject({ owner: 'bob', shared_with: [] });
  });
});

it.each([
  ['models/unknown', 'bob', 'RES002'],
  ['backtests/bt-none', 'bob', 'RES001'],
  ['hyperopt/ho-none', 'bob', 'OPT001'],
  ['signals/sg-none', 'bob', 'SIG001'],
  ['ema_crossover', 'bob', 'VAL005'],
  ['toString/x', 'bob', 'VAL005'],
  ['models/', 'bob', 'VAL005'],
  ['models/ema_crossover', '', 'VAL005'],
  ['models/ema_crossover', 'a b', 'VAL005'],
  ['models/ema_crossover', 'platform', 'VAL005'],
  ['models/ema_crossover', 'erased-0123456789abcdef', 'VAL005'],
])('transfer of %s to %j is refused', async (resource, owner, code) => {
  const { status, code: found } = await give(resource, owner);
  expect([found, status >= 400 && status < 500]).toEqual([code, true]);
});

it.each([
  ['models/', 'RES002'],
  ['backtests/bt-', 'RES001'],
  ['hyperopt/ho-', 'OPT001'],
  ['signals/sg-', 'SIG001'],
  ['webhooks/wh-', 'HOOK001'],
])('ID of %s that is longer than a key is unknown', async (start, code) => {
  expect(await give(`${start}${'x'.repeat(5_000)}`, 'bob')).toMatchObject({ status: 404, code });
});

async function newSignals(owner: string): Promise<string> {
  const { client, jobsTable } = scene.fixture;
  const signals_id = `sg-${ulids.ulid()}`;
  await new DynamoSignalsStore(client, jobsTable).create({
    schema_version: 1,
    signals_id,
    owner,
    name: null,
    format: 'csv',
    bytes: 10,
    sha256: 'a'.repeat(64),
    created_at: AT,
    last_used_at: null,
  });
  return signals_id;
}

it('file of signals changes its lists with its owner', async () => {
  const [from, to] = [`user-${ulids.ulid()}`, `user-${ulids.ulid()}`];
  const signals_id = await newSignals(from);
  const listed = async (user: string) =>
    (await scene.fixture.person(user).get('/api/v1/signals')).body.items.map((each: any) => each.signals_id);
  expect(await listed(from)).toEqual([signals_id]);
  expect((await give(`signals/${signals_id}`, to)).status).toBe(200);
  expect([await listed(from), await listed(to)]).toEqual([[], [signals_id]]);
});

it('webhook is read and changed by its new owner only', async () => {
  const { client, jobsTable } = scene.fixture;
  const webhook_id = `wh-${ulids.ulid()}`;
  await new DynamoWebhookStore(client, jobsTable).create(
    {
      schema_version: 1,
      webhook_id,
      revision: 0,
      owner: 'ann',
      url: 'https://hooks.example.com/a',
      types: ['*'],
      description: null,
      all: false,
      status: 'active',
      disabled_reason: null,
      secrets: [{ secret: 'whsec_x', expires_at: null }],
      created_at: AT,
      updated_at: AT,
      failures: 0,
      failing_since: null,
      last_success_at: null,
      resume_at: null,
    },
    0,
  );
  const path = `/api/v1/webhooks/${webhook_id}`;
  expect((await give(`webhooks/${webhook_id}`, 'bob')).body).toEqual({ owner: 'bob', shared_with: [] });
  expect((await scene.ann.get(path)).code).toBe('AUTH005');
  expect((await scene.bob.get(path)).body).toMatchObject({ owner: 'bob' });
});

it('only an admin transfers, and the audit trail has the call under the resource', async () => {
  const lead = scene.fixture.person('lead', 'approver');
  const id = await scene.fixture.backtest('lead', {}, 'completed');
  const refused = await lead.post(OWNERSHIP, { resource: `backtests/${id}`, owner: 'eve' });
  expect([refused.status, refused.code]).toEqual([403, 'AUTH004']);
  await give(`backtests/${id}`, 'eve');
  const { body } = await scene.admin.get(`/api/v1/audit?resource=${id}`);
  expect(body.items).toMatchObject([
    {
      operation: 'transferOwnership',
      principal: 'root',
      outcome: 'succeeded',
      request: { body: { owner: 'eve' } },
    },
  ]);
});
