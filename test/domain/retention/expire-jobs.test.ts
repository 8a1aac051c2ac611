import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobRetention } from '#adapters/dynamo/job-retention.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import { jobListOf } from '#contract/values/tables.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { type ExpireJobsDeps, expireJobs } from '#domain/retention/expire-jobs.ts';
import { removeDeleted } from '#domain/retention/remove-deleted.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { createService } from '#runtime/service.ts';
import { backendHandlers } from '#runtime/services/backend.ts';
import { memoryAudit } from '../../support/audit.ts';
import { fakeBackendDeps, memoryLog, post } from '../../support/backend.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';
import { pendingJob, SOME_RESULT, SOME_TIMING } from '../../support/jobs.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';

/** Jobs of the fixture are created on 1 March 2025 and completed on 2 March. */
const FINISHED = Date.parse('2025-03-02T00:00:00Z');
const DAY = 24 * 60 * 60_000;
const DAYS = { results: 10, trials: 10, jobs: 40 };

let engine: TestEngine;
let folder: string;
let fixture: RegistryFixture;
let objects: FileObjectStore;
const clock = { time: 0, now: () => clock.time };

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), 'touchstone-expiry-'));
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true });
});

let scenes = 0;
beforeEach(async () => {
  fixture = await registryFixture(engine);
  objects = new FileObjectStore(join(folder, String(scenes++)));
  clock.time = FINISHED;
});

function depsWith(changes: Partial<ExpireJobsDeps> = {}): ExpireJobsDeps {
  return {
    days: DAYS,
    retention: new DynamoJobRetention(engine.client, fixture.jobsTable),
    results: new ObjectResultStore(objects),
    registry: fixture.store,
    clock,
    ...changes,
  };
}

/** A pass at a number of days after the jobs have finished. */
async function expireAt(days: number, deps = depsWith()) {
  clock.time = FINISHED + days * DAY;
  const errors: string[] = [];
  const report = await expireJobs(deps, (id, error) => errors.push(`${id} ${(error as Error).message}`));
  return { ...report, errors };
}

async function withResults(jobId: string): Promise<void> {
  for (const name of ['report.json.zst', 'trades/0001.columns.zst']) {
    await objects.put(`results/${jobId}/1/${name}`, Buffer.from('x'), 'application/zstd');
  }
}

async function stored(jobId: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of objects.list(`results/${jobId}/`)) keys.push(key);
  return keys;
}

async function itemsOf(jobId: string): Promise<string[]> {
  const { Items = [] } = await engine.client.send(
    new QueryCommand({
      TableName: fixture.jobsTable,
      KeyConditionExpression: 'job_id = :job',
      ExpressionAttributeValues: { ':job': jobId },
    }),
  );
  return Items.map(({ item }) => String(item));
}

async function itemOf(jobId: string) {
  const Key = { job_id: jobId, item: 'JOB' };
  return (await engine.client.send(new GetCommand({ TableName: fixture.jobsTable, Key }))).Item;
}

/** The backend over the stores of the fixture. */
function backend() {
  const deps = {
    ...fakeBackendDeps(),
    jobs: fixture.jobs,
    results: new ObjectResultStore(objects),
    retention: DAYS,
    registry: fixture.store,
    clock,
  };
  const { log } = memoryLog();
  const app = createService('backend', backendHandlers(deps as never), {
    ownership: ownershipOf({ ...fixture.deps, jobs: fixture.jobs }),
    log,
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    checkResponses: true,
  });
  return async (path: string, init?: RequestInit) => {
    const response = await app.request(`http://localhost/api/v1/backtests${path}`, init);
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as any };
  };
}

describe('job that nobody keeps', () => {
  test('loses its results first and itself later, and reads say so', async () => {
    await withResults('bt-1');
    const call = backend();
    expect((await call('/bt-1')).body).toMatchObject({
      kept: false,
      expires_at: '2025-03-12T00:00:00.000Z',
      results_deleted: false,
    });
    expect(await expireAt(9)).toEqual({ details: 0, job: 0, errors: [] });
    expect(await stored('bt-1')).toHaveLength(2);

    expect(await expireAt(11)).toEqual({ details: 1, job: 0, errors: [] });
    expect(await stored('bt-1')).toEqual([]);
    expect((await call('/bt-1')).body).toMatchObject({
      status: 'completed',
      result: { total_trades: SOME_RESULT.total_trades },
      results_deleted: true,
      expires_at: '2025-04-11T00:00:00.000Z',
    });
    for (const part of ['equity', 'report-data', 'trades', 'curve', 'export']) {
      const answer = await call(`/bt-1/${part}`);
      expect([answer.status, answer.body.detail.code], part).toEqual([410, 'RES006']);
    }

    const retention = new DynamoJobRetention(engine.client, fixture.jobsTable);
    const finish = retention.finish.bind(retention);
    let deleteAt = 0;
    // Reads compare the time with the real clock.
    retention.finish = (job, part, at) => {
      deleteAt = at;
      return finish(job, part, at + 10 * 365 * (DAY / 1000));
    };
    expect(await expireAt(41, depsWith({ retention }))).toEqual({ details: 0, job: 1, errors: [] });
    const put = { ...post({ shared_with: [] }), method: 'PUT' };
    for (const [path, init] of [['/bt-1'], ['/bt-1/sharing'], ['/bt-1/sharing', put]] as const) {
      const { status, body } = await call(path, init);
      expect([status, body.detail], path).toMatchObject([410, { code: 'RES006', field: 'job_id' }]);
    }
    expect((await call('')).body.items).toEqual([]);
    expect(await itemsOf('bt-1')).toEqual(['JOB']);
    expect(deleteAt).toBe((clock.time + 30 * DAY) / 1000);
    expect(await expireAt(80)).toEqual({ details: 0, job: 0, errors: [] });
  });

  test('is unknown once its item would have been deleted', async () => {
    await expireAt(41);
    await engine.client.send(
      new UpdateCommand({
        TableName: fixture.jobsTable,
        Key: { job_id: 'bt-1', item: 'JOB' },
        UpdateExpression: 'SET expires_at = :past',
        ExpressionAttributeValues: { ':past': 1_700_000_000 },
      }),
    );
    for (const path of ['/bt-1', '/bt-1/sharing']) expect((await backend()(path)).status, path).toBe(404);
  });

  test('stays while a retention is not set', async () => {
    await withResults('bt-1');
    const deps = depsWith({ days: { results: null, trials: null, jobs: null } });
    expect(await expireAt(4_000, deps)).toEqual({ details: 0, job: 0, errors: [] });
    expect(await stored('bt-1')).toHaveLength(2);
  });

  test('hyperopt job loses its trials', async () => {
    const jobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
    const job = { ...pendingHyperopt('ho-1'), created_at: '2025-03-01T00:00:00.000Z' };
    await jobs.create(job);
    await jobs.fail('ho-1', { code: 'VAL006', message: 'over' }, '2025-03-02T00:00:00.000Z');
    for (const item of [
      'TRIAL#000001',
      'RETURNS#000001',
      'PERMUTED#000001',
      'PERMUTED_TRIALS#000001#000000',
    ]) {
      await engine.client.send(
        new PutCommand({ TableName: fixture.jobsTable, Item: { job_id: 'ho-1', item } }),
      );
    }
    expect(await expireAt(11)).toMatchObject({ details: 2, errors: [] });
    expect(await itemsOf('ho-1')).toEqual(['ACCESS#user:anonymous', 'JOB']);
    expect(await expireAt(41)).toMatchObject({ job: 2, errors: [] });
    expect(await itemsOf('ho-1')).toEqual(['JOB']);
  });
});

describe('kept job', () => {
  test('that a user keeps stays until the user lets it expire', async () => {
    await withResults('bt-1');
    const call = backend();
    expect((await call('/bt-1/keep', post({}))).body).toMatchObject({ kept: true, expires_at: null });
    expect(await expireAt(60)).toEqual({ details: 0, job: 0, errors: [] });
    expect(await stored('bt-1')).toHaveLength(2);

    expect((await call('/bt-1/keep', post({ keep: false }))).body.kept).toBe(false);
    // The pass of the next month begins at the oldest job.
    expect(await expireAt(95)).toEqual({ details: 1, job: 1, errors: [] });
    expect((await call('/bt-1/keep', post({}))).body.detail.code).toBe('RES006');
    expect((await call('/bt-9/keep', post({}))).status).toBe(404);
  });

  test('that is shared stays until the last grant is revoked', async () => {
    const grant = [{ principal: 'user:ada', level: 'read' as const }];
    expect(await fixture.jobs.sharing.share('bt-1', [], grant)).toBe('done');
    expect(await expireAt(60)).toEqual({ details: 0, job: 0, errors: [] });
    expect(await fixture.jobs.sharing.share('bt-1', grant, [])).toBe('done');
    expect(await expireAt(95)).toEqual({ details: 1, job: 1, errors: [] });
    expect(await fixture.jobs.sharing.share('bt-1', [], grant)).toBe('conflict');
  });

  test('that a version was registered from never expires', async () => {
    await withResults('bt-1');
    expect((await fixture.register()).status).toBe(201);
    expect((await backend()('/bt-1')).body).toMatchObject({ kept: true, expires_at: null });
    for (const days of [60, 95, 4_000]) {
      expect(await expireAt(days)).toEqual({ details: 0, job: 0, errors: [] });
    }
    expect(await stored('bt-1')).toHaveLength(2);
  });

  test('that is a failed search behind a version stays', async () => {
    const jobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
    await jobs.create({ ...pendingHyperopt('ho-1'), created_at: '2025-03-01T00:00:00.000Z' });
    await jobs.fail('ho-1', { code: 'VAL006', message: 'over' }, '2025-03-02T00:00:00.000Z');
    expect(await jobs.setEvidence('ho-1', MODEL, new Date(FINISHED + 60 * DAY).toISOString())).toBe(true);
    await expireAt(60);
    expect((await jobs.get('ho-1'))?.expired_at).toBeUndefined();
  });

  test('of a version registered before retention existed is recognized by the registry', async () => {
    await fixture.register();
    await engine.client.send(
      new UpdateCommand({
        TableName: fixture.jobsTable,
        Key: { job_id: 'bt-1', item: 'JOB' },
        UpdateExpression: 'REMOVE evidence_of',
      }),
    );
    expect(await expireAt(60)).toEqual({ details: 0, job: 0, errors: [] });
    expect((await itemOf('bt-1'))?.evidence_of).toMatchObject({ model: MODEL });
  });
});

describe('registration and expiry', () => {
  test('registration of an expired backtest is rejected', async () => {
    await expireAt(11);
    const answer = await fixture.register();
    expect([answer.status, answer.body.detail.code]).toEqual([410, 'RES006']);
  });

  test('registration whose mark comes after the decision to delete is rejected', async () => {
    const { jobs } = fixture;
    const setEvidence = jobs.setEvidence.bind(jobs);
    fixture.deps.jobs.setEvidence = async (...mark) => {
      await expireAt(11);
      return setEvidence(...mark);
    };
    expect((await fixture.register()).body.detail.code).toBe('RES006');
    expect(await fixture.store.versions(MODEL)).toEqual([]);
  });

  test('decision to delete that comes after the mark of a registration changes nothing', async () => {
    await withResults('bt-1');
    const retention = new DynamoJobRetention(engine.client, fixture.jobsTable);
    const begin = retention.begin.bind(retention);
    retention.begin = async (...decision) => {
      expect((await fixture.register()).status).toBe(201);
      return begin(...decision);
    };
    const onlyResults = { results: 10, trials: null, jobs: null };
    expect(await expireAt(11, depsWith({ retention, days: onlyResults }))).toEqual({
      details: 0,
      job: 0,
      errors: [],
    });
    expect(await stored('bt-1')).toHaveLength(2);
  });

  test('mark of a registration that was not committed is removed, and the job expires later', async () => {
    expect(await fixture.jobs.setEvidence('bt-1', MODEL, '2025-03-03T00:00:00.000Z')).toBe(true);
    expect((await itemOf('bt-1'))?.evidence_of).toBeDefined();
    expect(await expireAt(11)).toEqual({ details: 0, job: 0, errors: [] });
    expect((await itemOf('bt-1'))?.evidence_of).toBeUndefined();
    expect(await expireAt(41)).toMatchObject({ job: 1, errors: [] });
  });

  test('mark of a registration in progress stays', async () => {
    const at = new Date(FINISHED + 60 * DAY - 60_000).toISOString();
    await fixture.jobs.setEvidence('bt-1', MODEL, at);
    await expireAt(60);
    expect((await itemOf('bt-1'))?.evidence_of).toEqual({ model: MODEL, at });
  });
});

describe('run that dies', () => {
  test.each(['deleteItems', 'finish', 'saveCheckpoint'] as const)(
    'in %s is continued by the next one',
    async (step) => {
      await withResults('bt-1');
      const dying = new DynamoJobRetention(engine.client, fixture.jobsTable);
      dying[step] = () => Promise.reject(new Error('killed'));
      await expireAt(41, depsWith({ retention: dying })).catch(() => undefined);
      await expireAt(41);
      expect(await stored('bt-1')).toEqual([]);
      expect(await itemsOf('bt-1')).toEqual(['JOB']);
      expect((await itemOf('bt-1'))?.list).toBeUndefined();
      expect((await backend()('')).body.items).toEqual([]);
    },
  );

  test('error in one job is reported and does not stop the others', async () => {
    await fixture.backtest('bt-2');
    const results = new ObjectResultStore(objects);
    const failing = {
      remove: (jobId: string) =>
        jobId === 'bt-1' ? Promise.reject(new Error('no S3')) : results.remove(jobId),
    };
    const report = await expireAt(11, depsWith({ results: failing }));
    expect(report).toEqual({ details: 1, job: 0, errors: ['bt-1 no S3'] });
    expect(await expireAt(11)).toEqual({ details: 1, job: 0, errors: [] });
  });

  test('job that cannot be read, and a list that fails, do not stop the others', async () => {
    await fixture.backtest('bt-2');
    await engine.client.send(
      new UpdateCommand({
        TableName: fixture.jobsTable,
        Key: { job_id: 'bt-1', item: 'JOB' },
        UpdateExpression: 'SET finished_at = :number',
        ExpressionAttributeValues: { ':number': 1 },
      }),
    );
    const retention = new DynamoJobRetention(engine.client, fixture.jobsTable);
    const checkpoint = retention.checkpoint.bind(retention);
    const broken = `${jobListOf('backtest', 'bt-3')}#details`;
    retention.checkpoint = async (name) => {
      if (name === broken) throw new Error('no checkpoint');
      return checkpoint(name);
    };
    const report = await expireAt(11, depsWith({ retention }));
    expect(report.details).toBe(1);
    expect(report.errors.sort()).toEqual([
      `${broken} no checkpoint`,
      expect.stringMatching(/^bt-1 JOB of bt-1 cannot be read: finished_at/),
    ]);
  });

  test('job that fails in ten runs does not hold up its list', async () => {
    const failing = { remove: () => Promise.reject(new Error('no S3')) };
    for (let run = 0; run < 10; run++) {
      expect((await expireAt(11, depsWith({ results: failing }))).errors).toHaveLength(1);
    }
    expect((await expireAt(11, depsWith({ results: failing }))).errors).toEqual([]);
    expect((await expireAt(31)).details).toBe(1);
  });
});

test('job that still runs is visited again in the next month', async () => {
  await engine.client.send(
    new UpdateCommand({
      TableName: fixture.jobsTable,
      Key: { job_id: 'bt-1', item: 'JOB' },
      UpdateExpression: 'SET #status = :running REMOVE finished_at',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':running': 'running' },
    }),
  );
  expect(await expireAt(41)).toEqual({ details: 0, job: 0, errors: [] });
  await fixture.jobs.complete(
    'bt-1',
    1,
    {
      result: SOME_RESULT,
      results: { prefix: 'results/bt-1/1', digest: 'd', trade_pages: 0 },
      timing: SOME_TIMING,
      warnings: [],
    },
    '2025-04-12T00:00:00.000Z',
  );
  expect(await expireAt(75)).toMatchObject({ details: 1, job: 0 });
});

describe('deleteBacktest', () => {
  const remove = { method: 'DELETE' };

  /** A run of repair some minutes after the deletion. */
  async function removeAfter(minutes: number, deps = depsWith()) {
    clock.time += minutes * 60_000;
    const errors: string[] = [];
    const removed = await removeDeleted(deps, (id, error) =>
      errors.push(`${id} ${(error as Error).message}`),
    );
    return { removed, errors };
  }

  test('hides the job immediately, removes its data later, and leaves 410 for 30 days', async () => {
    await withResults('bt-1');
    const call = backend();
    expect((await call('?limit=1')).body.items).toHaveLength(1);
    expect(await call('/bt-1', remove)).toEqual({ status: 204, body: null });
    for (const path of ['/bt-1', '/bt-1/equity', '/bt-1/report-data', '/bt-1/sharing']) {
      const { status, body } = await call(path);
      expect([path, status, body.detail.code]).toEqual([path, 410, 'RES006']);
    }
    for (const init of [remove, { ...post({ pinned: true }), method: 'PATCH' }])
      expect((await call('/bt-1', init)).body.detail.code).toBe('RES006');
    for (const query of ['', '?sort=created_at', '?status=completed']) {
      expect((await call(query)).body.items).toEqual([]);
    }
    expect((await call('?count=true')).body.count).toEqual({ value: 0, relation: 'exact' });
    // The task of a cancelled job may write results for some minutes.
    expect(await removeAfter(14)).toEqual({ removed: 0, errors: [] });
    expect(await stored('bt-1')).toHaveLength(2);
    expect(await removeAfter(2)).toEqual({ removed: 1, errors: [] });
    expect(await stored('bt-1')).toEqual([]);
    expect(await itemsOf('bt-1')).toEqual(['JOB']);
    expect(await itemsOf('#deleted')).toEqual([]);
    const { list, expires_at } = (await itemOf('bt-1'))!;
    expect([list, expires_at]).toEqual([undefined, Math.floor((clock.time + 30 * DAY) / 1000)]);
    expect(await removeAfter(60)).toEqual({ removed: 0, errors: [] });
  });

  test('rejects a job that has not ended, and changes nothing', async () => {
    await fixture.jobs.create(pendingJob('bt-9'));
    const call = backend();
    for (const status of ['pending', 'running']) {
      const rejected = await call('/bt-9', remove);
      expect([rejected.status, rejected.body.detail]).toMatchObject([
        409,
        { code: 'RES005', field: 'job_id', context: { status } },
      ]);
      await fixture.jobs.claim('bt-9', 'task', '2025-03-01T00:00:00.000Z');
    }
    expect((await call('/bt-9')).body.status).toBe('running');
  });

  test('rejects the backtest of a registered version, also without a mark', async () => {
    await fixture.register();
    const call = backend();
    for (const marked of [true, false]) {
      if (!marked) {
        await engine.client.send(
          new UpdateCommand({
            TableName: fixture.jobsTable,
            Key: { job_id: 'bt-1', item: 'JOB' },
            UpdateExpression: 'REMOVE evidence_of',
          }),
        );
      }
      const { status, body } = await call('/bt-1', remove);
      expect([status, body.detail.code, body.detail.context.version]).toEqual([409, 'RES005', '1']);
    }
    expect((await call('/bt-1')).status).toBe(200);
  });

  test('waits for a registration in progress, and passes the mark of one that failed', async () => {
    const call = backend();
    await fixture.jobs.setEvidence('bt-1', MODEL, new Date(FINISHED).toISOString());
    expect((await call('/bt-1', remove)).status).toBe(409);
    clock.time += 61 * 60_000;
    expect((await call('/bt-1', remove)).status).toBe(204);
    expect((await fixture.register()).body.detail.code).toBe('RES006');
  });

  test('loses against a registration that comes between its checks and its write', async () => {
    const { jobs } = fixture;
    const markDeleted = jobs.markDeleted.bind(jobs);
    jobs.markDeleted = async (...mark) => {
      jobs.markDeleted = markDeleted;
      expect((await fixture.register()).status).toBe(201);
      return markDeleted(...mark);
    };
    expect((await backend()('/bt-1', remove)).body.detail).toMatchObject({ code: 'RES005' });
    expect((await fixture.store.versions(MODEL)).length).toBe(1);
  });

  test.each(['deleteItems', 'finish', 'forgetDeleted'] as const)(
    'removal that dies in %s is continued by the next run',
    async (step) => {
      await withResults('bt-1');
      await backend()('/bt-1', remove);
      const dying = new DynamoJobRetention(engine.client, fixture.jobsTable);
      dying[step] = () => Promise.reject(new Error('killed'));
      expect(await removeAfter(16, depsWith({ retention: dying }))).toEqual({
        removed: 0,
        errors: ['bt-1 killed'],
      });
      expect(await removeAfter(5)).toEqual({ removed: 1, errors: [] });
      expect([await stored('bt-1'), await itemsOf('bt-1'), await itemsOf('#deleted')]).toEqual([
        [],
        ['JOB'],
        [],
      ]);
    },
  );
});
