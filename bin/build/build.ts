/** Bundles every Lambda and task with esbuild and the dashboard with vite: `node bin/build/build.ts` writes dist/. */
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build as esbuild, type Metafile } from 'esbuild';
import { FILE_PAGE_NAME } from '../../src/contract/backtests/report-file.ts';
import { buildWeb } from './build-web.ts';
import {
  bundledExchanges,
  checkMatches,
  credentialsOfAws,
  EXCHANGE_FILES,
  lazyRows,
  namedUndici,
  nodeModules,
  oneStart,
  packageVersions,
  plainSchemas,
  unusedSchemas,
  userStrategies,
} from './bundle-plugins.ts';
import { bundleStrategies, STRATEGIES_MODULE } from './bundle-strategies.ts';

const ROOT = join(import.meta.dirname, '../..');
/** parquet-wasm's build for Node is CommonJS: it requires `fs` and reads its WebAssembly next to the bundle. */
const COMMONJS_NAMES = [
  // Not imported, see the plugin nodeModules.
  "const { createRequire } = process.getBuiltinModule('node:module');",
  'const require = createRequire(import.meta.url);',
  'const __dirname = import.meta.dirname;',
].join('');

const STRATEGIES = join(ROOT, 'strategies');
export const SWAGGER_UI = ['swagger-ui-bundle.js', 'swagger-ui.css'];

/** Files that code reads next to its bundle at run time: source in this project -> folders under the output. */
const ASSETS: readonly { readonly from: string; readonly to: readonly string[] }[] = [
  { from: 'src/tasks/Dockerfile', to: ['tasks'] },
  { from: 'node_modules/parquet-wasm/node/parquet_wasm_bg.wasm', to: ['tasks'] },
  ...SWAGGER_UI.map((file) => ({
    from: `node_modules/swagger-ui-dist/${file}`,
    to: ['lambdas/backend/swagger-ui', 'lambdas/strategy/swagger-ui', 'tasks/swagger-ui'],
  })),
];

/** One file per exchange, loaded before its first collection: all files are 6 MB and take 100 MB of memory. */
const CCXT = 'node_modules/ccxt/js/src';

/**
 * Replaces the global `process` in a task, also in its packages: strategy code gets another one, see
 * src/adapters/processes/strategy-globals.ts.
 */
export const KEPT_PROCESS = join(import.meta.dirname, 'kept-process.ts');

/**
 * Writes `lambdas/<name>/index.mjs` and `tasks/<name>.mjs` with their source maps under `outdir`, and esbuild's
 * `meta.json` next to them. Each Lambda's folder is its asset. The tasks' folder is the build context of their image, with
 * ccxt's exchanges in `tasks/ccxt` and the users' strategies in `strategies` next to each bundle that loads them.
 *
 * @throws Error that names a broken strategy file, or a bundle plugin that matches no file
 */
export async function build(outdir: string): Promise<Metafile> {
  await rm(outdir, { recursive: true, force: true });
  const [lambdas, tasks] = await Promise.all([typescriptFiles('lambdas'), typescriptFiles('src/tasks')]);
  const metafiles = await Promise.all([
    ...lambdas.map((file) => bundleLambda(file, join(outdir, 'lambdas', basename(file, '.ts')))),
    bundleTasks(tasks, join(outdir, 'tasks')),
  ]);
  const metafile: Metafile = {
    inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
    outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
  };
  checkMatches(metafile);
  await bundleExchanges(outdir);
  await bundleStrategies(STRATEGIES, loadersOf(metafile));
  await copyAssets(outdir);
  await writeFile(join(outdir, 'meta.json'), JSON.stringify(metafile));
  return metafile;
}

/**
 * What a Lambda imports at run time is in separate files next to its entry: a new instance reads and compiles only what
 * its first request needs.
 */
async function bundleLambda(file: string, outdir: string): Promise<Metafile> {
  const { metafile } = await esbuild({
    ...BUNDLE_OPTIONS,
    entryPoints: [{ in: join('lambdas', file), out: 'index' }],
    plugins: [oneStart(join(ROOT, 'lambdas', file)), ...BUNDLE_OPTIONS.plugins],
    splitting: true,
    // In the same folder, because code finds files next to its own.
    chunkNames: '[name]-[hash]',
    outdir,
    metafile: true,
  });
  return metafile;
}

/** One file per task: a task uses nearly all of its code. */
async function bundleTasks(files: readonly string[], outdir: string): Promise<Metafile> {
  const { metafile } = await esbuild({
    ...BUNDLE_OPTIONS,
    plugins: [nodeModules, ...BUNDLE_OPTIONS.plugins],
    inject: [KEPT_PROCESS],
    entryPoints: files.map((file) => join('src/tasks', file)),
    outdir,
    metafile: true,
  });
  return metafile;
}

/** Folders of the bundles that load strategies. */
function loadersOf({ outputs }: Metafile): string[] {
  const loading = Object.entries(outputs).filter(([, { imports }]) =>
    imports.some(({ path, external }) => external && basename(path) === STRATEGIES_MODULE),
  );
  return [...new Set(loading.map(([path]) => join(ROOT, dirname(path))))];
}

/** Shared code is split into separate files, so that each exchange file is small. */
async function bundleExchanges(outdir: string): Promise<void> {
  const files = (await readdir(join(ROOT, CCXT))).filter((file) => file.endsWith('.js'));
  const { metafile } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: files.map((file) => join(CCXT, file)),
    outdir: join(outdir, 'tasks/ccxt'),
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: { js: COMMONJS_NAMES },
    minify: true,
    legalComments: 'linked',
    // Used only to sign orders of one exchange, which Touchstone does not do.
    external: ['protobufjs/*'],
    logLevel: 'warning',
    plugins: [namedUndici],
    metafile: true,
  });
  checkMatches(metafile, EXCHANGE_FILES);
}

/** esbuild options of Lambdas and tasks. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // The CommonJS builds of the SDK fail with "Dynamic require of node:https is not supported".
  mainFields: ['module', 'main'],
  banner: { js: COMMONJS_NAMES },
  minify: true,
  legalComments: 'linked',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [
    userStrategies,
    lazyRows,
    bundledExchanges,
    packageVersions,
    plainSchemas,
    credentialsOfAws,
    unusedSchemas,
  ],
} satisfies BuildOptions;

async function typescriptFiles(folder: string): Promise<string[]> {
  return (await readdir(join(ROOT, folder))).filter((file) => file.endsWith('.ts'));
}

async function copyAssets(outdir: string): Promise<void> {
  for (const { from, to } of ASSETS) {
    const name = from.slice(from.lastIndexOf('/') + 1);
    for (const folder of to) {
      await mkdir(join(outdir, folder), { recursive: true });
      await cp(join(ROOT, from), join(outdir, folder, name));
    }
  }
}

/** Builds everything that is deployed, into `dist`. */
export async function buildAll(dist: string): Promise<void> {
  // React's development build is three times as large. The caller may be a test.
  process.env.NODE_ENV = 'production';
  await build(dist);
  // Here, and in the cache of `npm start`, which then needs no vite. The function that uploads the files has a copy.
  const web = await buildWeb();
  for (const folder of ['web', 'lambdas/web-files/files']) {
    await cp(web, join(dist, folder), {
      recursive: true,
      filter: (path) => !basename(path).startsWith('.'),
    });
  }
  await cp(join(web, FILE_PAGE_NAME), join(dist, 'lambdas/backend', FILE_PAGE_NAME));
}

if (import.meta.main) await buildAll(join(ROOT, 'dist'));
