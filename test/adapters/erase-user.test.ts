import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DynamoAuditTrail } from '#adapters/dynamo/audit-trail.ts';
import { type EraseUserDeps, eraseUser, pseudonymOf } from '#adapters/dynamo/erase-user.ts';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import { DynamoSignalsStore } from '#adapters/dynamo/signals-store.ts';
import { DynamoDeliveryStore, DynamoWebhookStore } from '#adapters/dynamo/webhook-store.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import { sha256 } from '#adapters/sha256.ts';
import { StoredSignalFiles } from '#adapters/signals/stored-signal-files.ts';
import type { StoredWebhook } from '#contract/platform/stored-webhook.ts';
import { labelVersion } from '#domain/registry/label-version.ts';
import { newDelivery, testEvent } from '#domain/webhooks/deliveries.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { pendingJob } from '../support/jobs.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';
import { storedApproval } from '../support/stored-approval.ts';

/** The caller of the fixture, who registers a version from bt-1 and shares the model with grace. */
const SUBJECT = 'anonymous';
/** The pseudonym, which each platform makes with a key of its own. */
let ERASED: string;
const AT = '2025-03-03T00:00:00.000Z';

let engine: TestEngine;
let folder: string;
let fixture: RegistryFixture;
let objects: FileObjectStore;
let deps: EraseUserDeps;

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), 'touchstone-erase-'));
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true });
});

let scenes = 0;
beforeEach(async () => {
  fixture = await registryFixture(engine);
  objects = new FileObjectStore(join(folder, String(scenes++)));
  deps = {
    client: engine.client,
    jobsTable: fixture.jobsTable,
    registryTable: fixture.table,
    results: new ObjectResultStore(objects),
    signalFiles: new StoredSignalFiles(objects),
  };
  ERASED = await pseudonymOf(deps, SUBJECT);
  await fixture.backtest('bt-2');
  await fixture.jobs.sharing.share('bt-2', [], [{ principal: 'user:grace', level: 'read' }]);
  await objects.put('results/bt-2/1/report.json.zst', Buffer.from('x'), 'application/zstd');
  // A job of another user, shared with the subject.
  await fixture.jobs.create(pendingJob('bt-3', { owner: 'grace' }));
  await fixture.jobs.cancel('bt-3', AT);
  await fixture.jobs.sharing.share(
    'bt-3',
    [],
    [
      { principal: `user:${SUBJECT}`, level: 'read' },
      { principal: 'user:bob', level: 'read' },
    ],
  );
  expect((await fixture.register({}, { 'Idempotency-Key': 'once' })).status).toBe(201);
  expect((await fixture.stage('1')).status).toBe(200);
  const of = { strategy: 'x', simulated: true, start: 0, end: 1, assets: ['BTC'] };
  for (const [owner, session] of [
    [SUBJECT, null],
    [SUBJECT, 'monday'],
    ['grace', null],
  ] as const) {
    const result = { digest: '0123456789ab', sharpe: null };
    await new DynamoOwnerTrials(engine.client, fixture.jobsTable).count(owner, { ...of, session }, [result]);
  }
  const trail = new DynamoAuditTrail(engine.client, fixture.table);
  const call = {
    schema_version: 1,
    id: '1',
    at: AT,
    service: 'backend',
    operation: 'submitBacktest',
  } as const;
  const rest = {
    resource: { kind: 'backtests', id: 'bt-1' },
    method: 'POST',
    path: '/',
    correlation_id: 'c',
    outcome: null,
  };
  const details = {
    roles: ['researcher'],
    request: '{"name":"Ann"}',
    source_ip: '10.0.0.1',
    user_agent: 'curl',
  };
  await trail.begin({ ...call, ...rest, ...details, principal: SUBJECT });
  await trail.begin({ ...call, ...rest, ...details, id: '2', principal: 'grace' });
});

async function everything(): Promise<Record<string, any>[]> {
  const tables = await Promise.all(
    [fixture.jobsTable, fixture.table].map((TableName) => engine.client.send(new ScanCommand({ TableName }))),
  );
  return tables.flatMap(({ Items = [] }) => Items);
}

/** Items that contain the subject, other than audit entries. */
async function traces(): Promise<string[]> {
  const items = (await everything()).filter(({ pk = '' }) => !pk.startsWith('AUDIT#'));
  return items.map((item) => JSON.stringify(item)).filter((text) => text.includes(`${SUBJECT}"`));
}

const erase = (dryRun = false) => eraseUser(deps, SUBJECT, { dryRun });

test('dry run counts and changes nothing', async () => {
  const before = await everything();
  expect(await erase(true)).toMatchObject({ jobs: 1, evidence: 1, grants: 1, audit: 1, unfinished: [] });
  expect(await everything()).toEqual(before);
});

test('user is erased: own jobs are deleted, what others rely on has a pseudonym', async () => {
  expect(await traces()).not.toEqual([]);
  const Key = { job_id: 'bt-1', item: 'JOB' };
  const named = {
    UpdateExpression: 'SET experiment_name = :x',
    ExpressionAttributeValues: { ':x': 'secret' },
  };
  await engine.client.send(new UpdateCommand({ TableName: fixture.jobsTable, Key, ...named }));
  await fixture.jobs.experiments.add((await fixture.jobs.get('bt-1'))!);
  await fixture.jobs.sharing.share('bt-1', [], [{ principal: 'user:grace', level: 'read' }]);
  await fixture.jobs.annotate('bt-1', { notes: 'Call Ann about it', tags: ['ann'], pinned: true });
  const caller = { actor: { id: SUBJECT, groups: [], isAdmin: false }, idempotencyKey: 'label' };
  const version = { model: MODEL, version: '1', field: 'version', operation: 'labelVersion', input: {} };
  await labelVersion(fixture.deps, { ...caller, correlationId: 'c' }, version, () => ({ aliases: ['eu'] }));
  const users = { requested_by: SUBJECT, decided_by: SUBJECT, registered_by: SUBJECT };
  const approval = { pk: 'APPROVALS', sk: 'ap-1', ...storedApproval({ ...users, status: 'withdrawn' }) };
  await engine.client.send(new PutCommand({ TableName: fixture.table, Item: approval }));
  expect(await erase()).toMatchObject({ jobs: 1, evidence: 1, grants: 1, audit: 1 });
  expect(await traces()).toEqual([]);
  expect(await fixture.store.approvals.read('ap-1')).toMatchObject({
    requested_by: ERASED,
    decided_by: ERASED,
    registered_by: ERASED,
  });
  expect(JSON.stringify(await everything())).not.toContain('secret');
  expect(await fixture.jobs.get('bt-2')).toBeUndefined();
  for await (const key of objects.list('results/bt-2/')) expect.fail(key);

  const trials = (await everything()).filter(({ job_id = '' }) => job_id.startsWith('#trials#'));
  expect(trials.map(({ job_id }) => job_id)).toEqual(['#trials#grace']);

  const kept = await fixture.jobs.get('bt-1');
  expect(kept).toMatchObject({ owner: ERASED, notes: '', tags: [], pinned: true, experiment_name: null });
  expect(kept!.shared_with).toEqual([{ principal: 'user:grace', level: 'read' }]);
  const { model, versions } = await fixture.store.read(MODEL, ['1']);
  expect([model?.owner, versions.get('1')?.created_by]).toEqual([ERASED, ERASED]);
  const catalog = await fixture.get('/api/v1/catalog/strategies');
  expect(catalog.body.items[0]).toMatchObject({ owner: ERASED, stage: 'Staging' });
  const history = await fixture.get(`/api/v1/models/${MODEL}/history`);
  expect(new Set(history.body.items.map(({ actor }: { actor: string }) => actor))).toEqual(new Set([ERASED]));
  expect((await fixture.jobs.get('bt-3'))?.shared_with).toEqual([{ principal: 'user:bob', level: 'read' }]);
});

test('files of signals are deleted, those of versions are given to the pseudonym, grants to the user end', async () => {
  const store = new DynamoSignalsStore(engine.client, deps.jobsTable);
  const fileOf = (signals_id: string, owner: string) => ({
    schema_version: 1 as const,
    signals_id,
    owner,
    name: 'mine.csv',
    format: 'csv' as const,
    bytes: 1,
    sha256: '0'.repeat(64),
    created_at: '2026-05-01T00:00:00.000Z',
    last_used_at: null,
  });
  for (const id of ['sg-1', 'sg-2']) await store.create(fileOf(id, SUBJECT));
  await store.create(fileOf('sg-3', 'grace'));
  await store.keep('sg-2', 'signals', new Date().toISOString());
  // The registration of the other one died before its version was stored.
  await store.keep('sg-1', 'signals', '2026-05-01T00:00:00.000Z');
  await store.sharing.share('sg-3', [], [{ principal: `user:${SUBJECT}`, level: 'read' }]);
  await objects.put('signals/sg-1', Buffer.from('x'), 'text/csv');
  expect(await erase(true)).toMatchObject({ signals: 2 });
  expect(await erase()).toMatchObject({ signals: 2 });
  expect(await store.find('sg-1')).toBe(undefined);
  expect(await objects.get('signals/sg-1')).toBe(undefined);
  expect(await store.find('sg-2')).toMatchObject({ owner: ERASED, name: null });
  expect((await store.sharing.find('sg-3'))?.shared_with).toEqual([]);
  expect(await erase(true)).toMatchObject({ signals: 0 });
});

test('webhooks of the user are deleted with their deliveries, those of others stay', async () => {
  const { client, jobsTable } = deps;
  const webhooks = new DynamoWebhookStore(client, jobsTable);
  const deliveries = new DynamoDeliveryStore(client, jobsTable, Date);
  const of = (webhook_id: string, owner: string) => ({ webhook_id, owner }) as StoredWebhook;
  await webhooks.create(of('wh-1', SUBJECT), 0);
  await webhooks.create(of('wh-2', 'grace'), 1);
  for (const id of ['wh-1', 'wh-2']) {
    await deliveries.add(
      newDelivery(sha256, id, testEvent('touchstone/local/1', id, '1', Date.now()), Date.now()),
    );
  }
  expect(await erase(true)).toMatchObject({ webhooks: 1 });
  expect(await erase()).toMatchObject({ webhooks: 1 });
  expect((await webhooks.list()).map(({ webhook_id }) => webhook_id)).toEqual(['wh-2']);
  expect(JSON.stringify(await everything())).not.toContain('wh-1');
  expect(await deliveries.pending('wh-2', 10)).toHaveLength(1);
});

test('audit trail keeps the ID, operation and resource of the user only', async () => {
  await erase();
  const calls = (await everything()).filter(({ pk = '' }) => pk.startsWith('AUDIT#'));
  const of = (principal: string) => calls.find((call) => call.principal === principal);
  expect(of(SUBJECT)).toMatchObject({
    operation: 'submitBacktest',
    resource: { id: 'bt-1' },
    at: AT,
    request: null,
    source_ip: null,
    user_agent: null,
    roles: [],
  });
  expect(of('grace')).toMatchObject({ source_ip: '10.0.0.1', user_agent: 'curl' });
});

test('second run finds nothing', async () => {
  await erase();
  expect(await erase(true)).toEqual({
    jobs: 0,
    evidence: 0,
    grants: 0,
    signals: 0,
    webhooks: 0,
    registry: 0,
    audit: 0,
    pseudonym: ERASED,
    unfinished: [],
  });
});

test('nothing is erased while a job of the user has not ended', async () => {
  await fixture.jobs.create(pendingJob('bt-9'));
  expect((await erase()).unfinished).toEqual(['bt-9']);
  expect(await fixture.jobs.get('bt-2')).toBeDefined();
});

test('nothing is erased while a cancelled job of the user holds its slot', async () => {
  const slot = { job_id: '#slots#backtest', item: '1', slot_job: 'bt-2', run: 1, owner: SUBJECT, since: 0 };
  await engine.client.send(new PutCommand({ TableName: fixture.jobsTable, Item: slot }));
  expect((await erase()).unfinished).toEqual(['bt-2']);
  expect(await fixture.jobs.get('bt-2')).toBeDefined();
});

test('run during which the user submits a job ends with an error', async () => {
  const client = new Proxy(engine.client, {
    get: (target, name) =>
      name !== 'send'
        ? Reflect.get(target, name)
        : async (command: any) => {
            if (/expired_at/.test(command.input.UpdateExpression))
              await fixture.jobs.create(pendingJob('bt-9'));
            return target.send(command);
          },
  });
  await expect(eraseUser({ ...deps, client }, SUBJECT, { dryRun: false })).rejects.toThrow(
    /still written: stop their requests/,
  );
});

test('run that dies is continued by the next one', async () => {
  for (let writes = 0; writes < 100; writes++) {
    let left = writes;
    const client = new Proxy(engine.client, {
      get: (target, name) =>
        name !== 'send'
          ? Reflect.get(target, name)
          : (command: any) => {
              if (/Update|Delete|Put/.test(command.constructor.name) && left-- === 0)
                throw new Error('killed');
              return target.send(command);
            },
    });
    const done = await eraseUser({ ...deps, client }, SUBJECT, { dryRun: false }).then(
      () => true,
      () => false,
    );
    if (done) break;
  }
  expect(await traces()).toEqual([]);
  expect(await fixture.jobs.get('bt-2')).toBeUndefined();
});

test('job that becomes evidence during the run stays', async () => {
  const results = {
    remove: () => Promise.reject(new Error('evidence must stay')),
  };
  const client = new Proxy(engine.client, {
    get: (target, name) =>
      name !== 'send'
        ? Reflect.get(target, name)
        : async (command: any) => {
            if (String(command.input.UpdateExpression).includes('expired_at')) {
              await fixture.jobs.setEvidence('bt-2', MODEL, AT);
            }
            return target.send(command);
          },
  });
  await eraseUser({ ...deps, client, results }, SUBJECT, { dryRun: false });
  expect((await fixture.jobs.get('bt-2'))?.owner).toBe(ERASED);
});

test('a name that equals the subject in another field stays', async () => {
  const Item = { pk: 'MODEL#other', sk: 'NOTE', model_name: SUBJECT, owner: SUBJECT };
  await engine.client.send(new PutCommand({ TableName: fixture.table, Item }));
  await erase();
  const kept = (await everything()).find(({ sk }) => sk === 'NOTE');
  expect(kept).toEqual({ ...Item, owner: ERASED });
});

test('messages of checks that the user waived or skipped have the pseudonym', async () => {
  const checks = (name: string) => [
    { message: `1 trade. Waived by ${name}: said by ${SUBJECT}` },
    { message: `Skipped by ${name}` },
    { message: 'Skipped by grace' },
  ];
  const Item = { pk: 'MODEL#other', sk: 'VERSION#000001', validation: { checks: checks(SUBJECT) } };
  await engine.client.send(new PutCommand({ TableName: fixture.table, Item }));
  await erase();
  const kept = (await everything()).find(({ pk }) => pk === 'MODEL#other');
  expect(kept).toEqual({ ...Item, validation: { checks: checks(ERASED) } });
});

test('nobody computes the pseudonym from the ID: each platform has a key of its own', async () => {
  const other = await registryFixture(engine);
  const elsewhere = await pseudonymOf({ client: engine.client, registryTable: other.table }, SUBJECT);
  expect(await pseudonymOf(deps, SUBJECT)).toBe(ERASED);
  expect(elsewhere).toMatch(/^erased-[0-9a-f]{16}$/);
  expect(new Set([ERASED, elsewhere, `erased-${sha256(SUBJECT).slice(0, 16)}`]).size).toBe(3);
});
