import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DescribeTableCommand, ListTablesCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { COPY_PREFIX, openDataFolder } from '#adapters/local/data-folder.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { LAYOUT_VERSION, TABLES } from '#contract/values/tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-local-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const NAMES = { jobs: 'jobs', registry: 'registry', series: 'series' };

/** Starts a fixture and reads the first line it prints. */
async function run(fixture: string, argument: string): Promise<{ child: ChildProcess; line: string }> {
  const path = join(import.meta.dirname, 'fixtures', fixture);
  const child = spawn(process.execPath, [path, argument], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout!), 'line');
  return { child, line };
}

function connectTo(endpoint: string) {
  const { hostname, port } = new URL(endpoint);
  return connect(Number(port), hostname);
}

test('database ends with a killed parent process and keeps its data', async () => {
  const dbPath = join(folder, 'killed.sqlite');
  const { child, line: endpoint } = await run('hold-database.ts', dbPath);
  const client = createDocumentClient({ endpoint });
  await createTables(client, NAMES);
  client.destroy();
  const connection = connectTo(endpoint);
  await once(connection, 'connect');
  const gone = new Promise((resolve) =>
    connection
      .on('close', resolve)
      .on('error', () => {})
      .resume(),
  );
  child.kill('SIGKILL');
  await gone;

  const next = await startDatabase({ dbPath });
  const reader = createDocumentClient({ endpoint: next.endpoint });
  expect((await reader.send(new ListTablesCommand({}))).TableNames?.sort()).toEqual(
    Object.values(NAMES).sort(),
  );
  await next.stop();
});

test('databases run on different ports, and a stopped one closes its port', async () => {
  const [a, b] = await Promise.all([
    startDatabase({ dbPath: join(folder, 'a.sqlite') }),
    startDatabase({ dbPath: join(folder, 'b.sqlite') }),
  ]);
  expect(a.endpoint).not.toBe(b.endpoint);
  await a.stop();
  const [error] = await once(connectTo(a.endpoint), 'error');
  expect(error.code).toBe('ECONNREFUSED');
  await b.stop();
});

test.runIf(process.platform === 'linux')(
  'database listens where no web page finds it: on no host that is tried',
  async () => {
    const databases = await Promise.all(
      ['x', 'y', 'z'].map((name) => startDatabase({ dbPath: join(folder, `${name}.sqlite`) })),
    );
    const hosts = databases.map(({ endpoint }) => new URL(endpoint).hostname);
    expect(new Set(hosts).size).toBe(3);
    for (const { endpoint } of databases) {
      const { hostname, port } = new URL(endpoint);
      expect(hostname).toMatch(/^127\.(?!0\.)/);
      const [error] = await once(connectTo(`http://127.0.0.1:${port}`), 'error');
      expect(error.code).toBe('ECONNREFUSED');
    }
    await Promise.all(databases.map((database) => database.stop()));
  },
);

test('a new database is for its owner only, in whatever folder', async () => {
  const dbPath = join(folder, 'private.sqlite');
  const database = await startDatabase({ dbPath });
  const client = createDocumentClient({ endpoint: database.endpoint });
  await createTables(client, NAMES);
  const files = readdirSync(folder).filter((name) => name.startsWith('private.sqlite'));
  expect(files.length).toBeGreaterThan(1);
  for (const name of files) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
  client.destroy();
  await database.stop();
});

test('database reports its crash', async () => {
  const database = await startDatabase({ dbPath: join(folder, 'dies.sqlite') });
  const pid = await pidListeningOn(new URL(database.endpoint));
  process.kill(pid, 'SIGKILL');
  expect(await database.lost).toBe('The embedded database ended with SIGKILL');
  await database.stop();
});

test('startup error states why the database cannot start', async () => {
  const broken = join(folder, 'broken.sqlite');
  writeFileSync(broken, 'this is no database'.repeat(100));
  await expect(startDatabase({ dbPath: broken })).rejects.toThrow(
    /did not start: .*not a valid SQLite database/,
  );
});

test('startup error lists alternatives when no database engine is installed', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...platform, value: 'plan9' });
  try {
    await expect(startDatabase({ dbPath: join(folder, 'unused') })).rejects.toThrow(
      /@dynoxide\/plan9-.* is not installed.*DYNAMODB_ENDPOINT/,
    );
  } finally {
    Object.defineProperty(process, 'platform', platform);
  }
});

test('startDatabase uses a given endpoint unchanged', async () => {
  const database = await startDatabase({ endpoint: 'http://127.0.0.1:9', dbPath: join(folder, 'unused') });
  expect(database.endpoint).toBe('http://127.0.0.1:9');
  await database.stop();
});

test('createTables creates tables once, adds missing indexes and rejects tables of another version', async () => {
  const database = await startDatabase({ dbPath: join(folder, 'tables.sqlite') });
  const client = createDocumentClient({ endpoint: database.endpoint });
  await createTables(client, NAMES);
  await createTables(client, NAMES);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'jobs' }));
  expect(Table?.GlobalSecondaryIndexes?.map((index) => index.IndexName).sort()).toEqual(
    TABLES.jobs.indexes.map((index) => index.name).sort(),
  );
  const remove = { Delete: { IndexName: 'challenges' } };
  await client.send(new UpdateTableCommand({ TableName: 'registry', GlobalSecondaryIndexUpdates: [remove] }));
  const challenge = { pk: 'CHALLENGE#ch-1', sk: 'META', analysis_unit: 'trade', created_at: '2026-01-01' };
  await client.send(new PutCommand({ TableName: 'registry', Item: challenge }));
  await createTables(client, NAMES);
  const { Items } = await client.send(
    new QueryCommand({
      TableName: 'registry',
      IndexName: 'challenges',
      KeyConditionExpression: 'analysis_unit = :unit',
      ExpressionAttributeValues: { ':unit': 'trade' },
    }),
  );
  expect(Items).toEqual([challenge]);
  const KeySchema = [{ AttributeName: 'sk', KeyType: 'HASH' as const }];
  const Create = { IndexName: 'unknown', KeySchema, Projection: { ProjectionType: 'KEYS_ONLY' as const } };
  await client.send(
    new UpdateTableCommand({
      TableName: 'registry',
      AttributeDefinitions: [{ AttributeName: 'sk', AttributeType: 'S' }],
      GlobalSecondaryIndexUpdates: [{ Create }],
    }),
  );
  await expect(createTables(client, NAMES)).rejects.toThrow('made by another version');
  await database.stop();
});

test('data folder serves one platform at a time and is free after a kill', async () => {
  const path = join(folder, 'home');
  const first = await run('hold-data-folder.ts', path);
  expect(first.line).toBe(`holds ${first.child.pid}`);
  const second = await run('hold-data-folder.ts', path);
  expect(second.line).toContain(`is in use by process ${first.child.pid}`);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const third = openDataFolder(path);
  expect(third.objectsPath).toBe(join(path, 'objects'));
  expect(() => openDataFolder(path)).toThrow(`in use by process ${process.pid}`);
  third.release();
  openDataFolder(path).release();
});

test('openDataFolder removes the copies that a killed ci left, and none of a running one', async () => {
  const path = join(folder, 'copied');
  const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(dead, 'exit');
  const copies = [dead.pid, process.pid].map((pid) => `${COPY_PREFIX}${pid}-abc`);
  for (const name of copies) mkdirSync(join(path, name, 'data'), { recursive: true });
  openDataFolder(path).release();
  expect(copies.map((name) => existsSync(join(path, name)))).toEqual([false, true]);
});

test('openDataFolder creates the folders above it too, without access for other accounts', () => {
  const path = join(folder, 'above', 'it', 'home');
  openDataFolder(path).release();
  for (const each of ['above', 'above/it', 'above/it/home']) {
    expect(statSync(join(folder, each)).mode & 0o777).toBe(0o700);
  }
});

test('each data folder has a name of its own, which it keeps', () => {
  const idOf = (name: string) => {
    const opened = openDataFolder(join(folder, name));
    opened.release();
    return opened.id;
  };
  expect(idOf('named')).toMatch(/^[0-9a-f]{16}$/);
  expect(idOf('named')).toBe(idOf('named'));
  expect(idOf('named')).not.toBe(idOf('other'));
});

test('copy of a data folder gets a name of its own, also in the place of the folder', () => {
  const path = join(folder, 'copied');
  const idOf = (name: string) => {
    const opened = openDataFolder(join(folder, name));
    opened.release();
    return opened.id;
  };
  const id = idOf('copied');
  cpSync(path, join(folder, 'copy'), { recursive: true });
  const copy = idOf('copy');
  expect(copy).not.toBe(id);
  expect(idOf('copy')).toBe(copy);
  expect(idOf('copied')).toBe(id);
  cpSync(path, join(folder, 'backup'), { recursive: true });
  rmSync(path, { recursive: true });
  renameSync(join(folder, 'backup'), path);
  const restored = idOf('copied');
  expect([id, copy]).not.toContain(restored);
  renameSync(path, join(folder, 'moved'));
  expect(idOf('moved')).toBe(restored);
});

test('data folder of an earlier version keeps its name', () => {
  const path = join(folder, 'named-before');
  openDataFolder(path).release();
  writeFileSync(join(path, 'platform-id'), '3f1c8a5be0d94c27\n');
  for (const _ of [1, 2]) {
    const opened = openDataFolder(path);
    opened.release();
    expect(opened.id).toBe('3f1c8a5be0d94c27');
  }
});

test('openDataFolder rejects another layout version with instructions and changes nothing', () => {
  const path = join(folder, 'old-layout');
  openDataFolder(path).release();
  writeFileSync(join(path, 'database.sqlite'), '');
  openDataFolder(path).release();
  const version = join(path, 'layout-version');
  for (const [found, write] of [
    ['999', () => writeFileSync(version, '999\n')],
    ['1', () => rmSync(version)],
  ] as const) {
    write();
    for (const _ of [1, 2]) {
      expect(() => openDataFolder(path)).toThrow(
        `The data folder ${path} was created by another version of Touchstone (layout ${found}, this version uses ${LAYOUT_VERSION}). Move or delete the folder`,
      );
    }
  }
});

test('openDataFolder rejects an unwritable folder with instructions', () => {
  const path = join(folder, 'read-only');
  openDataFolder(path).release();
  // Simulates a read-only disk, also for root: SQLite only reads files of a later write version (file format, 1.3.3).
  const lock = join(path, 'platform.lock');
  const content = readFileSync(lock);
  content[18] = 3;
  writeFileSync(lock, content);
  expect(() => openDataFolder(path)).toThrow(
    `The data folder ${path} cannot be written to: attempt to write a readonly database. Make it writable`,
  );
});

/** PID of the process that listens on a loopback port, from /proc. */
async function pidListeningOn({ hostname, port }: URL): Promise<number> {
  const { readFileSync, readdirSync, readlinkSync } = await import('node:fs');
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  const host = hostname
    .split('.')
    .reverse()
    .map((byte) => hex(Number(byte), 2))
    .join('');
  const local = `${host}:${hex(Number(port), 4)}`;
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((each) => each.split(/\s+/)[2] === local);
  const socket = `socket:[${line!.trim().split(/\s+/)[9]}]`;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === socket)) {
        return Number(pid);
      }
    } catch {
      // The process has ended or belongs to another user.
    }
  }
  throw new Error(`Nobody listens on ${port}`);
}
