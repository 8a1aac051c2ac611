import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { MisbehavingStrategies } from '../support/strategies.ts';

/** Crashes, hangs and forged results, and the state of the jobs afterwards. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const config = (strategy: string) => ({ strategy, date_range: RANGE });

describe('task failures', () => {
  const strategies = new MisbehavingStrategies();
  let platform: TestPlatform;
  beforeAll(async () => {
    strategies.add('overwrites', 'arguments[0].close[3] += 1;');
    strategies.add('hoards', `const hoard = []; for (;;) hoard.push(new Array(100_000).fill(hoard.length));`);
    platform = await startTestPlatform({
      strategiesDirectory: strategies.folder,
      taskMemoryMb: 96,
      concurrency: 2,
    });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(strategies.folder, { recursive: true });
  });

  it('task fails when its strategy writes into its candles', async () => {
    const job = await platform.run(config('overwrites'));
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(job.error).toContain('wrote into the candles');
  });

  it('task out of memory fails at the first attempt with that reason', async () => {
    const job = await platform.run(config('hoards'));
    expect(job).toMatchObject({ status: 'failed', attempt: 1 });
    expect(job.error).toMatch(/memory/);
  });
});

describe('data failures', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.stop());

  it('job fails with DATA001 for a range in the future', async () => {
    const job = await platform.run({
      strategy: 'buy_and_hold',
      date_range: { start: '2090-01-01', end: '2090-02-01' },
    });
    expect(job.status).toBe('failed');
    expect(['DATA001', 'DATA003']).toContain(job.error_code);
  });
});

describe('platform failures', () => {
  const strategies = new MisbehavingStrategies();
  const home = mkdtempSync(join(tmpdir(), 'touchstone-killed-'));
  afterAll(() => {
    rmSync(home, { recursive: true, force: true });
    rmSync(strategies.folder, { recursive: true });
  });

  it('platform reports the loss of its database, and its jobs finish after the next start', async () => {
    strategies.addGated('bereft');
    const first = await startTestPlatform({ home, strategiesDirectory: strategies.folder });
    const { body } = await first.post('/api/v1/backtests', { config: config('bereft') });
    await poll(() => strategies.begun('bereft', home).length > 0, Boolean, 'task begun');
    const failed = expect(first.failed).rejects.toThrow(/database/);
    process.kill(first.databasePid(), 'SIGKILL');
    await failed;
    const rejected = await first.get(`/api/v1/backtests/${body.job_id}`);
    expect([rejected.status, rejected.body.detail.code]).toEqual([503, 'DATA005']);
    strategies.open('bereft');
    await first.stop();

    const second = await startTestPlatform({ home, strategiesDirectory: strategies.folder });
    expect(await second.until(body.job_id, ...TERMINAL)).toMatchObject({ status: 'completed' });
    await second.stop();
  });
});
