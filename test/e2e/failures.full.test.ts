import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { MisbehavingStrategies } from '../support/strategies.ts';
import { config, RANGE, taskFailuresFixture } from './failures-fixture.ts';

/** Crashes, hangs and forged results, and the state of the jobs afterwards. */

describe('task failures', () => {
  const fixture = taskFailuresFixture((strategies) => {
    strategies.add('overwrites', 'arguments[0].close[3] += 1;');
    strategies.addGated('queued');
    strategies.add('hoards', `const hoard = []; for (;;) hoard.push(new Array(100_000).fill(hoard.length));`);
  });
  const { strategies } = fixture;

  it('task fails when its strategy writes into its candles', async () => {
    const job = await fixture.platform.run(config('overwrites'));
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(job.error).toContain('wrote into the candles');
  });

  it('task out of memory fails at the first attempt with that reason', async () => {
    const job = await fixture.platform.run(config('hoards'));
    expect(job).toMatchObject({ status: 'failed', attempt: 1 });
    expect(job.error).toMatch(/memory/);
  });

  it('task does not start when its strategy file is invalid; others run', async () => {
    writeFileSync(join(strategies.folder, 'throws.ts'), `export default {\n  name: 'throws', `);
    const { status, body } = await fixture.platform.post('/api/v1/backtests', { config: config('throws') });
    expect([status, body.detail.code]).toEqual([400, 'VAL006']);
    expect(body.detail.message).toMatch(
      /^Strategy throws cannot be used: strategy file throws\.ts:2: Unexpected token .*Correct the file and repeat the request\.$/,
    );
    expect(body.detail.context).toMatchObject({ strategy: 'throws', file: 'throws.ts', line: 2 });
    expect(await fixture.platform.run(config('buy_and_hold'))).toMatchObject({
      status: 'completed',
      attempt: 1,
    });
  });

  it('task waits for a free place, and a pending job can be cancelled', async () => {
    const submit = async () =>
      (await fixture.platform.post('/api/v1/backtests', { config: config('queued') })).body.job_id;
    const running = [await submit(), await submit()];
    await poll(
      () => strategies.begun('queued', fixture.platform.home).length === 2,
      Boolean,
      'both places taken',
    );
    const waiting = await submit();
    expect((await fixture.platform.get(`/api/v1/backtests/${waiting}`)).body.status).toBe('pending');
    expect((await fixture.platform.post(`/api/v1/backtests/${waiting}/cancel`)).body.status).toBe(
      'cancelled',
    );
    strategies.open('queued');
    for (const id of running) await fixture.platform.until(id, 'completed');
    expect((await fixture.platform.get(`/api/v1/backtests/${waiting}`)).body).toMatchObject({
      status: 'cancelled',
      attempt: 0,
    });
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

  it('job fails with DATA003 and the reason when its exchange is not supported', async () => {
    const job = await platform.run({ strategy: 'buy_and_hold', exchange: 'elsewhere', date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'DATA003' });
    expect(job.collection).toMatchObject({ status: 'failed' });
    expect(job.collection.message).toContain('elsewhere');
    expect(job.error).toContain(job.collection.message);
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

  it('restart starts a job that was stored without an execution', async () => {
    const first = await startTestPlatform({ home, strategiesDirectory: strategies.folder });
    const done = await first.run({ strategy: 'buy_and_hold', date_range: RANGE });
    const orphan = await first.storeWithoutStarting(done.job_id);
    await first.stop();
    const second = await startTestPlatform({ home, strategiesDirectory: strategies.folder });
    expect(await second.until(orphan, ...TERMINAL)).toMatchObject({ status: 'completed' });
    await second.stop();
  });

  it('platform rejects a data folder in use by another platform', async () => {
    const first = await startTestPlatform({ home });
    await expect(startTestPlatform({ home })).rejects.toThrow(/in use by process/);
    await first.stop();
  });

  it('startup error contains the port in use', async () => {
    const first = await startTestPlatform();
    const port = Number(new URL(first.info.backend_url).port);
    await expect(
      startTestPlatform({ ports: { backend: port, strategy: 0, dataCollection: 0 } }),
    ).rejects.toThrow(`Port ${port} is in use`);
    await first.stop();
  });
});
