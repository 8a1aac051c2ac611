import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestPlatform } from '../support/platform.ts';

const PYTHON = process.env.PYTHON ?? 'python3';
const hasClient = spawnSync(PYTHON, ['-c', 'import mlflow'], { stdio: 'ignore' }).status === 0;
if (!hasClient) console.warn(`Skipped: MLflow's client needs ${PYTHON} with mlflow or mlflow-skinny.`);

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

it.skipIf(!hasClient)(
  'the client of MLflow reads models, runs and artifacts, and changes stages',
  async () => {
    const platform = await startTestPlatform();
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-mlflow-'));
    try {
      const run = async (fast: number, more = {}) => {
        const job = await platform.run(
          { strategy: 'ema_crossover', timeframe: '1h', date_range: MONTH, params: { fast } },
          more,
        );
        expect(job.status).toBe('completed');
        return job;
      };
      const backtests = [await run(10), await run(20, { experiment_name: 'trend' })];
      for (const { job_id } of backtests) {
        const registered = await platform.strategy.post('/api/v1/strategies/ema_crossover/register', {
          ...{ backtest_run_id: job_id, container_image_uri: 'registry.example/touchstone:1.0.0' },
        });
        expect(registered.status).toBe(201);
      }
      const { body: study } = await platform.strategy.post('/api/v1/hyperopt', {
        ...{ strategy: 'ema_crossover', models: 'none', timeframe: '1h', n_trials: 3, date_range: MONTH },
        experiment_name: 'trend',
      });
      await platform.until(study.job_id, 'completed');

      const { stdout } = await promisify(execFile)(PYTHON, [
        join(import.meta.dirname, 'mlflow/client.py'),
        platform.info.backend_url,
        folder,
      ]);
      const read = JSON.parse(stdout.trim().split('\n').at(-1)!);
      const [first, second] = backtests.map(({ job_id }) => job_id);
      const best = backtests.toSorted((a, b) => b.result.total_profit_pct - a.result.total_profit_pct)[0]!;
      expect(read).toMatchObject({
        ...{ models: ['ema_crossover'], model: 'ema_crossover', version: '1', experiment: 'trend' },
        latest: [
          ['1', 'None'],
          ['2', 'Production'],
        ],
        champion: '2',
        versions: [
          ['2', second],
          ['1', first],
        ],
        uri: `mlflow-artifacts:/${first}`,
        experiments: [
          ['0', 'Default'],
          ['e-trend', 'trend'],
        ],
        trials: 3,
        trial: study.job_id,
        run: best.result.total_profit_pct,
        history: [best.result.total_profit_pct],
        files: expect.arrayContaining(['report.html', 'report.json', 'trades.csv', 'trades.parquet']),
        header: expect.stringMatching(/^id,pair,side,/),
        ...{ staged: 'Staging', promoted: ['Production', ['latest', 'champion']] },
      });
      expect(new Set(read.runs)).toEqual(new Set([first, second, study.job_id]));
      expect(read.refused[0]).toBe('RESOURCE_CONFLICT');
      expect(read.unserved[0]).toBe('NOT_IMPLEMENTED');
    } finally {
      await platform.stop();
      rmSync(folder, { recursive: true });
    }
  },
);
