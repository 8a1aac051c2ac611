import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { CodedError } from '#contract/values/errors.ts';
import { collectForJob } from '#domain/data/collect-for-job.ts';
import { getDataFreshness } from '#domain/data/get-data-freshness.ts';
import type { JobStore } from '#domain/ports.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { pendingJob } from '../../support/jobs.ts';
import { allFresh, BTC, DAY, ETH, exchangesOf, type Market, openMarket, TestExchange } from './market.ts';

const engine = fileEngine();

function job(jobId: string, input: object) {
  const base = pendingJob(jobId);
  return {
    ...base,
    execution_input: { ...base.execution_input, timeframe: '1h', ...input },
  };
}

describe('collectForJob', () => {
  let market: Market;
  let exchange: TestExchange;
  let jobs: JobStore;
  const errors: unknown[] = [];
  beforeEach(async () => {
    market = await openMarket(engine);
    exchange = new TestExchange();
    jobs = new DynamoJobStore(engine.client, (await engine.freshTables()).jobs);
    errors.length = 0;
    return () => market.stop();
  });
  const run = (jobId = 'bt-1') =>
    collectForJob(
      { ...market, jobs, exchanges: exchangesOf(exchange), onError: (error) => errors.push(error) },
      jobId,
    );
  const outcome = async (jobId = 'bt-1') => (await jobs.get(jobId))!.collection;
  const input = {
    exchange: 'test',
    symbols: [BTC, ETH],
    start: '2024-01-31T12:00:00.000Z',
    end: '2024-02-02T00:00:00.000Z',
  };

  it('collectForJob collects from the input start and records the outcome', async () => {
    await jobs.create(job('bt-1', input));
    expect(await run()).toBe('72 candles stored');
    expect(exchange.asked()).toEqual([
      `${BTC} 2024-01-31T12:00 2024-02-02T00:00`,
      `${ETH} 2024-01-31T12:00 2024-02-02T00:00`,
    ]);
    expect(await outcome()).toEqual({
      status: 'completed',
      message: '72 candles stored',
      at: '2024-06-01T00:00:00.000Z',
    });
    expect(
      await getDataFreshness(
        { ...market, defaultExchange: 'test' },
        { stale_threshold_hours: 24, ...input, timeframe: '1h' },
      ),
    ).toMatchObject({ all_fresh: true });
  });

  it('collectForJob also collects the detail timeframe', async () => {
    await jobs.create(job('bt-1', { ...input, symbols: [BTC], timeframe: '1h,5m' }));
    await run();
    expect(exchange.asked()).toEqual([
      `${BTC} 2024-01-31T12:00 2024-02-02T00:00`,
      `${BTC} 2024-01-31T12:00 2024-02-01T00:00`,
      `${BTC} 2024-02-01T00:00 2024-02-02T00:00`,
    ]);
    const query = { ...input, symbols: [BTC], timeframe: '1h,5m' };
    expect(await allFresh(market, query)).toBe(true);
  });

  it('collectForJob records a failed outcome for symbol, exchange, storage and unhandled errors', async () => {
    await jobs.create(job('bt-1', input));
    exchange.before = () => {
      throw new CodedError('DATA004', { message: 'rate limit' });
    };
    await run();
    expect(await outcome()).toMatchObject({
      status: 'failed',
      message: `2 of 2 series failed: ${BTC} 1h, ${ETH} 1h: DATA004 rate limit. 0 candles stored.`,
    });
    await jobs.create(job('bt-2', { ...input, exchange: 'mtgox' }));
    await run('bt-2');
    expect(await outcome('bt-2')).toMatchObject({
      status: 'failed',
      message: 'VAL005 Unknown exchange "mtgox"',
      unlisted: [BTC, ETH],
    });
    exchange.before = () => {
      throw new CodedError('DATA005');
    };
    await run();
    expect((await outcome())!.message).toBe('DATA005 Data storage unavailable');
    expect(errors).toEqual([]);
    exchange.before = () => {
      throw new Error('api_key=1234');
    };
    await run();
    expect((await outcome())!.message).toBe('SVC001 Internal server error');
    expect(errors).toHaveLength(1);
  });

  it('collectForJob returns null for an unknown job', async () => {
    expect(await run('bt-0')).toBeNull();
  });

  it('collectForJob rejects when it cannot record the outcome', async () => {
    await jobs.create(job('bt-1', input));
    jobs.setCollection = () => Promise.reject(new CodedError('DATA005'));
    await expect(run()).rejects.toMatchObject({ code: 'DATA005' });
  });
});

describe('collect task', () => {
  let environment: Record<string, string>;
  let objects: string;
  let jobs: JobStore;
  beforeEach(async () => {
    objects = await mkdtemp(join(tmpdir(), 'touchstone-collect-'));
    const tables = await engine.freshTables();
    jobs = new DynamoJobStore(engine.client, tables.jobs);
    environment = {
      PATH: process.env.PATH!,
      DYNAMODB_ENDPOINT: engine.endpoint,
      OBJECTS_DIRECTORY: objects,
      CANDLES_BUCKET: 'candles',
      JOBS_TABLE: tables.jobs,
      SERIES_TABLE: tables.series,
    };
    return () => rm(objects, { recursive: true, force: true });
  });

  async function runTask(jobId: string, changes: Record<string, string> = {}): Promise<number | null> {
    const entry = new URL('../../../src/tasks/collect.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [entry], {
      env: { ...environment, JOB_ID: jobId, ...changes },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const [code] = await once(child, 'close');
    return code as number | null;
  }

  it('collect task collects from sim and exits with 0; a second run adds no candles', async () => {
    const end = Math.floor(Date.now() / DAY) * DAY;
    const range = { start: new Date(end - 3 * DAY).toISOString(), end: new Date(end).toISOString() };
    await jobs.create(job('bt-1', { symbols: [BTC, ETH], ...range }));
    expect(await runTask('bt-1')).toBe(0);
    expect((await jobs.get('bt-1'))!.collection).toMatchObject({
      status: 'completed',
      message: '144 candles stored',
    });
    const stores = openMarketStores(environment as never);
    const query = { exchange: 'sim', symbols: [BTC, ETH], timeframe: '1h' };
    expect(
      await getDataFreshness(
        { ...stores, clock: Date, defaultExchange: 'sim' },
        { stale_threshold_hours: 24, ...query, ...range },
      ),
    ).toMatchObject({
      all_fresh: true,
    });
    expect((await stores.candles.readFunding('sim', BTC, 0, end)).timestamp).toHaveLength(10);
    stores.dynamo.destroy();
    expect(await runTask('bt-1')).toBe(0);
    expect((await jobs.get('bt-1'))!.collection!.message).toBe('0 candles stored');
  });

  it('collect task exits with 0 after recording a failure and with 1 otherwise', async () => {
    await jobs.create(job('bt-1', { symbols: ['NONE/USDT:USDT'] }));
    expect(await runTask('bt-1')).toBe(0);
    expect((await jobs.get('bt-1'))!.collection).toMatchObject({ status: 'failed' });
    expect(await runTask('bt-1', { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' })).toBe(1);
    expect(await runTask('')).toBe(1);
  });
});
