import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestPlatform } from '../support/platform.ts';
import { pythonWith } from '../support/python.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };
const MODEL = 'ema_crossover';
const TIMEOUT_MS = 600_000;

/** Reads of docs/mlflow.md, and addresses of versions that the client resolves by them. */
const READS = [
  'search_registered_models',
  'get_registered_model',
  'get_latest_versions',
  'get_model_version_by_alias',
  'search_model_versions',
  'get_model_version',
  'get_model_version_download_uri',
  'search_experiments',
  'get_experiment_by_name',
  'get_experiment',
  'search_runs',
  'get_run',
  'get_metric_history',
  'list_artifacts',
  'download_artifacts',
  'get_latest_versions by stage',
  'MLmodel',
  'unknown names',
  'models:/ema_crossover@champion',
  'models:/ema_crossover/Production',
];

const found = await pythonWith('test/e2e/mlflow/requirements.txt');
if ('missing' in found) console.warn(`Skipped: the client of MLflow. ${found.missing}.`);
const { python } = 'missing' in found ? { python: '' } : found;

it.skipIf(python === '')(
  "the client of MLflow reads models, runs and artifacts, and writes by the registry's rules",
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-mlflow-'));
    const platform = await startTestPlatform();
    try {
      const run = async (fast: number, more = {}) => {
        const job = await platform.run(
          { strategy: MODEL, timeframe: '1h', date_range: MONTH, params: { fast } },
          more,
        );
        expect(job.status).toBe('completed');
        return job;
      };
      const backtests = [await run(10), await run(20, { experiment_name: 'trend' }), await run(15)];
      for (const { job_id } of backtests.slice(0, 2)) {
        const registered = await platform.strategy.post(`/api/v1/strategies/${MODEL}/register`, {
          backtest_run_id: job_id,
          container_image_uri: 'registry.example/touchstone:1.0.0',
        });
        expect(registered.status).toBe(201);
      }
      const { body: study } = await platform.strategy.post('/api/v1/hyperopt', {
        strategy: MODEL,
        models: 'none',
        timeframe: '1h',
        n_trials: 3,
        date_range: MONTH,
        experiment_name: 'trend',
      });
      await platform.until(study.job_id, 'completed');

      const { stdout } = await promisify(execFile)(python, [
        join(import.meta.dirname, 'mlflow/client.py'),
        platform.info.backend_url,
        folder,
        backtests[2]!.job_id,
      ]);
      const { reads, writes, refused, ...read } = JSON.parse(stdout.trim().split('\n').at(-1)!);
      const [first, second, third] = backtests.map(({ job_id }) => job_id);
      const best = backtests.toSorted((a, b) => b.result.total_profit_pct - a.result.total_profit_pct)[0]!;
      const header = expect.stringMatching(/^id,pair,side,/);
      // The lists of the platform, newest first.
      const jobs = (await platform.get('/api/v1/backtests')).body.items;
      const studies = (await platform.strategy.get('/api/v1/hyperopt')).body.items;
      const listed = [...jobs, ...studies].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));

      expect(Object.keys(reads)).toEqual(READS);
      expect(reads).toEqual({
        search_registered_models: [MODEL],
        get_registered_model: MODEL,
        get_latest_versions: [['2', 'None']],
        get_model_version_by_alias: '2',
        search_model_versions: [
          ['2', second],
          ['1', first],
        ],
        get_model_version: first,
        get_model_version_download_uri: `mlflow-artifacts:/${first}`,
        search_experiments: [
          ['0', 'Default'],
          ['e-trend', 'trend'],
        ],
        get_experiment_by_name: 'e-trend',
        get_experiment: 'trend',
        search_runs: listed.map(({ job_id, result }) => [
          job_id,
          'FINISHED',
          result?.total_profit_pct ?? null,
        ]),
        get_run: best.result.total_profit_pct,
        get_metric_history: [best.result.total_profit_pct],
        list_artifacts: [
          'MLmodel',
          'orders.csv',
          'report.html',
          'report.json',
          'trades.csv',
          'trades.parquet',
        ],
        download_artifacts: header,
        'get_latest_versions by stage': ['1', '2'],
        MLmodel: MODEL,
        'unknown names': [0, 0],
        'models:/ema_crossover@champion': header,
        'models:/ema_crossover/Production': header,
      });
      expect(read).toMatchObject({
        best: best.job_id,
        study: study.job_id,
        trials: Array(3).fill(study.job_id),
      });
      expect(read.unserved[0]).toBe('NOT_IMPLEMENTED');

      expect(writes).toEqual({
        create_registered_model: ['RESOURCE_ALREADY_EXISTS', expect.stringContaining('has versions already')],
        create_model_version: ['3', third, 'READY', 'fx'],
        register_model: ['4', third, 'READY'],
        'register_model of runs:/': [
          ['5', third],
          ['6', third],
        ],
        set_registered_model_alias: ['1', { latest: '6', shadow: '1' }],
        delete_registered_model_alias: 'RESOURCE_DOES_NOT_EXIST',
        set_model_version_tag: 'yes',
        delete_model_version_tag: null,
        transition_model_version_stage: [
          ['2', 'Staging', []],
          ['2', 'Production', ['champion']],
        ],
      });
      for (const name of ['stage', 'champion', 'latest', 'tag'])
        expect(refused[name][0], name).toBe('RESOURCE_CONFLICT');
      for (const name of ['run', 'field', 'latest stage'])
        expect(refused[name][0], name).toBe('INVALID_PARAMETER_VALUE');
      expect(refused.production).toEqual([
        'RESOURCE_CONFLICT',
        expect.stringContaining('pass archive_existing_versions=True'),
      ]);
      expect(refused['unknown run']).toEqual([
        'RESOURCE_DOES_NOT_EXIST',
        expect.stringContaining('Run with id=bt-none not found'),
      ]);
      expect(refused['unknown folder'][1]).toContain(
        'Unable to find a logged_model with artifact_path other',
      );
      const { body } = await platform.get(`/api/v1/models/${MODEL}/history`);
      const actions = body.items.map(({ action }: { action: string }) => action).toReversed();
      // The checks of the staging end at their own time.
      expect(actions.filter((action: string) => action !== 'validate')).toEqual([
        'register',
        'register',
        'register',
        'register',
        'register',
        'register',
        'label',
        'label',
        'label',
        'label',
        'stage',
        'promote',
        'stage',
      ]);
    } finally {
      await platform.stop();
      rmSync(folder, { recursive: true });
    }
  },
);
