import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { Operation } from '#contract/values/operation.ts';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingJob } from '../support/jobs.ts';

const MODEL = 'ema_crossover';

let fixture: AccessFixture;
let ann: Person;
let bob: Person;
/** Runs of ann: of version 1 (archived) and 2 (in Production), and one that no version has. */
let runs: string[];
beforeAll(async () => {
  fixture = await accessFixture();
  [ann, bob] = [fixture.person('ann'), fixture.person('bob')];
  const root = fixture.person('root', 'admin');
  const run = () => fixture.backtest('ann', { config: pendingJob('bt-0').config }, 'completed');
  runs = [await run(), await run(), await run()];
  for (const [index, id] of runs.slice(0, 2).entries()) {
    expect((await ann.register(id, MODEL)).status).toBe(201);
    for (const move of ['stage', 'promote']) {
      const moved = await root.post(`/api/v1/strategies/${MODEL}/${move}`, { version: index + 1 });
      expect(moved.status).toBe(200);
    }
  }
  const noted = { notes: 'a secret of ann', tags: ['secret'], pinned: true };
  for (const id of runs) expect((await ann.patch(`/api/v1/backtests/${id}`, noted)).status).toBe(200);
});
afterAll(() => fixture?.stop());

const of = (id: string) => `/api/v1/backtests/${id}`;
const share = (...principals: string[]) => ann.share(`/api/v1/models/${MODEL}`, ...principals);

/** What a reader of the model may read of a run of its versions. */
const SHOWN = ['', '/equity', '/curve', '/report-data', '/trades', '/positions', '/export?format=json'];

/** Every other operation on a backtest. */
const others = (OPERATIONS as readonly Operation[]).filter(
  ({ resource, path, service }) =>
    service === 'backend' &&
    resource?.kind === 'backtest' &&
    !resource.evidence &&
    path.startsWith('/api/v1/'),
);

const BODIES: Readonly<Record<string, unknown>> = { shareBacktest: { shared_with: [] } };

async function callsOf(person: Person, id: string): Promise<Map<string, string | undefined>> {
  const codes = new Map<string, string | undefined>();
  for (const { id: operation, method, path } of others) {
    const address = path.replace('{job_id}', id).replaceAll(/\{\w+\}/g, '1');
    const body = BODIES[operation] ?? {};
    const calls = {
      GET: () => person.get(address),
      POST: () => person.post(address, body),
      PUT: () => person.put(address, body),
      PATCH: () => person.patch(address, body),
      DELETE: () => person.delete(address),
    };
    codes.set(operation, (await calls[method]()).code);
  }
  return codes;
}

it('reader of a model reads the runs of its versions, archived ones too, without what ann noted on them', async () => {
  expect((await bob.get(of(runs[0]!))).code).toBe('AUTH005');
  for (const principal of ['user:bob', 'group:researcher', 'everyone']) {
    await share(principal);
    for (const id of runs.slice(0, 2)) {
      for (const path of SHOWN) {
        const { status, body } = await bob.get(of(id) + path);
        expect([path, status], JSON.stringify(body).slice(0, 300)).toEqual([path, 200]);
        expect(JSON.stringify(body)).not.toContain('secret');
      }
      const { body } = await bob.get(of(id));
      expect(body).toMatchObject({ job_id: id, notes: '', tags: [], pinned: false, session: null });
    }
    expect((await bob.get(of(runs[2]!))).code).toBe('AUTH005');
  }
  expect((await ann.get(of(runs[0]!))).body).toMatchObject({ notes: 'a secret of ann', pinned: true });
});

it('every other operation on such a run stays AUTH005', async () => {
  await share('user:bob!');
  expect(others.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['getBacktestColumns', 'getBacktestSharing', 'cancelBacktest', 'updateBacktest']),
  );
  for (const [operation, code] of await callsOf(bob, runs[0]!))
    expect([operation, code]).toEqual([operation, 'AUTH005']);
  const again = await bob.register(runs[0]!, MODEL);
  expect([again.status, again.code]).toEqual([403, 'AUTH005']);
});

it('no list contains or counts such a run', async () => {
  await share('user:bob');
  for (const query of [
    '',
    '?status=completed',
    `?q=${runs[0]}`,
    '?sort=sharpe_ratio',
    `?strategy=${MODEL}`,
  ]) {
    const { status, body } = await bob.get(`/api/v1/backtests${query}`);
    expect([query, status, body.items]).toEqual([query, 200, []]);
  }
  const { body } = await bob.get('/api/v1/overview');
  expect(body).toMatchObject({ moving: [], ended: [] });
  expect(body.counts.backtests.completed).toEqual({ value: 0, relation: 'exact' });
});

it('access to the runs ends with the grant, and a grant on the run itself shows the notes', async () => {
  await share('user:bob');
  expect((await bob.get(of(runs[1]!))).status).toBe(200);
  await share();
  for (const path of SHOWN) expect((await bob.get(of(runs[1]!) + path)).code).toBe('AUTH005');
  await ann.share(of(runs[1]!), 'user:bob');
  expect((await bob.get(of(runs[1]!))).body.notes).toBe('a secret of ann');
  await ann.share(of(runs[1]!));
});

it('a model shared with a user does not open the runs of another model, or of a strategy without a version', async () => {
  await share('user:bob');
  const config = { ...pendingJob('bt-0').config, strategy: 'supertrend' };
  const other = await fixture.backtest('ann', { config }, 'completed');
  expect((await bob.get(of(other))).code).toBe('AUTH005');
  expect((await ann.register(other, 'supertrend')).status).toBe(201);
  expect((await bob.get(of(other))).code).toBe('AUTH005');
  // A registration that was marked and never committed is no version.
  expect(await fixture.jobs.setEvidence(runs[2]!, MODEL, '2026-05-02T00:00:00.000Z')).toBe(true);
  expect((await bob.get(of(runs[2]!))).code).toBe('AUTH005');
});
