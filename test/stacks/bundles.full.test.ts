import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { startExchangeServer } from '../support/exchange-server.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { LambdaRuntime } from '../support/lambda-runtime.ts';
import { bundlesFixture } from './bundles-fixture.ts';

const { outdir, bundles } = bundlesFixture();

/** Runs a bundled task in a separate process with only these variables, and the flags of its container. */
async function runTask(name: string, variables: Readonly<Record<string, string>>) {
  const flags = name === 'collect' ? [] : SANDBOX_FLAGS;
  const child = spawn(process.execPath, [...flags, join(outdir, 'tasks', `${name}.mjs`)], {
    cwd: outdir,
    env: { AWS_REGION: 'eu-west-1', ...variables },
  });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const [status] = await once(child, 'close');
  const output = `${await stdout}${await stderr}`;
  expect(status, output).toBe(0);
  return output;
}

const variablesOf = ({ endpoint, tables }: TestEngine, jobId: string) => ({
  DYNAMODB_ENDPOINT: endpoint,
  JOBS_TABLE: tables.jobs,
  SERIES_TABLE: tables.series,
  OBJECTS_DIRECTORY: join(outdir, 'objects'),
  CANDLES_BUCKET: 'candles',
  RESULTS_BUCKET: 'results',
  JOB_ID: jobId,
});

const OF_A_FILE = { rsi_period: 5, pullback: 40, trend_period: 10, shorts: true };
test.each([
  ['sim', 'example_pullback', OF_A_FILE],
  ['binanceusdm', 'buy_and_hold', {}],
])('bundled tasks collect from %s and run %s on it', async (exchange, strategy, params) => {
  const engine = await startEngine();
  const server = await startExchangeServer();
  try {
    const jobs = new DynamoJobStore(engine.client, engine.tables.jobs);
    const { config, execution_input } = pendingJob('bt-01J');
    await jobs.create(
      pendingJob('bt-01J', {
        config: { ...config, exchange, strategy, params },
        execution_input: { ...execution_input, exchange },
      }),
    );
    const variables = {
      ...variablesOf(engine, 'bt-01J'),
      EXCHANGE_URL: server.url,
      EXCHANGE_INTERVAL_MS: '1',
    };
    const collected = await runTask('collect', variables);
    expect((await jobs.get('bt-01J'))?.collection, collected).toMatchObject({ status: 'completed' });
    const backtested = await runTask('backtest', variables);
    expect(await jobs.get('bt-01J'), backtested).toMatchObject({
      status: 'completed',
      results: { prefix: 'results/bt-01J/1' },
    });
    expect(server.requests.length > 0).toBe(exchange !== 'sim');
  } finally {
    await server.stop();
    await engine.stop();
  }
});

test('bundled functions of the fast lane collect and run a backtest with the results of the tasks', async () => {
  const engine = await startEngine();
  const server = await startExchangeServer();
  const functions: LambdaRuntime[] = [];
  try {
    const jobs = new DynamoJobStore(engine.client, engine.tables.jobs);
    for (const id of ['bt-01J', 'bt-02J']) {
      const { config, execution_input } = pendingJob(id);
      await jobs.create(
        pendingJob(id, {
          config: { ...config, exchange: 'binanceusdm', strategy: 'example_pullback', params: OF_A_FILE },
          execution_input: { ...execution_input, exchange: 'binanceusdm' },
        }),
      );
    }
    const { JOB_ID: _, ...variables } = variablesOf(engine, '');
    const environment = { ...variables, EXCHANGE_URL: server.url, EXCHANGE_INTERVAL_MS: '1' };
    for (const name of ['collect', 'backtest']) {
      const lambda = new LambdaRuntime({
        code: join(outdir, 'tasks'),
        handler: `fast-lane.${name}`,
        environment: { ...environment, AWS_REGION: 'eu-west-1' },
        timeoutMs: 120_000,
      });
      functions.push(lambda);
      const invoked = await lambda.invoke({ job_id: 'bt-01J', correlation_id: 'c-1' });
      expect(invoked).toEqual({ kind: 'response', body: null });
    }
    const fast = await jobs.get('bt-01J');
    expect(fast).toMatchObject({ status: 'completed', attempt: 1, collection: { status: 'completed' } });
    const output = await runTask('backtest', { ...environment, JOB_ID: 'bt-02J' });
    const task = await jobs.get('bt-02J');
    expect(task, output).toMatchObject({ status: 'completed' });
    const digestOf = (job: typeof task) => job?.status === 'completed' && job.results.digest;
    expect(digestOf(fast)).toBe(digestOf(task));
  } finally {
    for (const each of functions) await each.reset();
    await server.stop();
    await engine.stop();
  }
});

test('bundled worker runs the trials of a hyperopt job', async () => {
  const engine = await startEngine();
  try {
    const hyperoptJobs = new DynamoHyperoptStore(engine.client, engine.tables.jobs);
    const { base, execution_input, ...job } = pendingHyperopt('ho-01J', { n_trials: 2, pruner: 'none' });
    const { model_types } = job.config;
    await hyperoptJobs.create({
      ...job,
      config: { ...job.config, backtest_period_days: 30, n_estimators_range: [2, 4] },
      base: {
        ...base,
        strategy: 'example_pullback',
        params: OF_A_FILE,
        timeframe: '4h',
        date_range: job.config.date_range!,
      },
      execution_input: { ...execution_input, timeframe: '4h' },
    });
    const variables = variablesOf(engine, 'ho-01J');
    await runTask('collect', variables);
    const output = await runTask('hyperopt', { ...variables, WORKER: '0' });
    expect(await hyperoptJobs.get('ho-01J'), output).toMatchObject({
      status: 'completed',
      trials: { complete: 2 },
      outcome: { best_params: { model_type: expect.toBeOneOf(model_types) } },
    });
  } finally {
    await engine.stop();
  }
});

test('every bundle loads in a new process until it reports missing variables', () => {
  for (const path of bundles.keys()) {
    // This bundle is a thread that the worker's bundle starts, as above.
    if (path === 'tasks/hyperopt-trial.mjs') continue;
    const { status, stderr } = spawnSync(process.execPath, [join(outdir, path)], {
      cwd: outdir,
      env: { NODE_OPTIONS: '--enable-source-maps', AWS_REGION: 'eu-west-1' },
      encoding: 'utf8',
    });
    if (status !== 0) expect(stderr, path).toContain('The environment does not fit');
  }
});
