import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingJob } from '../support/jobs.ts';

let fixture: AccessFixture;
let ann: Person;
let bob: Person;
let approver: Person;
let admin: Person;
beforeAll(async () => {
  fixture = await accessFixture();
  ann = fixture.person('ann');
  bob = fixture.person('bob');
  approver = fixture.person('amy', 'approver');
  admin = fixture.person('root', 'admin');
});
afterAll(() => fixture?.stop());

const of = (model: string) => `/api/v1/models/${model}`;
const move = (model: string, name: 'stage' | 'promote') => `/api/v1/strategies/${model}/${name}`;

/** A completed backtest of a strategy. */
function run(owner: string, strategy: string): Promise<string> {
  const { config } = pendingJob('bt-0');
  return fixture.backtest(owner, { config: { ...config, strategy } }, 'completed');
}

/** A model with one staged version. */
async function staged(person: Person, owner: string, model: string): Promise<void> {
  expect((await person.register(await run(owner, model), model)).status).toBe(201);
  expect((await person.post(move(model, 'stage'), { version: 1 })).status).toBe(200);
}

describe('model access', () => {
  const model = 'ema_crossover';
  const READS = ['/versions', '/versions/1', '/history', '/production', '/sharing'];
  beforeAll(() => staged(ann, 'ann', model));

  it('model is visible only to its first registrant until it is shared', async () => {
    for (const path of READS) {
      const rejected = await bob.get(of(model) + path);
      expect([path, rejected.status, rejected.code]).toEqual([path, 403, 'AUTH005']);
      expect(rejected.body.detail).toMatchObject({ field: 'model_name', context: { resource: 'model' } });
      for (const person of [ann, admin, fixture.development]) {
        expect((await person.get(of(model) + path)).status).toBe(200);
      }
    }
    expect((await ann.get(`${of(model)}/sharing`)).body).toEqual({ owner: 'ann', shared_with: [] });
    const compare = `/api/v1/catalog/strategies/${model}/compare?version_a=1&version_b=1`;
    expect((await bob.get(compare)).code).toBe('AUTH005');
    expect((await ann.get(compare)).code).toBe('VAL005');
    expect((await bob.get(`${of('supertrend')}/versions`)).code).toBe('RES002');
  });

  it('transition requires a write grant and the role of the operation', async () => {
    expect((await bob.post(move(model, 'stage'), { version: 1 })).code).toBe('AUTH005');
    expect((await approver.post(move(model, 'promote'), { version: 1 })).code).toBe('AUTH005');
    await ann.share(of(model), 'group:approver');
    expect((await approver.get(`${of(model)}/versions`)).status).toBe(200);
    expect((await approver.post(move(model, 'promote'), { version: 1 })).code).toBe('AUTH005');
    expect((await approver.share(of(model), 'group:approver!')).code).toBe('AUTH005');
    await ann.share(of(model), 'group:approver!', 'user:bob!');
    expect((await bob.post(move(model, 'promote'), { version: 1 })).code).toBe('AUTH004');
    expect((await approver.post(move(model, 'promote'), { version: 1 })).status).toBe(200);
    expect((await bob.post(move(model, 'stage'), { version: 1, skip_validation: true })).code).toBe(
      'AUTH004',
    );
    expect((await approver.post(`${of(model)}/rollback`, { version: 1 })).status).toBe(200);
    const stop = (person: Person) => person.post(`${of(model)}/stop`, { reason: 'losses' });
    expect((await stop(bob)).code).toBe('AUTH004');
    await ann.share(of(model), 'group:approver', 'user:bob!');
    expect((await stop(approver)).code).toBe('AUTH005');
    expect((await stop(fixture.person('eve', 'approver'))).code).toBe('AUTH005');
    await ann.share(of(model), 'group:approver!');
    expect((await stop(approver)).status).toBe(200);
    expect((await approver.post(`${of(model)}/rollback`, { version: 1 })).status).toBe(200);
    // Sharing is not in the model's history.
    const { body } = await ann.get(`${of(model)}/history`);
    expect(body.items.map(({ action }: { action: string }) => action)).toEqual([
      'rollback',
      'stop',
      'promote',
      'stage',
      'register',
    ]);
    await ann.share(of(model));
    expect((await approver.get(`${of(model)}/versions`)).code).toBe('AUTH005');
  });

  it('model runs only for callers that can read it', async () => {
    const submit = (person: Person) =>
      person.post('/api/v1/backtests', { config: { strategy: model }, model_version: 'latest' });
    const rejected = await submit(bob);
    expect([rejected.status, rejected.code, rejected.body.detail.field]).toEqual([
      403,
      'AUTH005',
      'model_version',
    ]);
    expect((await submit(ann)).status).toBe(201);
    await ann.share(of(model), 'user:bob');
    expect((await submit(bob)).status).toBe(201);
    await ann.share(of(model));
  });

  it('challenges of all models are listed for callers that can read the model', async () => {
    await ann.register(await run('ann', model), model);
    await staged(bob, 'bob', 'buy_and_hold');
    await bob.register(await run('bob', 'buy_and_hold'), 'buy_and_hold');
    const create = async (person: Person, name: string): Promise<string> => {
      const versions = { champion_version: '1', challenger_version: '2' };
      const created = await person.strategy('POST', `${of(name)}/challenges`, versions);
      expect(created.status, JSON.stringify(created.body)).toBe(201);
      return created.body.challenge_id;
    };
    const [first, second] = [await create(ann, model), await create(bob, 'buy_and_hold')];
    const listed = async (person: Person, query = ''): Promise<string[]> => {
      const { body } = await person.strategy('GET', `/api/v1/challenges${query}`);
      return body.items.map(({ challenge_id }: { challenge_id: string }) => challenge_id);
    };
    expect(await listed(admin)).toEqual([second, first]);
    expect(await listed(fixture.development)).toEqual([second, first]);
    expect(await listed(ann)).toEqual([first]);
    expect(await listed(bob, '?status=active')).toEqual([second]);
    expect(await listed(approver)).toEqual([]);
    const evaluations = (id: string) => bob.strategy('GET', `/api/v1/challenges/${id}/evaluations`);
    expect((await evaluations(first)).code).toBe('AUTH005');
    await ann.share(of(model), 'user:bob');
    expect(await listed(bob)).toEqual([second, first]);
    expect((await evaluations(first)).status).toBe(200);
    const { next_cursor } = (await bob.strategy('GET', '/api/v1/challenges?limit=1')).body;
    expect(await listed(bob, `?limit=1&cursor=${next_cursor}`)).toEqual([first]);
    expect((await ann.strategy('GET', `/api/v1/challenges?cursor=${next_cursor}`)).code).toBe('VAL006');
    await ann.share(of(model));
    expect(await listed(bob)).toEqual([second]);
  });

  it('model name longer than a key is not found', async () => {
    const config = { strategy: '💥'.repeat(1_200) };
    const response = await ann.post('/api/v1/backtests', { config, model_version: 1 });
    expect([response.status, response.code]).toEqual([404, 'RES002']);
  });
});

describe('registration access', () => {
  it('registration requires a backtest that the caller can read', async () => {
    const model = 'donchian_trend';
    const id = await run('ann', model);
    const rejected = await bob.register(id, model);
    expect([rejected.status, rejected.code, rejected.body.detail.field]).toEqual([
      403,
      'AUTH005',
      'backtest_run_id',
    ]);
    expect((await fixture.registry.read(model, [])).model).toBeUndefined();
    await ann.share(`/api/v1/backtests/${id}`, 'user:bob');
    expect((await bob.register(id, model)).status).toBe(201);
    // The model is bob's, the backtest still ann's.
    expect((await ann.get(`${of(model)}/versions`)).code).toBe('AUTH005');
    expect((await bob.post(`/api/v1/backtests/${id}/cancel`)).code).toBe('AUTH005');
  });

  it('registration requires ownership of the model or a write grant', async () => {
    const model = 'macd_momentum';
    await ann.register(await run('ann', model), model);
    const id = await run('bob', model);
    for (const principals of [[], ['user:bob']]) {
      await ann.share(of(model), ...principals);
      const rejected = await bob.register(id, model);
      expect([rejected.status, rejected.code, rejected.body.detail.field]).toEqual([403, 'AUTH005', 'name']);
    }
    await ann.share(of(model), 'user:bob!');
    const response = await bob.register(id, model);
    expect([response.status, response.body.version]).toEqual([201, '2']);
    expect((await bob.get(`${of(model)}/sharing`)).body.owner).toBe('ann');
  });

  it('concurrent first registrations give the model one owner', async () => {
    const model = 'bollinger_breakout';
    const [ofAnn, ofBob] = [await run('ann', model), await run('bob', model)];
    const responses = await Promise.all([ann.register(ofAnn, model), bob.register(ofBob, model)]);
    expect(responses.map(({ status, code }) => code ?? status).sort()).toEqual([201, 'AUTH005']);
    const { versions, model: stored } = await fixture.registry.read(model, ['1', '2']);
    expect([...versions.keys()]).toEqual(['1']);
    expect(stored!.owner).toBe(responses[0]!.status === 201 ? 'ann' : 'bob');
  });

  it('idempotency key does not replay for another caller or after the grant is removed', async () => {
    const model = 'supertrend';
    const key = { 'Idempotency-Key': 'release' };
    const id = await run('ann', model);
    expect((await ann.register(id, model, key)).body.version).toBe('1');
    expect((await ann.register(id, model, key)).body.version).toBe('1');
    expect((await bob.register(id, model, key)).code).toBe('AUTH005');
    await ann.share(of(model), 'user:bob!');
    const stage = (person: Person) => person.post(move(model, 'stage'), { version: 1 }, key);
    expect((await stage(bob)).status).toBe(200);
    const own = await run('bob', model);
    const more = { 'Idempotency-Key': 'more' };
    expect((await bob.register(own, model, more)).body.version).toBe('2');
    await ann.share(of(model));
    expect((await stage(bob)).code).toBe('AUTH005');
    expect((await bob.register(own, model, more)).code).toBe('AUTH005');
  });
});

it('concurrent sharing and transitions are both applied', async () => {
  const model = 'rsi_mean_reversion';
  const id = await run('ann', model);
  await ann.register(id, model);
  const names = ['user:a', 'user:b', 'user:c', 'user:d'];
  const share = async () => {
    for (const name of names) expect((await ann.share(of(model), name)).status).toBe(200);
  };
  const register = async () => {
    for (const _ of names) expect((await ann.register(id, model)).status).toBe(201);
  };
  await Promise.all([share(), register()]);
  const { model: stored } = await fixture.registry.read(model, []);
  expect(stored).toMatchObject({
    latest_version: 5,
    events: 5,
    shared_with: [{ principal: 'user:d', level: 'read' }],
  });
  // The last revocation holds.
  expect((await fixture.person('c').get(`${of(model)}/versions`)).code).toBe('AUTH005');
  expect((await fixture.person('d').get(`${of(model)}/versions`)).status).toBe(200);
});

describe('model catalog access', () => {
  let own: AccessFixture;
  const catalog = '/api/v1/catalog/strategies';
  const models = [
    'bollinger_breakout',
    'buy_and_hold',
    'donchian_trend',
    'ema_crossover',
    'macd_momentum',
    'rsi_mean_reversion',
    'supertrend',
  ];
  const SEEN = ['buy_and_hold', 'donchian_trend', 'ema_crossover', 'macd_momentum', 'supertrend'];

  beforeAll(async () => {
    own = fixture;
    fixture = await accessFixture();
    const [owner, reader] = [fixture.person('ann'), fixture.person('bob')];
    for (const model of models) {
      const mine = model === 'ema_crossover';
      await staged(mine ? reader : owner, mine ? 'bob' : 'ann', model);
    }
    await owner.share(of('buy_and_hold'), 'user:bob');
    await owner.share(of('donchian_trend'), 'group:desk!', 'user:bob');
    await owner.share(of('macd_momentum'), 'everyone');
    await owner.share(of('supertrend'), 'group:desk');
  });
  afterAll(async () => {
    await fixture.stop();
    fixture = own;
  });

  const names = (body: any): string[] => body.items.map((row: { name: string }) => row.name);

  it('list returns and counts only visible models for any page size', async () => {
    const reader = fixture.person('bob', 'viewer', ['desk']);
    for (let limit = 1; limit <= SEEN.length + 1; limit++) {
      const [byOffset, byCursor]: [string[], string[]] = [[], []];
      for (let offset = 0; offset < SEEN.length; offset += limit) {
        const { body } = await reader.get(`${catalog}?limit=${limit}&offset=${offset}`);
        expect(body.total).toBe(SEEN.length);
        byOffset.push(...names(body));
      }
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await reader.get(`${catalog}?limit=${limit}${cursor}`);
        expect(body.total).toBe(SEEN.length);
        byCursor.push(...names(body));
        cursor = body.next_cursor && `&cursor=${body.next_cursor}`;
      }
      expect([byOffset, byCursor]).toEqual([SEEN, SEEN]);
    }
    for (const [query, total] of [
      ['stage=Staging', 5],
      ['stage=Production', 0],
      ['search=macd', 1],
      ['search=rsi', 0],
    ]) {
      expect((await reader.get(`${catalog}?${query}`)).body.total).toBe(total);
    }
  });

  it('catalog returns each caller their models, and all models to admins', async () => {
    const list = async (person: Person) => names((await person.get(catalog)).body);
    expect(await list(fixture.person('eve', 'viewer'))).toEqual(['macd_momentum']);
    expect(await list(fixture.person('ann'))).toEqual(models.filter((name) => name !== 'ema_crossover'));
    for (const person of [fixture.person('root', 'admin'), fixture.development]) {
      expect((await person.get(`${catalog}?limit=3`)).body).toMatchObject({ total: 7, items: [{}, {}, {}] });
      expect(await list(person)).toEqual(models);
    }
    const page = await fixture.person('bob', 'viewer', ['desk']).get(`${catalog}?limit=2`);
    const other = await fixture.person('ann').get(`${catalog}?limit=2&cursor=${page.body.next_cursor}`);
    expect(other.code).toBe('VAL006');
  });

  it('removed grant hides the model immediately', async () => {
    const eve = fixture.person('eve', 'viewer');
    await fixture.person('ann').share(of('macd_momentum'), 'user:eve');
    expect((await eve.get(catalog)).body.total).toBe(1);
    await fixture.person('ann').share(of('macd_momentum'));
    expect((await eve.get(catalog)).body).toMatchObject({ total: 0, items: [], next_cursor: null });
  });
});
