import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { SimExchange } from '#adapters/exchange/sim.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { hasValidChecksum } from '#adapters/parquet/checksum.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { startEngine } from '../support/engine.ts';
import { type ExchangeServer, startExchangeServer } from '../support/exchange-server.ts';
import { pendingJob } from '../support/jobs.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

/** Collectors killed with SIGKILL during a collection, and the collections afterwards. */

const BTC = 'BTC/USDT:USDT';
const at = (text: string) => Date.parse(`${text}Z`);
const START = '2026-01-15T00:00:00.000Z';
const END = '2026-03-10T00:00:00.000Z';

let server: ExchangeServer;
let home: string;
beforeEach(async () => {
  server = await startExchangeServer();
  home = mkdtempSync(join(tmpdir(), 'touchstone-collections-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Resolves after a number of further requests for candle pages; `then` runs before the response. */
function afterPages(count: number, then: () => void): Promise<void> {
  return new Promise((resolve) => {
    let pages = 0;
    server.failing = ({ endpoint }) => {
      if (endpoint === 'klines' && ++pages === count) {
        then();
        server.failing = undefined;
        resolve();
      }
      return undefined;
    };
  });
}

/** Platform in a separate process; with `dies` it kills itself when it writes that file. */
async function startProcess(dies?: { at: 'half' | 'named'; file: string }) {
  const preload = ['--import', join(import.meta.dirname, 'fixtures/crash-at.ts')];
  const child = spawn(process.execPath, [...(dies ? preload : []), 'bin/local.ts'], {
    env: {
      TOUCHSTONE_HOME: home,
      BACKEND_PORT: '0',
      STRATEGY_PORT: '0',
      DATA_COLLECTION_PORT: '0',
      DEFAULT_EXCHANGE: 'binanceusdm',
      EXCHANGE_URL: server.url,
      EXCHANGE_INTERVAL_MS: '1',
      ...(dies && { CRASH_AT: dies.at, CRASH_AT_FILE: dies.file }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const dead = once(child, 'close');
  for await (const line of createInterface(child.stdout!)) {
    const url = /data collection +(http:\S+)\/docs/.exec(line)?.[1];
    if (url) return { child, url, dead };
  }
  throw new Error('The platform did not start');
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

const inProcess = () =>
  startTestPlatform({ home, exchange: 'binanceusdm', exchangeUrl: server.url, exchangeIntervalMs: 1 });

async function post(url: string, body: object, key: string): Promise<{ status: number; body: any }> {
  const response = await fetch(`${url}/api/v1/collections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

function ended(url: string, id: string): Promise<any> {
  const read = async () => (await fetch(`${url}/api/v1/collections/${id}`)).json();
  return poll(read, (body: any) => !['pending', 'running'].includes(body.status));
}

/** All Parquet files below a folder. */
function parquetFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .map((file) => join(folder, file));
}

async function expectStored(
  storage: TestPlatform['info']['storage'],
  key: SeriesKey,
  start: number,
  end: number,
) {
  const stores = openMarketStores(storage);
  const stored = await stores.candles.read(key, 0, Number.MAX_SAFE_INTEGER);
  expect(stored).toEqual(await new SimExchange().fetchCandles(key.symbol, key.timeframe, start, end));
  const info = (await stores.series.getMany(key.exchange, [key])).get(`${key.symbol}#${key.timeframe}`);
  expect(info).toMatchObject({ count: stored.timestamp.length, gap_count: 0 });
  stores.dynamo.destroy();
}

describe('killed collection service', () => {
  it('repeatedly killed service leaves complete files, and each start resumes', async () => {
    const request = { symbols: [BTC], timeframe: '5m', start: START, end: END };
    const january = 'timeframe=5m/2026-01.parquet';
    const ids = new Set<string>();
    /** Starts the platform, lets it die, and returns the months whose candles it fetched. */
    const live = async (die: (platform: Awaited<ReturnType<typeof startProcess>>) => void, dies?: any) => {
      server.requests.length = 0;
      const platform = await startProcess(dies);
      die(platform);
      // The process may die before it responds.
      const { body } = await post(platform.url, request, 'the-one').catch(() => ({ body: undefined }));
      if (body) ids.add(body.collection_id);
      await platform.dead;
      const asked = server.requests.filter(({ endpoint }) => endpoint === 'klines');
      return [...new Set(asked.map(({ start }) => new Date(start).toISOString().slice(0, 7)))];
    };
    const withoutKill = () => {};
    const files = () => {
      const all = parquetFiles(home).map((file) => ({ file, intact: hasValidChecksum(readFileSync(file)) }));
      // The funding rates of the whole range come first.
      return all
        .filter(({ file, intact }) => !intact || file.includes('timeframe='))
        .map(({ intact }) => intact);
    };

    expect(await live(withoutKill, { at: 'half', file: january })).toEqual(['2026-01']);
    expect(files()).toEqual([]);
    expect(await live(withoutKill, { at: 'named', file: january })).toEqual(['2026-01']);
    expect(files()).toEqual([true]);
    // The unrecorded file is complete and is not fetched again. February has 17 pages.
    expect(await live(({ child }) => afterPages(8, () => child.kill('SIGKILL')))).toEqual(['2026-02']);
    expect(files()).toEqual([true]);

    server.requests.length = 0;
    const platform = await inProcess();
    expect(ids.size).toBe(1);
    const collection = await ended(platform.info.data_collection_url, [...ids][0]!);
    expect(collection).toMatchObject({ status: 'completed', progress: 1, error: null });
    const asked = server.requests.filter((request) => request.endpoint === 'klines');
    expect(Math.min(...asked.map((request) => request.start))).toBeGreaterThanOrEqual(at('2026-02-01'));
    const key = { exchange: 'binanceusdm', symbol: BTC, timeframe: '5m' } as const;
    await expectStored(platform.info.storage, key, Date.parse(START), Date.parse(END));
    await platform.stop();
  });

  it('service killed under load loses no accepted collection', async () => {
    const requests = Array.from({ length: 12 }, (_, i) => ({
      symbols: [BTC, 'ETH/USDT:USDT'],
      timeframe: '1d',
      start: `2025-${String(i + 1).padStart(2, '0')}-01`,
      end: `2025-${String(i + 1).padStart(2, '0')}-28`,
    }));
    const { child, url, dead } = await startProcess();
    afterPages(3, () => child.kill('SIGKILL'));
    const responses = await Promise.allSettled(requests.map((body, i) => post(url, body, `k-${i}`)));
    await dead;
    const accepted = responses.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(accepted.length).toBeGreaterThan(0);

    const platform = await inProcess();
    const service = platform.info.data_collection_url;
    for (const { status, body } of accepted) {
      expect(status).toBe(201);
      expect(await ended(service, body.collection_id)).toMatchObject({ status: 'completed', error: null });
    }
    // Clients without a response repeat the request with the same key.
    for (const [i, body] of requests.entries()) {
      const again = await post(service, body, `k-${i}`);
      expect(await ended(service, again.body.collection_id)).toMatchObject({ status: 'completed' });
    }
    const stores = openMarketStores(platform.info.storage);
    const [info] = await stores.series.list('binanceusdm');
    expect(info).toMatchObject({ symbol: BTC, count: 12 * 27 });
    stores.dynamo.destroy();
    await platform.stop();
  });
});

describe('killed collection task', () => {
  it('killed task leaves complete months, and the next one resumes', async () => {
    const engine = await startEngine();
    const jobs = new DynamoJobStore(engine.client, engine.tables.jobs);
    const { execution_input } = pendingJob('bt-1');
    const input = { ...execution_input, timeframe: '1m', exchange: 'binanceusdm', start: START, end: END };
    await jobs.create(pendingJob('bt-1', { execution_input: input }));
    const environment = {
      DYNAMODB_ENDPOINT: engine.endpoint,
      OBJECTS_DIRECTORY: home,
      CANDLES_BUCKET: 'candles',
      RESULTS_BUCKET: 'results',
      JOBS_TABLE: engine.tables.jobs,
      SERIES_TABLE: engine.tables.series,
      EXCHANGE_URL: server.url,
      EXCHANGE_INTERVAL_MS: '1',
      JOB_ID: 'bt-1',
    };
    const start = () =>
      spawn(process.execPath, ['src/tasks/collect.ts'], { env: environment, stdio: 'ignore' });
    const first = start();
    await afterPages(60, () => first.kill('SIGKILL'));
    await killed(first);
    expect((await jobs.get('bt-1'))!.collection).toBeNull();
    const key = { exchange: 'binanceusdm', symbol: BTC, timeframe: '1m' } as const;
    await expectStored(environment, key, Date.parse(START), at('2026-02-01'));

    server.requests.length = 0;
    const [code] = await once(start(), 'close');
    expect(code).toBe(0);
    const collected = (28 + 9) * 1440;
    expect((await jobs.get('bt-1'))!.collection).toMatchObject({
      status: 'completed',
      message: `${collected} candles stored`,
    });
    await expectStored(environment, key, Date.parse(START), Date.parse(END));
    const asked = server.requests.filter((request) => request.endpoint === 'klines');
    expect(Math.min(...asked.map((request) => request.start))).toBe(at('2026-02-01'));
    await engine.stop();
  });
});
