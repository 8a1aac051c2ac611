import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobRetention } from '#adapters/dynamo/job-retention.ts';
import { ulids } from '#adapters/ids.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene, at } from './access-backtests-fixture.ts';

const scene = accessScene();
const exact = (value: number) => ({ value, relation: 'exact' });

/** A user of their own, and their experiments. */
function someone(owner = `user-${ulids.ulid()}`) {
  const person = scene.fixture.person(owner);
  const list = async (query = '') => {
    const { status, body } = await person.get(`/api/v1/experiments?${query}`);
    expect(status).toBe(200);
    return body;
  };
  const run = (experiment_name: string, profit: number, created_at = new Date().toISOString()) =>
    scene.fixture.backtest(owner, { experiment_name, created_at }, 'completed', { total_profit_pct: profit });
  return { owner, person, list, run };
}

describe('listExperiments', () => {
  it('returns jobs, best and last of each, the one with the newest job first, over all pages', async () => {
    const { owner, list, run } = someone();
    const time = (second: number) => `2026-07-01T00:00:0${second}.000Z`;
    const [, best] = [await run('older', 1.5, time(1)), await run('older', 7, time(2))];
    const last = await run('older', -3, time(4));
    const names = ['a#b/ü', 'newer'];
    await run(names[0]!, 1, time(3));
    const pending = await scene.fixture.backtest(owner, { experiment_name: 'newer', created_at: time(5) });
    await scene.fixture.backtest(owner, { created_at: time(6) });
    const { items } = await list();
    expect(items).toEqual([
      {
        name: 'newer',
        jobs: exact(1),
        unfinished: 1,
        best: null,
        last: { job_id: pending, created_at: time(5) },
      },
      {
        name: 'older',
        jobs: exact(3),
        unfinished: 0,
        best: {
          job_id: best,
          exchange: 'sim',
          look_ahead: 'not_checked',
          total_profit_pct: 7,
          sharpe_ratio: 1.1,
          max_drawdown_pct: 4.2,
        },
        last: { job_id: last, created_at: time(4) },
      },
      expect.objectContaining({ name: 'a#b/ü', jobs: exact(1) }),
    ]);
    const paged: unknown[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`limit=1${cursor}`);
      expect(page.items).toHaveLength(1);
      paged.push(...page.items);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(items);
    // What the first read recorded is as good as the jobs.
    expect((await list()).items).toEqual(items);
  });

  it('pages end at experiments with names of the maximum length too', async () => {
    const { list, run } = someone();
    const names = ['€', 'x'].map((letter) => letter.repeat(200));
    for (const name of names) await run(name, 1);
    const first = await list('limit=1');
    const second = await list(`limit=1&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ name }) => name).sort()).toEqual(names.sort());
    expect(second.next_cursor).toBeNull();
  });

  it('shows what a job is when it ends, and hyperopt jobs count', async () => {
    const { owner, list } = someone();
    const hyperopts = new DynamoHyperoptStore(scene.fixture.client, scene.fixture.jobsTable);
    await hyperopts.create({ ...pendingHyperopt(`ho-${ulids.ulid()}`), owner, experiment_name: 'e' });
    const id = await scene.fixture.backtest(owner, { experiment_name: 'e' }, 'running');
    expect((await list()).items[0]).toMatchObject({ jobs: exact(2), unfinished: 2, best: null });
    await scene.fixture.jobs.fail(id, 1, { code: 'SVC001', message: 'over' }, '2026-07-01T00:00:00.000Z');
    for (let read = 0; read < 2; read++)
      expect((await list()).items[0]).toMatchObject({ jobs: exact(2), unfinished: 1, best: null });
  });

  it('counts own jobs only; an admin may ask for those of a user', async () => {
    const { owner, person, list, run } = someone();
    const other = someone();
    await run('mine', 1);
    const id = await other.run('mine', 99);
    await other.person.share(at(id), `user:${owner}`, 'everyone');
    expect((await list()).items).toMatchObject([{ name: 'mine', jobs: exact(1) }]);
    const path = `/api/v1/experiments?owner=${other.owner}`;
    expect(await person.get(path)).toMatchObject({ status: 403, code: 'AUTH005' });
    expect((await scene.admin.get(path)).body.items).toMatchObject([{ best: { job_id: id } }]);
    expect((await list(`owner=${owner}`)).items).toHaveLength(1);
    expect((await scene.fixture.withoutToken.get(path)).code).toBe('AUTH003');
    await run('second', 1);
    const { next_cursor } = await list('limit=1');
    expect((await other.person.get(`/api/v1/experiments?cursor=${next_cursor}`)).code).toBe('VAL006');
  });

  it('keeps experiments of owners apart whose names could be confused', async () => {
    const base = ulids.ulid();
    const [outer, inner] = [someone(base), someone(`${base}#a`)];
    await outer.run('a#b', 1);
    await inner.run('b', 2);
    expect((await outer.list()).items).toMatchObject([{ name: 'a#b', jobs: exact(1) }]);
    expect((await inner.list()).items).toMatchObject([{ name: 'b', jobs: exact(1) }]);
  });

  it('counts a repeated submission once, and one that died before its job was stored not at all', async () => {
    const { owner, list, run } = someone();
    const { jobs, client, jobsTable } = scene.fixture;
    const job = pendingJob(`bt-${ulids.ulid()}`, { owner, experiment_name: 'e' });
    for (let i = 0; i < 2; i++) await jobs.create(job);
    expect((await list()).items).toMatchObject([{ jobs: exact(1) }]);
    await client.send(new DeleteCommand({ TableName: jobsTable, Key: { job_id: job.job_id, item: 'JOB' } }));
    for (let read = 0; read < 2; read++) expect((await list()).items).toEqual([]);
    await run('e', 4);
    expect((await list()).items).toMatchObject([{ jobs: exact(1), best: { total_profit_pct: 4 } }]);
  });

  it('loses deleted and expired jobs: the next best takes their place', async () => {
    const { person, list, run } = someone();
    const [low, middle, best] = [await run('e', 1), await run('e', 2), await run('e', 3)];
    expect((await list()).items[0].best.job_id).toBe(best);
    expect((await person.delete(at(best))).status).toBe(204);
    expect((await list()).items).toMatchObject([{ jobs: exact(2), best: { job_id: middle } }]);
    const retention = new DynamoJobRetention(scene.fixture.client, scene.fixture.jobsTable);
    expect(await retention.begin(middle, 'job', '2026-07-01T00:00:00.000Z')).toBe(true);
    await retention.deleteItems(middle, 'job');
    expect((await list()).items).toMatchObject([{ jobs: exact(1), best: { job_id: low } }]);
    await person.delete(at(low));
    expect((await list()).items).toEqual([]);
  });
});
