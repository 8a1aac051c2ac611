import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { toJobItem } from '#adapters/dynamo/job-records.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { JOB_STATUSES, type JobStatus, type StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { everyRow, pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';

const engine = fileEngine();
let store: DynamoJobStore;
let ids = 0;
const newId = () => `bt-${String(ids++).padStart(26, '0')}`;
const AT = '2025-03-02T00:00:00.000Z';
const LATER = '2025-03-03T00:00:00.000Z';
const OUTCOME = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: ['a gap'] };
const ERROR = { code: 'DATA001', message: 'too few candles' };
beforeAll(async () => {
  store = new DynamoJobStore(engine.client, engine.tables.jobs);
});

/** Creates a job and brings it into `status`. The attempt is 1 unless the job was never claimed. */
async function jobIn(status: JobStatus): Promise<string> {
  const id = newId();
  await store.create(pendingJob(id, { warnings: ['unknown key x'] }));
  if (status !== 'pending') await store.claim(id, 'task-1', AT);
  if (status === 'completed') await store.complete(id, 1, OUTCOME, AT);
  if (status === 'failed') await store.fail(id, 1, ERROR, AT);
  if (status === 'cancelled') await store.cancel(id, AT);
  const job = await store.get(id);
  expect(job?.status).toBe(status);
  return id;
}

describe('DynamoJobStore create and get', () => {
  test('get returns the created job', async () => {
    const job = pendingJob(newId(), { experiment_name: 'spring', warnings: ['w'] });
    expect(await store.create(job)).toEqual(job);
    expect(await store.get(job.job_id)).toEqual(job);
  });

  test('create returns the stored job when the ID exists', async () => {
    const id = newId();
    await store.create(pendingJob(id, { priority: 3 }));
    await store.claim(id, 'task', AT);
    const again = await store.create(pendingJob(id, { priority: 9 }));
    expect(again).toMatchObject({ status: 'running', priority: 3 });
    expect(await store.get(id)).toEqual(again);
  });

  test('get returns undefined for an unknown job', async () => {
    expect(await store.get('bt-unknown')).toBeUndefined();
  });

  test('get returns undefined for a job of the other store', async () => {
    const hyperopts = new DynamoHyperoptStore(engine.client, engine.tables.jobs);
    await hyperopts.create(pendingHyperopt('ho-other'));
    await store.create(pendingJob('bt-other'));
    expect(await store.get('ho-other')).toBeUndefined();
    expect(await hyperopts.get('bt-other')).toBeUndefined();
    expect(await hyperopts.get('ho-other')).toMatchObject({ job_id: 'ho-other' });
  });

  test('job keeps numbers beyond the safe integers', async () => {
    const id = await jobIn('running');
    const result = { ...SOME_RESULT, total_profit: 1.2345e21, sharpe_ratio: -1e-9 };
    await store.complete(id, 1, { ...OUTCOME, result }, AT);
    expect(await store.get(id)).toMatchObject({ result });
    const rows = await everyRow(store, { status: 'completed' });
    expect(rows.find((row) => row.job_id === id)?.result).toEqual(result);
  });

  test('complete rejects NaN and keeps the job running', async () => {
    const id = await jobIn('running');
    const result = { ...SOME_RESULT, sharpe_ratio: Number.NaN };
    await expect(store.complete(id, 1, { ...OUTCOME, result }, AT)).rejects.toThrow(/NaN/);
    expect((await store.get(id))?.status).toBe('running');
  });

  test('get rejects an invalid item with the job and the field', async () => {
    const id = newId();
    const { config: _, ...rest } = toJobItem(pendingJob(id), 'ema_crossover', 'backtest');
    await engine.client.send(new PutCommand({ TableName: engine.tables.jobs, Item: rest }));
    await expect(store.get(id)).rejects.toMatchObject({
      code: 'SVC001',
      message: expect.stringMatching(`${id}.*config`),
    });
    await engine.client.send(
      new PutCommand({
        TableName: engine.tables.jobs,
        Item: { ...toJobItem(pendingJob(id), 'ema_crossover', 'backtest'), kind: 'broken' },
      }),
    );
  });
});

/** Effect of every call on a job in every status. `null`: the job does not change. */
const CALLS: Record<
  string,
  {
    call: (id: string) => Promise<unknown>;
    effects: Record<JobStatus, Record<string, unknown> | null>;
    result: (changed: boolean, job: StoredBacktestJob, status: JobStatus) => unknown;
  }
> = {
  claim: {
    call: (id) => store.claim(id, 'task-2', LATER),
    effects: {
      pending: { status: 'running', attempt: 1, task: 'task-2', started_at: LATER, progress: 0 },
      running: { status: 'running', attempt: 2, task: 'task-2', started_at: LATER, progress: 0 },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: (changed, job) =>
      changed ? { outcome: 'claimed', job } : { outcome: 'terminal', status: job.status },
  },
  setProgress: {
    call: (id) => store.setProgress(id, 1, 0.5, LATER),
    effects: {
      pending: null,
      // Progress must not write the list indexes, which contain `updated_at`.
      running: { progress: 0.5, progress_at: LATER, updated_at: AT },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: (changed) => changed,
  },
  complete: {
    call: (id) => store.complete(id, 1, { ...OUTCOME, warnings: ['late'] }, LATER),
    effects: {
      pending: null,
      running: {
        status: 'completed',
        result: SOME_RESULT,
        results: SOME_RESULTS,
        timing: SOME_TIMING,
        progress: 1,
        warnings: ['unknown key x', 'late'],
        finished_at: LATER,
      },
      completed: null,
      failed: null,
      cancelled: null,
    },
    // A repeated write of the same attempt succeeds without a change.
    result: (changed, _job, status) => changed || status === 'completed',
  },
  'fail of the attempt': {
    call: (id) => store.fail(id, 1, ERROR, LATER),
    effects: {
      pending: null,
      running: { status: 'failed', error: ERROR.message, error_code: ERROR.code, finished_at: LATER },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: (changed, _job, status) => changed || status === 'failed',
  },
  'fail from outside': {
    call: (id) => store.fail(id, null, ERROR, LATER),
    effects: {
      pending: { status: 'failed', error: ERROR.message, error_code: ERROR.code, finished_at: LATER },
      running: { status: 'failed', error: ERROR.message, error_code: ERROR.code, finished_at: LATER },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: (changed) => changed,
  },
  cancel: {
    call: (id) => store.cancel(id, LATER),
    effects: {
      pending: { status: 'cancelled', finished_at: LATER },
      running: { status: 'cancelled', finished_at: LATER, task: 'task-1' },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: (changed, job) => ({ cancelled: changed, job }),
  },
  setCollection: {
    call: (id) => store.setCollection(id, { status: 'failed', message: 'no network', at: LATER }),
    effects: {
      pending: { collection: { status: 'failed', message: 'no network', at: LATER } },
      running: { collection: { status: 'failed', message: 'no network', at: LATER } },
      completed: null,
      failed: null,
      cancelled: null,
    },
    result: () => undefined,
  },
};

describe('job status changes', () => {
  const cases = Object.keys(CALLS).flatMap((name) => JOB_STATUSES.map((status) => [name, status] as const));

  test.each(cases)('%s of a %s job changes only the expected fields', async (name, status) => {
    const { call, effects, result } = CALLS[name]!;
    const id = await jobIn(status);
    const before = (await store.get(id))!;
    const answered = await call(id);
    const after = (await store.get(id))!;
    const effect = effects[status];
    if (effect) {
      expect(after).toMatchObject({ updated_at: LATER, ...effect, revision: before.revision + 1 });
    } else {
      expect(after).toEqual(before);
    }
    expect(answered).toEqual(result(effect !== null, after, status));
    const listed = (await everyRow(store, { status: after.status })).find((row) => row.job_id === id);
    expect(listed).toMatchObject({
      status: after.status,
      updated_at: after.updated_at,
      strategy: 'ema_crossover',
      result: after.status === 'completed' ? after.result : null,
      error: after.status === 'failed' ? after.error : null,
    });
  });

  test.each(Object.keys(CALLS))('%s of an unknown job creates nothing', async (name) => {
    const id = newId();
    const answered = await CALLS[name]!.call(id);
    const expected: Record<string, unknown> = {
      claim: { outcome: 'unknown' },
      cancel: { cancelled: false, job: undefined },
      setCollection: undefined,
    };
    expect(answered).toEqual(name in expected ? expected[name] : false);
    expect(await store.get(id)).toBeUndefined();
  });

  test('50 concurrent claims get 50 attempts, and only the last attempt can write', async () => {
    const id = await jobIn('pending');
    const claims = await Promise.all(Array.from({ length: 50 }, (_, i) => store.claim(id, `task-${i}`, AT)));
    const attempts = claims.map((claim) => (claim.outcome === 'claimed' ? claim.job.attempt : 0));
    expect(attempts.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    for (const stale of [0, 1, 49, 51]) {
      expect(await store.setProgress(id, stale, 0.9, LATER)).toBe(false);
      expect(await store.complete(id, stale, OUTCOME, LATER)).toBe(false);
      expect(await store.fail(id, stale, ERROR, LATER)).toBe(false);
    }
    expect(await store.get(id)).toMatchObject({ status: 'running', attempt: 50, progress: 0 });
    expect(await store.complete(id, 50, OUTCOME, LATER)).toBe(true);
  });

  test('exactly one of a concurrent cancellation and completion succeeds', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await jobIn('running');
      const [cancelled, completed] = await Promise.all([
        store.cancel(id, LATER),
        store.complete(id, 1, OUTCOME, LATER),
      ]);
      expect(cancelled.cancelled).toBe(!completed);
      expect((await store.get(id))?.status).toBe(completed ? 'completed' : 'cancelled');
    }
  });

  test('job list truncates a long error to 300 characters', async () => {
    const id = await jobIn('running');
    const message = 'x'.repeat(298) + '😀'.repeat(50);
    await store.fail(id, 1, { code: 'SVC001', message }, AT);
    const row = (await everyRow(store, { status: 'failed' })).find((each) => each.job_id === id);
    expect(row?.error).toMatch(/^x{298}.?…$/u);
    expect(await store.get(id)).toMatchObject({ error: message });
  });
});

test('unreachable database is DATA005', async () => {
  const unreachable = new DynamoJobStore(createDocumentClient({ endpoint: 'http://127.0.0.1:1' }), 'jobs');
  await expect(unreachable.get('bt-1')).rejects.toMatchObject({ code: 'DATA005', status: 503 });
  await expect(unreachable.create(pendingJob('bt-1'))).rejects.toMatchObject({ code: 'DATA005' });
  await expect(unreachable.list({}, 10, null)).rejects.toMatchObject({ code: 'DATA005' });
});
