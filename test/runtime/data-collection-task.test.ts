import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';

let engine: TestEngine;
let folder: string;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), 'touchstone-data-'));
  const entry = new URL('../../src/tasks/data-collection.ts', import.meta.url).pathname;
  child = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH!,
      PORT: '0',
      DEFAULT_EXCHANGE: 'sim',
      ENVIRONMENT: 'production',
      DATA_COLLECTION_IDP_USER_POOL_ID: 'us-east-1_abc',
      DATA_COLLECTION_IDP_CLIENT_ID: 'client',
      SERVICE_TOKEN: 'a-secret-of-the-platform',
      SERVICE_TOKEN_2: 'the-next-secret-of-the-platform',
      DYNAMODB_ENDPOINT: engine.endpoint,
      OBJECTS_DIRECTORY: folder,
      CANDLES_BUCKET: 'candles',
      SERIES_TABLE: engine.tables.series,
      JOBS_TABLE: engine.tables.jobs,
      REGISTRY_TABLE: engine.tables.registry,
    },
  });
  for await (const line of createInterface(child.stdout!)) {
    const { message, port } = JSON.parse(line) as { message: string; port?: number };
    if (message !== 'listening') continue;
    url = `http://127.0.0.1:${port}`;
    break;
  }
  child.stdout!.resume();
});
afterAll(async () => {
  child.kill('SIGKILL');
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

it('container serves, collects from sim and exits with 0 on SIGTERM', async () => {
  const health = await fetch(`${url}/api/v1/health`);
  expect(await health.json()).toMatchObject({ status: 'healthy', service: 'data-collection' });
  expect((await fetch(`${url}/api/v1/symbols`)).status).toBe(401);

  // While the data proxy changes from one token to the other.
  const second = { Authorization: 'Bearer the-next-secret-of-the-platform' };
  expect((await fetch(`${url}/api/v1/symbols`, { headers: second })).status).toBe(200);
  const headers = { Authorization: 'Bearer a-secret-of-the-platform', 'Content-Type': 'application/json' };
  const symbols = ['BTC/USDT:USDT'];
  const body = JSON.stringify({ symbols, timeframe: '1h', start: '2024-01-01', end: '2024-01-08' });
  const started = await fetch(`${url}/api/v1/collections`, { method: 'POST', headers, body });
  let collection = (await started.json()) as { collection_id: string; status: string };
  while (collection.status === 'pending' || collection.status === 'running') {
    const reply = await fetch(`${url}/api/v1/collections/${collection.collection_id}`, { headers });
    collection = (await reply.json()) as typeof collection;
  }
  expect(collection).toMatchObject({ status: 'completed', candles: 168, error: null });
  const listed = await fetch(`${url}/api/v1/symbols`, { headers });
  expect(await listed.json()).toEqual({ exchange: 'sim', symbols, count: 1 });

  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
