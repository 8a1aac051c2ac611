import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL } from '../support/platform.ts';
import { strategySource as source, strategyFolder } from '../support/strategies.ts';
import { RANGE, weekOf } from './strategy-files-fixture.ts';

describe('strategy file changed between submission and run', () => {
  const { folder, add } = strategyFolder();
  const home = mkdtempSync(join(tmpdir(), 'touchstone-changed-'));
  afterAll(() => {
    for (const each of [folder, home]) rmSync(each, { recursive: true });
  });

  it('changed strategy file adds a warning, and fails with VAL006 when the parameters no longer fit', async () => {
    for (const name of ['same', 'warns', 'narrowed', 'extended', 'older']) add(`${name}.ts`, source(name));
    // No job runs on this platform: the next one runs them.
    const first = await startTestPlatform({ home, strategiesDirectory: folder, concurrency: 0 });
    const ids: Record<string, string> = {};
    for (const strategy of ['same', 'warns', 'narrowed', 'extended']) {
      const { status, body } = await first.post('/api/v1/backtests', { config: weekOf(strategy, { n: 50 }) });
      expect(status).toBe(201);
      ids[strategy] = body.job_id;
    }
    const job = await first.strategy.post('/api/v1/hyperopt', {
      strategy: 'warns',
      models: 'none',
      n_trials: 2,
      date_range: RANGE,
      backtest_period_days: 3,
      search: { n: { min: 1, max: 20 } },
    });
    expect(job.status).toBe(200);
    const { body: older } = await first.post('/api/v1/backtests', { config: weekOf('older') });
    // Job of a previous version, without a source digest.
    ids.older = await first.storeWithoutStarting(older.job_id);
    await first.stop();

    add('warns.ts', source('warns', { n: 7 }));
    add('narrowed.ts', source('narrowed', { max: 20 }));
    add(
      'extended.ts',
      source('extended').replace(
        'parameters: {',
        `parameters: { m: { kind: 'integer', default: 1, min: 1, max: 2, description: 'M' },`,
      ),
    );
    add('older.ts', source('older', { n: 8 }));
    const second = await startTestPlatform({ home, strategiesDirectory: folder });
    const ended: Record<string, any> = {};
    for (const [name, id] of Object.entries(ids)) ended[name] = await second.until(id, ...TERMINAL);

    expect(ended.same).toMatchObject({ status: 'completed' });
    expect(ended.warns).toMatchObject({ status: 'completed', config: { params: { n: 50 } } });
    expect(ended.older).toMatchObject({ status: 'completed' });
    const ofSource = ({ warnings }: { warnings: string[] }) =>
      warnings.filter((text) => text.includes('source'));
    expect(ofSource(ended.warns)).toEqual([
      expect.stringMatching(
        /^The source of strategy warns changed after the submission \(digest [0-9a-f]{12} at submission, [0-9a-f]{12} now\): the new source ran with the configuration of the submission\. Values that are not the defaults of the new source: n 50 \(now 7\)$/,
      ),
    ]);
    expect([ofSource(ended.same), ofSource(ended.older)]).toEqual([[], []]);
    expect(ended.narrowed).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(ended.narrowed.error).toBe(
      'Strategy narrowed changed after the submission, and the configuration does not fit it any more: n: must be an integer from 1 to 20. Submit the job again',
    );
    expect(ended.extended).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(ended.extended.error).toContain('m: new parameter without a value in this job');

    const hyperopt = await second.until(job.body.job_id, ...TERMINAL);
    expect(hyperopt.status).toBe('completed');
    expect(ofSource(hyperopt)).toEqual([
      expect.stringMatching(/^The source of strategy warns changed after the submission/),
    ]);
    await second.stop();
  });
});
