import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { poll } from '../support/poll.ts';
import { isAlive } from '../support/processes.ts';
import { config, taskFailuresFixture } from './failures-fixture.ts';

/** Crashes, hangs and forged results, and the state of the jobs afterwards. */

describe('task failures', () => {
  const fixture = taskFailuresFixture((strategies) => {
    writeFileSync(
      join(strategies.folder, 'halves.ts'),
      `import throws from './throws.ts'; export default { ...throws, name: 'halves',
         parameters: { length: { kind: 'integer', default: 1, min: 1, max: 2, description: 'Length' } },
         startupCandles: ({ length }) => 1 / length };`,
    );
    strategies.addGated('dies_once');
    strategies.addGated('hangs');
  });
  const { strategies } = fixture;

  /** Process IDs of the running tasks of a gated strategy; waits for the first. */
  function begun(name: string): number[] | undefined {
    const pids = strategies.begun(name, fixture.platform.home);
    return pids.length > 0 ? pids : undefined;
  }

  it('task fails with strategy name and message when the strategy throws', async () => {
    const job = await fixture.platform.run(config('throws'));
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', result: null });
    expect(job.error).toMatch(
      /^Strategy throws failed on BTC\/USDT:USDT: indicators\(\) threw: division by the moon \(throws\.ts:\d+\)$/,
    );
    expect(job.attempt).toBe(1);
  });

  it('task does not start when the strategy cannot compute its startup candles', async () => {
    const [bad, good] = await Promise.all(
      [2, 1].map((length) =>
        fixture.platform.post('/api/v1/backtests', { config: { ...config('halves'), params: { length } } }),
      ),
    );
    expect([bad!.status, bad!.body.detail.code]).toEqual([400, 'VAL006']);
    expect(bad!.body.detail.message).toBe(
      'Strategy halves: startupCandles() returned 0.5, which is not an integer from 0 to 1000000, for {"length":2}.',
    );
    expect(good!.status).toBe(201);
  });

  it('killed task is retried and completes', async () => {
    const { body } = await fixture.platform.post('/api/v1/backtests', { config: config('dies_once') });
    const [pid] = (await poll(() => begun('dies_once'), Boolean, 'task begun'))!;
    process.kill(pid!, 'SIGKILL');
    strategies.open('dies_once');
    expect(await fixture.platform.until(body.job_id, 'completed')).toMatchObject({ attempt: 2 });
  });

  it('cancel ends a hanging task, and its late end changes nothing', async () => {
    const { body } = await fixture.platform.post('/api/v1/backtests', { config: config('hangs') });
    const [pid] = (await poll(() => begun('hangs'), Boolean, 'task begun'))!;
    await fixture.platform.until(body.job_id, 'running');
    const cancelled = await fixture.platform.post(`/api/v1/backtests/${body.job_id}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ status: 'cancelled', result: null, error: null });
    await poll(() => !isAlive(pid!), Boolean, 'task ended');
    const again = await fixture.platform.post(`/api/v1/backtests/${body.job_id}/cancel`);
    expect([again.status, again.body.detail.code]).toEqual([400, 'RES005']);
    expect((await fixture.platform.get(`/api/v1/backtests/${body.job_id}`)).body.status).toBe('cancelled');
    for (const part of ['equity', 'report-data']) {
      const rejected = await fixture.platform.get(`/api/v1/backtests/${body.job_id}/${part}`);
      expect(rejected.status).toBe(400);
      expect(rejected.body.detail).toMatchObject({ code: 'RES005', context: { status: 'cancelled' } });
    }
  });
});
