import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { toJobItem } from '#adapters/dynamo/job-records.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
/** A job more than a sorted list covers. */
const JOBS = 2_001;

it('sort and q cover the newest 2,000 jobs, and counts end at 1,000', async () => {
  const { client, jobsTable } = scene.fixture;
  for (let from = 0; from < JOBS; from += 25) {
    const items = Array.from({ length: Math.min(25, JOBS - from) }, (_, i) => {
      const created_at = new Date(Date.UTC(2026, 0, 1) + (from + i) * 1000).toISOString();
      const job = pendingJob(`bt-${from + i}x`, { created_at });
      return { PutRequest: { Item: toJobItem(job, job.config.strategy, 'backtest') } };
    });
    await client.send(new BatchWriteCommand({ RequestItems: { [jobsTable]: items } }));
  }
  const list = async (query: string) => (await scene.admin.get(`/api/v1/backtests?${query}`)).body;
  const oldest = await list('sort=created_at&sort_order=asc&limit=1&count=true');
  // The oldest job is beyond the reach of the order.
  expect(oldest.items[0].job_id).toBe('bt-1x');
  expect(oldest.searched).toEqual({ jobs: 2_000, complete: false });
  expect(oldest.count).toEqual({ value: 1_000, relation: 'at_least' });
  expect((await list('count=true')).count).toEqual({ value: 1_000, relation: 'at_least' });
  expect((await list('q=bt-0x&count=true')).count).toEqual({ value: 0, relation: 'at_least' });
  expect((await list('q=bt-1999x&count=true')).count).toEqual({ value: 1, relation: 'at_least' });
});

it('experiment counts to 1,000 jobs', async () => {
  const owner = 'sweeper';
  for (let from = 0; from <= 1_000; from += 50) {
    const jobs = Array.from({ length: Math.min(50, 1_001 - from) }, () =>
      scene.fixture.backtest(owner, { experiment_name: 'sweep' }),
    );
    await Promise.all(jobs);
    if (from !== 950) continue;
    const { body } = await scene.fixture.person(owner).get('/api/v1/experiments');
    expect(body.items[0].jobs).toEqual({ value: 1_000, relation: 'exact' });
  }
  const { body } = await scene.fixture.person(owner).get('/api/v1/experiments');
  expect(body.items[0]).toMatchObject({ jobs: { value: 1_000, relation: 'at_least' }, unfinished: 1_000 });
});
