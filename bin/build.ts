/** Bundles every Lambda and task with one esbuild call: `node bin/build.ts` writes dist/. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { type BuildOptions, build as esbuild, type Metafile, type Plugin } from 'esbuild';
import { LocalStrategies } from '../src/adapters/local/definitions/local-strategies.ts';
import { digestStrategyFiles } from '../src/adapters/strategy-files.ts';
import { describeBroken } from '../src/domain/find-strategy.ts';

const ROOT = join(import.meta.dirname, '..');
/** parquet-wasm's build for Node is CommonJS: it requires `fs` and reads its WebAssembly from beside the bundle. */
const COMMONJS_NAMES = [
  "import { createRequire } from 'node:module';",
  'const require = createRequire(import.meta.url);',
  'const __dirname = import.meta.dirname;',
].join('');

const STRATEGIES = join(ROOT, 'strategies');
const GLOBAL_STATE = join(ROOT, 'src/adapters/global-state.ts');
const SWAGGER_UI = ['swagger-ui-bundle.js', 'swagger-ui.css'];

/** Files that code reads from beside its bundle at run time: source in this project -> folders under the output. */
const ASSETS: readonly { readonly from: string; readonly to: readonly string[] }[] = [
  { from: 'src/tasks/Dockerfile', to: ['tasks'] },
  { from: 'node_modules/parquet-wasm/node/parquet_wasm_bg.wasm', to: ['tasks'] },
  ...SWAGGER_UI.map((file) => ({
    from: `node_modules/swagger-ui-dist/${file}`,
    to: ['lambdas/backend/swagger-ui', 'lambdas/strategy/swagger-ui', 'tasks/swagger-ui'],
  })),
];

/** Of each exchange a file, loaded when it is first collected from: all of them are 6 MB and 100 MB of memory. */
const CCXT = 'node_modules/ccxt/js/src';

/**
 * Writes `lambdas/<name>/index.mjs` and `tasks/<name>.mjs` with their source maps under `outdir`, and esbuild's
 * `meta.json` beside them. Each Lambda's folder is its asset; the tasks' folder is the context of their one image, with
 * ccxt's exchanges in `tasks/ccxt` and the users' strategies in `tasks/strategies`.
 *
 * @throws Error that names the strategy file which cannot be used
 */
export async function build(outdir: string): Promise<Metafile> {
  await checkStrategies();
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await esbuild({
    ...BUNDLE_OPTIONS,
    entryPoints: [
      ...(await entries('lambdas', (name) => `lambdas/${name}/index`)),
      ...(await entries('src/tasks', (name) => `tasks/${name}`)),
    ],
    outdir,
    metafile: true,
  });
  await bundleExchanges(outdir);
  await bundleStrategies(outdir);
  await copyAssets(outdir);
  await writeFile(join(outdir, 'meta.json'), JSON.stringify(metafile));
  return metafile;
}

/** A strategy file that throws would end every Lambda and task at their start. */
async function checkStrategies(): Promise<void> {
  const strategies = new LocalStrategies({ folder: STRATEGIES });
  const { broken } = await strategies.list();
  strategies.close();
  if (broken.length === 0) return;
  throw new Error(broken.map((each) => `Cannot bundle ${describeBroken(each)}`).join('\n'));
}

/**
 * A bundle has no folder of strategies to read: it holds the files, with the digests of their text. Beside the tasks there is a
 * bundle of each file too, which a task evaluates again for each run of a search for look-ahead bias.
 */
const userStrategies: Plugin = {
  name: 'user-strategies',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]adapters[\\/]strategy-files\.ts$/ }, async () => {
      const files = [...(await digestStrategyFiles(STRATEGIES))];
      const imports = files.map(([file], i) => `import strategy${i} from ${JSON.stringify(`./${file}`)};`);
      const items = files.map(
        ([file, digest], i) =>
          `{file: ${JSON.stringify(file)}, definition: strategy${i}, digest: ${JSON.stringify(digest)}, load: fresh(${JSON.stringify(file)})}`,
      );
      const exported = [
        `import { rememberGlobals } from ${JSON.stringify(GLOBAL_STATE)};`,
        'let runs = 0;',
        "const address = (file) => './strategies/' + file.replace(/ts$/, 'mjs?run=') + ++runs;",
        'const load = (file) => import(new URL(address(file), import.meta.url).href);',
        'const globals = rememberGlobals({ process });',
        'const fresh = (file) => async () => (globals.removeAdded(file), (await load(file)).default);',
        `const files = [${items}];`,
        'export const USER_STRATEGIES = undefined;',
        'export const loadStrategyFiles = async () => files;',
        'export const findStrategyFile = async (name) => files.find((file) => file.definition.name === name);',
      ];
      return { contents: [...imports, ...exported].join('\n'), loader: 'js', resolveDir: STRATEGIES };
    });
  },
};

async function bundleStrategies(outdir: string): Promise<void> {
  const files = await typescriptFiles(STRATEGIES);
  await esbuild({
    absWorkingDir: ROOT,
    entryPoints: files.map((file) => join('strategies', file)),
    outdir: join(outdir, 'tasks/strategies'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    minify: true,
    logLevel: 'warning',
  });
}

/** A bundle has no ccxt to find: its exchanges are beside it. */
const bundledExchanges: Plugin = {
  name: 'bundled-exchanges',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]adapters[\\/]exchange[\\/]ccxt-files\.ts$/ }, () => ({
      contents: "export const ccxtFile = (key) => new URL('./ccxt/' + key + '.mjs', import.meta.url);",
      loader: 'js',
    }));
  },
};

/** What the exchanges share is split off, so that each file holds little more than its own. */
async function bundleExchanges(outdir: string): Promise<void> {
  const files = (await readdir(join(ROOT, CCXT))).filter((file) => file.endsWith('.js'));
  await esbuild({
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
    // It signs orders of one exchange; no public call reaches it.
    external: ['protobufjs/*'],
    logLevel: 'warning',
    plugins: [namedUndici],
  });
}

/** ccxt imports it when it is first needed, and a bundled CommonJS package has no names then but `default`. */
const namedUndici: Plugin = {
  name: 'named-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'named-undici' }));
    onLoad({ filter: /.*/, namespace: 'named-undici' }, () => ({
      contents: "export { Agent, fetch, ProxyAgent, request } from 'undici/index.js';",
      resolveDir: ROOT,
    }));
  },
};

/** Packages, the SDK's clients first, import their whole package.json for their version: 2 KB each. */
const packageVersions: Plugin = {
  name: 'package-versions',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]package\.json$/ }, async ({ path }) => {
      const { name, version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ name, version }), loader: 'json' };
    });
  },
};

/**
 * The SDK's clients describe every operation of their service in one file, with names of properties that are computed
 * from constants. esbuild cannot know that computing them does nothing else and keeps all: with names in their place it
 * keeps what the bundle calls, 100 KB less for the backend.
 */
const plainSchemas: Plugin = {
  name: 'plain-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /@aws-sdk[\\/].*[\\/]schemas_0\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const names = new Map(
        [...text.matchAll(/^const (\w+) = (".*");$/gm)].map(([, name, value]) => [name, value]),
      );
      return {
        contents: text.replace(/\[(\w+)\]:/g, (whole, name) => `${names.get(name) ?? whole.slice(0, -1)}:`),
      };
    });
  },
};

/**
 * Imported as a module, node:http is asked for each of its names, and those that are getters load undici: 10 ms of
 * processor time at every start. A plain object is asked for nothing.
 */
const plainHttp: Plugin = {
  name: 'plain-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: 'node:http', namespace: 'plain-http' },
    );
    onLoad({ filter: /.*/, namespace: 'plain-http' }, () => ({
      contents: [
        "const http = process.getBuiltinModule('node:http');",
        `export const { ${HTTP_VALUES.join(', ')} } = http;`,
        'export default http;',
      ].join('\n'),
    }));
  },
};

const HTTP_VALUES = Object.entries(Object.getOwnPropertyDescriptors(http))
  .filter(([, descriptor]) => 'value' in descriptor)
  .map(([name]) => name);

/**
 * A function has its credentials in its environment, a task beside its container. The ways in which a person signs in
 * (profiles, SSO, processes) are 100 KB that nothing in AWS takes.
 */
const credentialsOfAws: Plugin = {
  name: 'credentials-of-aws',
  setup({ onLoad }) {
    onLoad({ filter: /credential-provider-node[\\/]dist-es[\\/]defaultProvider\.js$/ }, () => ({
      contents: [
        "import { fromEnv } from '@aws-sdk/credential-provider-env';",
        "import { fromHttp } from '@aws-sdk/credential-provider-http';",
        "import { memoizeChain } from './runtime/memoize-chain';",
        'const SOON = 300_000;',
        'export const credentialsWillNeedRefresh = ({ expiration }) => expiration !== undefined;',
        'export const credentialsTreatedAsExpired = ({ expiration }) => expiration?.getTime() - Date.now() < SOON;',
        'export const defaultProvider = (init = {}) =>',
        '  memoizeChain([fromEnv(init), () => fromHttp(init)()], credentialsTreatedAsExpired);',
      ].join('\n'),
      resolveDir: join(ROOT, 'node_modules/@aws-sdk/credential-provider-node/dist-es'),
    }));
  },
};

/** How everything is bundled. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // The CommonJS builds of the SDK would end in "Dynamic require of node:https is not supported".
  mainFields: ['module', 'main'],
  banner: { js: COMMONJS_NAMES },
  minify: true,
  legalComments: 'linked',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [userStrategies, bundledExchanges, packageVersions, plainSchemas, plainHttp, credentialsOfAws],
} satisfies BuildOptions;

async function entries(folder: string, out: (name: string) => string) {
  const files = await typescriptFiles(join(ROOT, folder));
  return files.map((file) => ({ in: join(folder, file), out: out(file.slice(0, -'.ts'.length)) }));
}

async function typescriptFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.ts'));
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

if (import.meta.main) await build(join(ROOT, 'dist'));
