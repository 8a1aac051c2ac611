import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { localDataProxy, startBackend, startDataCollection } from '../../src/local/services.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, WITHOUT_JOBS } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

const authenticate = withoutIdentityProvider({ enforced: false });

const SYMBOLS = Array.from({ length: 500 }, (_, i) => `S${i}/USDT:USDT`);

const folder = mkdtempSync(join(tmpdir(), 'touchstone-scale-'));
let engine: TestEngine;
let data: Awaited<ReturnType<typeof startDataCollection>>;
let backend: Awaited<ReturnType<typeof startBackend>>;
let batches = 0;

beforeAll(async () => {
  engine = await startEngine();
  const storage = {
    DYNAMODB_ENDPOINT: engine.endpoint,
    OBJECTS_DIRECTORY: folder,
    JOBS_TABLE: engine.tables.jobs,
    SERIES_TABLE: engine.tables.series,
    RESULTS_BUCKET: 'results',
    CANDLES_BUCKET: 'candles',
  };
  const stores = openStores(storage);
  await record(stores);
  countBatches(stores.dynamo);
  const options = {
    port: 0,
    exchange: 'sim',
    checkResponses: true,
    authenticate,
    audit: memoryAudit().audit,
    cursorKey,
    log: memoryLog().log,
  };
  data = await startDataCollection(options, {
    ...stores,
    ...openMarketStores(storage, stores.dynamo),
    registry: { catalog: async function* () {} },
  });
  backend = await startBackend(options, {
    ...WITHOUT_JOBS,
    strategyServiceUrl: 'http://127.0.0.1:1',
    stores,
    registryTable: engine.tables.registry,
    databaseEndpoint: engine.endpoint,
    dataProxy: localDataProxy(data.url),
  });
});
afterAll(async () => {
  await backend.close();
  await data.stop();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  batches = 0;
});

async function record({ series }: Stores): Promise<void> {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000;
  const month = new Date(hour).toISOString().slice(0, 7);
  for (const symbol of SYMBOLS) {
    const held = { month, first: hour, last: hour, count: 1, gap_count: 0, gaps: [], longest_omitted_gap: 0 };
    await series.record({ exchange: 'sim', symbol, timeframe: '1h' }, [held], new Date().toISOString());
  }
}

function countBatches(client: DynamoDBDocumentClient): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'BatchGetItemCommand') batches++;
        return next(args);
      },
    { step: 'initialize', name: 'count' },
  );
}

const service = () => `${data.url}/api/v1/freshness`;
const gateway = () => `${backend.url}/api/v1/data/freshness`;

it.each([
  ['data collection', service, '&timeframe=1h'],
  ['data collection, the newest series of each', service, ''],
  ['the backend through the proxy', gateway, '&timeframe=1h'],
  ['the backend, the newest series of each', gateway, ''],
])('freshness of 500 symbols takes five BatchGet calls at %s', async (_, address, query) => {
  const response = await fetch(`${address()}?symbols=${SYMBOLS.join(',')}${query}`);
  expect(response.status).toBe(200);
  const { all_fresh, symbols } = (await response.json()) as { all_fresh: boolean; symbols: unknown[] };
  expect([all_fresh, symbols.length]).toEqual([true, 500]);
  expect(batches).toBe(5);
});
