import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { build } from '../../bin/build.ts';
import { checkMatches, EXCHANGE_FILES } from '../../bin/bundle-plugins.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { startExchangeServer } from '../support/exchange-server.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';

const ROOT = join(import.meta.dirname, '../..');
const outdir = mkdtempSync(join(tmpdir(), 'touchstone-bundles-'));
let metafile: Metafile;
/** Metafile entries by path below the output folder. */
let bundles: Map<string, Metafile['outputs'][string]>;

beforeAll(async () => {
  metafile = await build(outdir);
  bundles = new Map(
    Object.entries(metafile.outputs)
      .filter(([, output]) => output.entryPoint)
      .map(([path, output]) => [
        path.slice(path.indexOf(basename(outdir)) + basename(outdir).length + 1),
        output,
      ]),
  );
});
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const namesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));

const packagesOf = (path: string) =>
  new Set(
    Object.keys(bundles.get(path)!.inputs).flatMap(
      (input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [],
    ),
  );

test('build writes a bundle for every Lambda and every task', () => {
  const wanted = [
    ...namesIn('lambdas').map((name) => `lambdas/${name}/index.mjs`),
    ...namesIn('src/tasks').map((name) => `tasks/${name}.mjs`),
  ];
  expect([...bundles.keys()].sort()).toEqual(wanted.sort());
});

test('build fails when a plugin matches no bundled file', () => {
  const { 'src/adapters/strategy-files.ts': _, ...inputs } = metafile.inputs;
  expect(() => checkMatches({ inputs })).toThrow(/^No bundled file matches the plugin user-strategies \(/);
  expect(() => checkMatches({ inputs }, EXCHANGE_FILES)).toThrow(/matches the plugin named-undici \(/);
});

test('bundled strategy is evaluated again for each run of the look-ahead analysis', async () => {
  const program = `
    const load = (run) => import('./strategies/example_pullback.mjs?run=' + run);
    const [first, second] = [await load(1), await load(2)];
    console.log(first.default.name, first.default === second.default);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: join(outdir, 'tasks'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout).toBe('example_pullback false\n');
});

test('no bundle contains CDK', () => {
  for (const path of bundles.keys()) {
    for (const name of ['aws-cdk-lib', 'constructs', 'cdk-nag'])
      expect(packagesOf(path), path).not.toContain(name);
  }
});

test('only tasks contain the Parquet reader, with its WebAssembly next to them', () => {
  const lambdas = [...bundles.keys()].filter((path) => path.startsWith('lambdas/'));
  for (const path of lambdas) {
    expect(packagesOf(path), path).not.toContain('parquet-wasm');
    expect(packagesOf(path), path).not.toContain('apache-arrow');
  }
  expect(packagesOf('tasks/backtest.mjs')).toContain('parquet-wasm');
  expect(readdirSync(join(outdir, 'tasks'))).toContain('parquet_wasm_bg.wasm');
});

test('ccxt is next to the tasks, one file per exchange, and in no bundle', () => {
  for (const path of bundles.keys()) expect(packagesOf(path), path).not.toContain('ccxt');
  const files = readdirSync(join(outdir, 'tasks/ccxt'));
  expect(files).toEqual(expect.arrayContaining(['binanceusdm.mjs', 'bybit.mjs', 'okx.mjs']));
  const bytes = files.reduce((sum, file) => sum + statSync(join(outdir, 'tasks/ccxt', file)).size, 0);
  expect(bytes).toBeLessThan(8_000_000);
});

/** Files of the contract that import nothing. */
const WITHOUT_ZOD = new Set(['src/contract/limits.ts', 'src/contract/metric-labels.ts']);

test('engine bundles its own files and only limits and labels of the contract', () => {
  const engine = Object.entries(metafile.inputs).filter(([input]) => input.startsWith('src/engine/'));
  expect(engine.length).toBeGreaterThan(10);
  for (const [input, { imports }] of engine) {
    const others = imports.map(({ path }) => path).filter((path) => !path.startsWith('src/engine/'));
    expect(
      others.filter((path) => !WITHOUT_ZOD.has(path)),
      input,
    ).toEqual([]);
  }
});

test.each([
  ['lambdas/backend/index.mjs', 950],
  ['lambdas/strategy/index.mjs', 1000],
  ['lambdas/strategy-events/index.mjs', 600],
  ['lambdas/reconcile/index.mjs', 700],
  ['lambdas/task-image/index.mjs', 500],
  // Without tree shaking zod is 443 KB.
  ['lambdas/data-proxy/index.mjs', 200],
])('%s is smaller than %i KB', (path, limit) => {
  expect(bundles.get(path)!.bytes).toBeLessThan(limit * 1000);
});

test("bundles that load strategies contain the users' strategies", () => {
  const strategies = namesIn('strategies').map((name) => `strategies/${name}.ts`);
  for (const task of ['backtest', 'hyperopt', 'hyperopt-trial']) {
    const { inputs } = bundles.get(`tasks/${task}.mjs`)!;
    expect(Object.keys(inputs), task).toEqual(expect.arrayContaining(strategies));
  }
});

test.each(['backend', 'strategy'])('files of the documentation page are next to the bundle of %s', (name) => {
  expect(readdirSync(join(outdir, `lambdas/${name}/swagger-ui`)).sort()).toEqual([
    'swagger-ui-bundle.js',
    'swagger-ui.css',
  ]);
});

test('source maps name sources without their content', () => {
  for (const path of bundles.keys()) {
    const map = JSON.parse(readFileSync(join(outdir, `${path}.map`), 'utf8'));
    expect(map.sourcesContent, path).toBeUndefined();
  }
});

/** Runs a bundled task in a separate process with only these variables. */
async function runTask(name: string, variables: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [join(outdir, 'tasks', `${name}.mjs`)], {
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
        ...{ strategy: 'example_pullback', params: OF_A_FILE },
        ...{ timeframe: '4h', date_range: job.config.date_range! },
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
