import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { upgradeItem } from '#adapters/dynamo/upgrade-items.ts';
import { openDataFolder } from '#adapters/local/data-folder.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { LAYOUT_VERSION, TABLES, type TableId } from '#contract/values/tables.ts';
import { type Platform, startPlatform } from '../../src/local/platform.ts';
import { LOCAL_TABLES } from '../../src/local/platform-info.ts';
import { upgradeDataFolder } from '../../src/local/upgrade-data-folder.ts';
import { memoryLog } from '../support/backend.ts';

/**
 * Every item of a platform of layout 2, the oldest that is upgraded: two backtests, a hyperopt job, two versions with their
 * validations, a challenge, and the audit trail of the calls that made them.
 */
const OLDEST = JSON.parse(
  readFileSync(new URL('fixtures/layout-2.json', import.meta.url), 'utf8'),
  (_, value) => (value?.$bytes ? new Uint8Array(Buffer.from(value.$bytes, 'base64')) : value),
) as Record<TableId, Record<string, any>[]>;

const root = mkdtempSync(join(tmpdir(), 'touchstone-upgrade-'));
/** A data folder of layout 2, copied for each test. */
const template = join(root, 'layout-2');
let home: string;
let count = 0;

beforeAll(async () => {
  openDataFolder(template).release();
  const database = await startDatabase({ dbPath: join(template, 'database.sqlite') });
  const client = createDocumentClient({ endpoint: database.endpoint });
  for (const id of Object.keys(TABLES) as TableId[]) {
    const { partitionKey, sortKey } = TABLES[id];
    // Indexes play no part in an upgrade.
    await client.send(
      new CreateTableCommand({
        TableName: LOCAL_TABLES[id],
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [partitionKey, sortKey].map(({ name, type }) => ({
          AttributeName: name,
          AttributeType: type,
        })),
        KeySchema: [
          { AttributeName: partitionKey.name, KeyType: 'HASH' },
          { AttributeName: sortKey.name, KeyType: 'RANGE' },
        ],
      }),
    );
    for (const Item of OLDEST[id]) await client.send(new PutCommand({ TableName: LOCAL_TABLES[id], Item }));
  }
  client.destroy();
  await database.stop();
  writeFileSync(join(template, 'layout-version'), '2\n');
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  home = join(root, String(count++));
  cpSync(template, home, { recursive: true });
});

const layoutOf = (path: string) => readFileSync(join(path, 'layout-version'), 'utf8').trim();

async function upgrade(): Promise<void> {
  const folder = openDataFolder(home);
  try {
    if (folder.layout < LAYOUT_VERSION) await upgradeDataFolder(folder, memoryLog().log);
  } finally {
    folder.release();
  }
}

async function jobs(file = 'database.sqlite'): Promise<Record<string, any>[]> {
  const database = await startDatabase({ dbPath: join(home, file) });
  const client = createDocumentClient({ endpoint: database.endpoint });
  try {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: LOCAL_TABLES.jobs }));
    return Items;
  } finally {
    client.destroy();
    await database.stop();
  }
}

describe('platform on a data folder of the oldest layout', () => {
  let platform: Platform;
  const get = async (path: string, service: 'backend_url' | 'strategy_service_url' = 'backend_url') => {
    const response = await fetch(`${platform.info[service].replace(/\/$/, '')}${path}`);
    return { status: response.status, body: (await response.json()) as any };
  };
  const idOf = (kind: string, status: string) =>
    OLDEST.jobs.find((job) => job.kind === kind && job.status === status)!.job_id;

  beforeAll(async () => {
    const path = join(root, 'platform');
    cpSync(template, path, { recursive: true });
    const ports = { backend: 0, strategy: 0, dataCollection: 0 };
    platform = await startPlatform({ home: path, ports, checkResponses: true });
    expect(layoutOf(path)).toBe(String(LAYOUT_VERSION));
  });
  afterAll(() => platform?.stop());

  test('lists and returns its jobs', async () => {
    const { items } = (await get('/api/v1/backtests')).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(['failed', 'completed']);
    const completed = await get('/api/v1/backtests?status=completed');
    expect(completed.body.items).toHaveLength(1);
    const { body } = await get(`/api/v1/backtests/${idOf('backtest', 'completed')}`);
    const old = OLDEST.jobs.find(({ job_id, item }) => job_id === body.job_id && item === 'JOB')!;
    expect(body).toMatchObject({ status: 'completed', result: old.result, created_at: old.created_at });
  });

  test('returns hyperopt jobs and their trials', async () => {
    const id = idOf('hyperopt', 'completed');
    expect((await get('/api/v1/hyperopt', 'strategy_service_url')).body.items).toHaveLength(1);
    const trials = await get(`/api/v1/hyperopt/${id}/trials`, 'strategy_service_url');
    expect(trials.body.items).toHaveLength(3);
    expect((await get(`/api/v1/hyperopt/${id}/result`, 'strategy_service_url')).status).toBe(200);
  });

  test('returns versions, history and challenge of the model', async () => {
    const { versions } = (await get('/api/v1/models/ema_crossover/versions')).body;
    expect(versions.map(({ stage }: { stage: string }) => stage).sort()).toEqual(['Production', 'Staging']);
    expect((await get('/api/v1/models/ema_crossover/history')).body.items).toHaveLength(7);
    const challenges = await get('/api/v1/models/ema_crossover/challenges', 'strategy_service_url');
    expect(challenges.body.items).toHaveLength(1);
  });

  test('returns the audit trail with the outcome of each call', async () => {
    const calls = OLDEST.registry.filter(({ pk, sk }) => pk.startsWith('AUDIT#') && !sk.endsWith('#OUTCOME'));
    const day = calls[0]!.at.slice(0, 10);
    const { items } = (await get(`/api/v1/audit?day=${day}&limit=100`)).body;
    expect(items).toHaveLength(calls.length);
    expect(new Set(items.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(['succeeded']));
  });
});

describe('upgrade of a data folder', () => {
  test('keeps the old database as a backup', async () => {
    await upgrade();
    expect(await jobs('database-layout-2.sqlite')).toHaveLength(OLDEST.jobs.length);
    expect(await jobs()).toHaveLength(OLDEST.jobs.length);
  });

  test('that died before the databases were exchanged begins again', async () => {
    writeFileSync(join(home, 'database-new.sqlite'), 'torn');
    await upgrade();
    expect(layoutOf(home)).toBe(String(LAYOUT_VERSION));
    expect(await jobs()).toHaveLength(OLDEST.jobs.length);
  });

  test.each(['rename', 'version'] as const)('that died before the last %s is finished', async (step) => {
    await upgrade();
    writeFileSync(join(home, 'layout-version'), '2\n');
    const [database, copy] = [join(home, 'database.sqlite'), join(home, 'database-new.sqlite')];
    if (step === 'rename') renameSync(database, copy);
    await upgrade();
    expect(layoutOf(home)).toBe(String(LAYOUT_VERSION));
    expect(existsSync(copy)).toBe(false);
    expect((await jobs()).find(({ item }) => item === 'JOB')).toHaveProperty('list');
  });
});

test('job that has not ended is failed with instructions', () => {
  const [job] = OLDEST.jobs.filter(({ kind }) => kind === 'backtest');
  const pending = { ...job!, status: 'pending', kind_status: 'backtest#pending' };
  const upgraded = upgradeItem(2, 'jobs', pending);
  expect(upgraded).toMatchObject({ status: 'failed', error: expect.stringMatching(/Submit it again/) });
  expect(upgraded.list_status).toMatch(/^backtest#\d#failed$/);
});
