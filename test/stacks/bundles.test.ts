import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkMatches, EXCHANGE_FILES } from '../../bin/bundle-plugins.ts';
import { bundlesFixture } from './bundles-fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const fixture = bundlesFixture();
const { outdir, bundles } = fixture;

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
  const { 'src/adapters/strategy-files.ts': _, ...inputs } = fixture.metafile.inputs;
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
  const engine = Object.entries(fixture.metafile.inputs).filter(([input]) => input.startsWith('src/engine/'));
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
