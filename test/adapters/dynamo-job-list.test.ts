import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import type { JobStatus } from '#contract/backtests/backtest.ts';
import type { JobFilter } from '#domain/jobs/job-list-ports.ts';
import { fileEngine } from '../support/file-engine.ts';
import { everyRow, pendingJob } from '../support/jobs.ts';

const engine = fileEngine();
let store: DynamoJobStore;
const AT = '2025-03-02T00:00:00.000Z';
beforeAll(async () => {
  store = new DynamoJobStore(engine.client, engine.tables.jobs);
});

describe('DynamoJobStore list', () => {
  test('job pages are complete, newest first and without repeats for any filter, ties and page size', async () => {
    const jobArbitrary = fc.record({
      minute: fc.integer({ min: 0, max: 3 }),
      status: fc.constantFrom<JobStatus>('pending', 'running', 'cancelled'),
      experiment_name: fc.constantFrom(null, 'a', 'b'),
    });
    const filterArbitrary = fc.record(
      {
        status: fc.constantFrom<JobStatus>('pending', 'running', 'cancelled', 'failed'),
        experiment_name: fc.constantFrom('a', 'b', 'c'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(jobArbitrary, { maxLength: 25 }),
        filterArbitrary,
        fc.integer({ min: 1, max: 8 }),
        async (jobs, filter, limit) => {
          const { jobs: table } = await engine.freshTables();
          const own = new DynamoJobStore(engine.client, table);
          for (const [index, { minute, status, experiment_name }] of jobs.entries()) {
            const id = `bt-${index}`;
            const created_at = `2025-03-01T00:0${minute}:00.000Z`;
            await own.create(pendingJob(id, { created_at, experiment_name }));
            if (status === 'running') await own.claim(id, 'task', AT);
            if (status === 'cancelled') await own.cancel(id, AT);
          }
          const rows = await everyRow(own, filter, limit);
          const wanted = jobs.flatMap((job, index) =>
            (filter.status === undefined || filter.status === job.status) &&
            (filter.experiment_name === undefined || filter.experiment_name === job.experiment_name)
              ? [`bt-${index}`]
              : [],
          );
          expect(rows.map((row) => row.job_id).sort()).toEqual(wanted.sort());
          const times = rows.map((row) => row.created_at);
          expect(times).toEqual([...times].sort().reverse());
        },
      ),
      { numRuns: 25 },
    );
  });

  test('job list rejects a cursor of other filters', async () => {
    const { jobs: table } = await engine.freshTables();
    const own = new DynamoJobStore(engine.client, table);
    for (let i = 0; i < 4; i++) await own.create(pendingJob(`bt-${i}`, { experiment_name: 'a' }));
    const filters: JobFilter[] = [
      {},
      { status: 'pending' },
      { experiment_name: 'a' },
      { status: 'pending', experiment_name: 'a' },
    ];
    for (const made of filters) {
      const { next } = await own.list(made, 2, null);
      for (const used of filters) {
        const page = own.list(used, 2, next);
        if (used === made) expect((await page).items).toHaveLength(2);
        else await expect(page).rejects.toMatchObject({ code: 'VAL006', field: 'cursor' });
      }
    }
  });

  test.each([
    '',
    'x',
    'null',
    '[]',
    Buffer.from('[2,"h",["a","b"]]').toString('base64url'),
    Buffer.from('[1,"h",["a"]]').toString('base64url'),
    Buffer.from('{"1":1}').toString('base64url'),
    '𝔘𝔫𝔦',
  ])('job list rejects the invalid cursor %j with VAL006', async (cursor) => {
    await expect(store.list({}, 10, cursor)).rejects.toMatchObject({ code: 'VAL006', field: 'cursor' });
  });

  test('job list finds a rare experiment among 700 jobs', async () => {
    const { jobs: table } = await engine.freshTables();
    const own = new DynamoJobStore(engine.client, table);
    for (let from = 0; from < 700; from += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => from + i).map((i) =>
          own.create(
            pendingJob(`bt-${i}`, {
              created_at: new Date(1.74e12 + i * 1000).toISOString(),
              experiment_name: i % 350 === 3 ? 'rare' : 'common',
            }),
          ),
        ),
      );
    }
    const first = await own.list({ experiment_name: 'rare' }, 1, null);
    expect(first.items.map((row) => row.job_id)).toEqual(['bt-353']);
    const second = await own.list({ experiment_name: 'rare' }, 1, first.next);
    expect(second).toMatchObject({ items: [{ job_id: 'bt-3' }], next: null });
  });
});

test('oldestPending returns the creation time of the oldest pending job of every kind', async () => {
  const { jobs: table } = await engine.freshTables();
  const own = new DynamoJobStore(engine.client, table);
  expect(await own.oldestPending()).toBeUndefined();
  const at = (hour: number) => `2025-03-01T0${hour}:00:00.000Z`;
  await own.create(pendingJob('bt-2', { created_at: at(2) }));
  await own.create(pendingJob('va-1', { kind: 'validation', created_at: at(1) }));
  await own.create(pendingJob('bt-0', { created_at: at(0) }));
  await own.claim('bt-0', 'task', AT);
  expect(await own.oldestPending()).toBe(at(1));
});
