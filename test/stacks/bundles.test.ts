import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { describe, expect, test } from 'vitest';
import type { Operation, ServiceName } from '#contract/values/operation.ts';
import { routesOf as rowsOf } from '#runtime/routes.ts';
import { BUNDLE_OPTIONS, KEPT_PROCESS } from '../../bin/build/build.ts';
import { checkMatches, EXCHANGE_FILES } from '../../bin/build/bundle-plugins.ts';
import { bundlesFixture } from './bundles-fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const fixture = bundlesFixture();
const { outdir, bundles } = fixture;

const namesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));

const inputsOf = (files: readonly string[]) =>
  new Set(files.flatMap((file) => Object.keys(fixture.outputs.get(file)!.inputs)));

/** Packages of a bundle: those that its start loads, or also those that it loads at run time. */
const packagesOf = (path: string, when: 'start' | 'ever' = 'ever') =>
  new Set(
    [...inputsOf(fixture.filesOf(path, when))].flatMap(
      (input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [],
    ),
  );

const bytesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + fixture.outputs.get(file)!.bytes, 0);

/** Routes of a service, bundled as for a Lambda. */
async function bundledRoutes(service: string) {
  const outfile = join(outdir, `routes-${service}.mjs`);
  const { outExtension: _, ...options } = BUNDLE_OPTIONS;
  const contents = `import { routesOf } from '#runtime/routes.ts'; export default routesOf('${service}');`;
  await esbuild({ ...options, sourcemap: false, stdin: { contents, resolveDir: ROOT }, outfile });
  const { default: routesOf } = await import(pathToFileURL(outfile).href);
  return { routesOf: routesOf as (Operation & { readonly load: () => Promise<Operation> })[] };
}

test('build writes a bundle for every Lambda and every task', () => {
  const wanted = [
    ...namesIn('lambdas').map((name) => `lambdas/${name}/index.mjs`),
    ...namesIn('src/tasks').map((name) => `tasks/${name}.mjs`),
  ];
  expect([...bundles.keys()].sort()).toEqual(wanted.sort());
});

test('build fails when a plugin matches no bundled file', () => {
  const { 'src/adapters/strategies/strategy-files.ts': _, ...inputs } = fixture.metafile.inputs;
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

test('backtest task contains no schemas of searches and requests', () => {
  const { inputs } = bundles.get('tasks/backtest.mjs')!;
  const unused = /^src\/contract\/(hyperopt\/hyperopt|.*\/stored-(signals|webhook|challenge)|.*-api)\.ts$/;
  const bytes = Object.entries(inputs).map(([path, { bytesInOutput }]) =>
    unused.test(path) ? bytesInOutput : 0,
  );
  // A few constants.
  expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(500);
  expect(inputs['src/contract/backtests/backtest.ts']!.bytesInOutput).toBeGreaterThan(500);
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

test('engine bundles its own files and only values of the contract, which import no zod', () => {
  const engine = Object.entries(fixture.metafile.inputs).filter(([input]) => input.startsWith('src/engine/'));
  expect(engine.length).toBeGreaterThan(10);
  for (const [input, { imports }] of engine) {
    const others = imports.map(({ path }) => path).filter((path) => !path.startsWith('src/engine/'));
    expect(
      others.filter((path) => !path.startsWith('src/contract/values/') && path !== KEPT_PROCESS),
      input,
    ).toEqual([]);
  }
});

test.each([
  ['lambdas/backend/index.mjs', 400, 1590],
  ['lambdas/strategy/index.mjs', 395, 1460],
  ['lambdas/strategy-events/index.mjs', 575, 820],
  ['lambdas/job-events/index.mjs', 645, 960],
  ['lambdas/repair/index.mjs', 725, 765],
  ['lambdas/task-image/index.mjs', 370, 500],
  // It does not load zod, which is 105 KB.
  ['lambdas/data-proxy/index.mjs', 70, 70],
  ['lambdas/data-api/index.mjs', 130, 460],
  ['lambdas/web-files/index.mjs', 320, 320],
  // It starts the other bundles of its folder and contains none of their code.
  ['tasks/fast-lane.mjs', 20, 20],
])('%s loads less than %i KB at its start, and less than %i KB ever', (path, atStart, ever) => {
  expect(bytesOf(fixture.filesOf(path, 'start'))).toBeLessThan(atStart * 1000);
  expect(bytesOf(fixture.filesOf(path, 'ever'))).toBeLessThan(ever * 1000);
});

/** Packages that the start of a service may load: every request needs them. */
const AT_START = [
  '@aws-lambda-powertools/commons',
  '@aws-lambda-powertools/logger',
  '@aws-lambda-powertools/metrics',
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/lib-dynamodb',
  '@middy/core',
  'hono',
];

describe.each(['backend', 'strategy'])('start of the %s function', (name) => {
  const bundle = `lambdas/${name}/index.mjs`;

  test('start loads no client but that of DynamoDB, no zod, no token verifier and no strategy', () => {
    const loaded = packagesOf(bundle, 'start');
    for (const each of AT_START) expect(loaded).toContain(each);
    expect([...loaded].filter((each) => /^@aws-sdk\/client-/.test(each))).toEqual([
      '@aws-sdk/client-dynamodb',
    ]);
    const clients = ['@aws-sdk/client-s3', '@aws-sdk/client-sfn', '@aws-sdk/client-ecs'];
    const later = [...clients, 'aws-jwt-verify', 'zod'];
    expect([...packagesOf(bundle)]).toEqual(expect.arrayContaining(later));
    for (const each of later) expect(loaded).not.toContain(each);
    const inputs = inputsOf(fixture.filesOf(bundle, 'start'));
    expect([...inputs].filter((input) => /^(strategies|src\/engine\/strategies)\//.test(input))).toEqual([]);
  });

  test('start loads no schemas of requests, responses and stored items', () => {
    const inputs = inputsOf(fixture.filesOf(bundle, 'start'));
    const schemas =
      /^src\/contract\/(operations\/(?!routes\.).*|.*-api|backtests\/(backtest|report)|hyperopt\/hyperopt|.*\/stored-.*|market-data\/market-data)\.ts$/;
    expect([...inputs].filter((input) => schemas.test(input))).toEqual([]);
    expect(
      [...inputsOf(fixture.filesOf(bundle, 'ever'))].filter((input) => schemas.test(input)).length,
    ).toBeGreaterThan(10);
  });

  test('start loads few files', () => {
    expect(fixture.filesOf(bundle, 'start').length).toBeLessThan(6);
  });

  test('routes of the bundle have the rows of the table', async () => {
    const { routesOf } = await bundledRoutes(name);
    const wanted = rowsOf(name as ServiceName);
    expect(routesOf.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    for (const [index, { load, ...route }] of routesOf.entries()) {
      expect(wanted[index]).toMatchObject(route);
      const row = await load();
      expect(JSON.stringify(row), row.id).toBe(JSON.stringify(await wanted[index]!.load()));
    }
  });
});

test("users' strategies are next to the bundles that load them", async () => {
  const names = namesIn('strategies');
  for (const folder of ['tasks', 'lambdas/backend', 'lambdas/strategy']) {
    expect(readdirSync(join(outdir, folder, 'strategies')).sort()).toEqual(
      names.map((name) => `${name}.mjs`).sort(),
    );
    const { strategies } = await import(pathToFileURL(join(outdir, folder, 'strategies.mjs')).href);
    expect(strategies.map((each: { definition: { name: string } }) => each.definition.name)).toEqual(names);
  }
  for (const task of ['backtest.mjs', 'hyperopt-trial.mjs', 'image-backtest.mjs']) {
    const imported = bundles.get(`tasks/${task}`)!.imports.map(({ path }) => path);
    expect(imported, task).toContain('./strategies.mjs');
  }
});

test.each(['backend', 'strategy'])('files of the documentation page are next to the bundle of %s', (name) => {
  expect(readdirSync(join(outdir, `lambdas/${name}/swagger-ui`)).sort()).toEqual([
    'swagger-ui-bundle.js',
    'swagger-ui.css',
  ]);
});

test('source maps name sources without their content', () => {
  for (const path of fixture.outputs.keys()) {
    if (!path.endsWith('.mjs')) continue;
    const map = JSON.parse(readFileSync(join(outdir, `${path}.map`), 'utf8'));
    expect(map.sourcesContent, path).toBeUndefined();
  }
});
