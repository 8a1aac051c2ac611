/**
 * Changes to what esbuild bundles. Without the first two the bundles do not work. The others make them smaller and
 * faster to load; the sizes compare a minified bundle with one that is built without the plugin.
 */
import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Metafile, Plugin } from 'esbuild';
import type { Operation } from '../../src/contract/values/operation.ts';
import { OPERATION_GROUPS } from '../../src/contract/operations/operations.ts';
import { STRATEGIES_MODULE } from './bundle-strategies.ts';

const ROOT = join(import.meta.dirname, '../..');
const OPERATIONS_FOLDER = join(ROOT, 'src/contract/operations');
const GLOBAL_STATE = join(ROOT, 'src/adapters/global-state.ts');
const IMPORT_MODULE = join(ROOT, 'src/adapters/strategies/import-module.ts');

/** Files that each plugin of the Lambdas and tasks changes, by the plugin's name. */
const FILES = {
  'user-strategies': /[\\/]src[\\/]adapters[\\/]strategies[\\/]strategy-files\.ts$/,
  'lazy-rows': /[\\/]src[\\/]contract[\\/]operations[\\/]routes\.ts$/,
  'bundled-exchanges': /[\\/]src[\\/]adapters[\\/]exchange[\\/]ccxt-files\.ts$/,
  'package-versions': /[\\/]package\.json$/,
  'plain-schemas': /@aws-sdk[\\/].*[\\/]schemas_0\.js$/,
  'credentials-of-aws': /credential-provider-node[\\/]dist-es[\\/]defaultProvider\.js$/,
  'unused-schemas': /[\\/]src[\\/](contract|adapters)[\\/].*\.ts$/,
  'lazy-https': /node-http-handler[\\/]dist-es[\\/]node-http-handler\.js$/,
  'node-streams':
    /[\\/](createChecksumStream\.browser|stream-type-check|isStreamingPayload[\\/]isStreamingPayload)\.js$/,
  'node-uuid': /serde[\\/]uuid[\\/]v4\.js$/,
} as const;

/** The same of the plugin of the exchanges. Its module is an input only if ccxt still imports `undici`. */
export const EXCHANGE_FILES = { 'named-undici': /^\/named-undici:undici$/ } as const;

/** @throws Error that names each plugin without a matching file: after a rename its change would be missing in the bundles */
export function checkMatches(
  { inputs }: Pick<Metafile, 'inputs'>,
  files: Readonly<Record<string, RegExp>> = FILES,
): void {
  const unmatched = Object.entries(files).filter(
    ([, filter]) => !Object.keys(inputs).some((path) => filter.test(`/${path}`)),
  );
  if (unmatched.length === 0) return;
  const names = unmatched.map(([name, filter]) => `${name} (${filter.source})`);
  throw new Error(
    `No bundled file matches the plugin ${names.join(', ')}. Update its filter in bin/build/bundle-plugins.ts to the new path, or remove the plugin.`,
  );
}

/**
 * Replaces the reader of the strategies folder, which a bundle does not have, by the module next to it that bundle-strategies.ts
 * writes. Each file has a bundle of its own: a look-ahead analysis evaluates it again for each run.
 */
export const userStrategies: Plugin = {
  name: 'user-strategies',
  setup({ onResolve, onLoad }) {
    const module = `./${STRATEGIES_MODULE}`;
    onResolve({ filter: /^\.\/strategies\.mjs$/ }, () => ({ path: module, external: true }));
    onLoad({ filter: FILES['user-strategies'] }, () => {
      const contents = [
        `import { shareGlobals } from ${JSON.stringify(GLOBAL_STATE)};`,
        `import { importModule } from ${JSON.stringify(IMPORT_MODULE)};`,
        'let runs = 0;',
        "const address = (file) => './strategies/' + file.replace(/ts$/, 'mjs?run=') + ++runs;",
        'const load = (file) => importModule(new URL(address(file), import.meta.url).href);',
        'let globals;',
        'const share = () => (globals ??= shareGlobals());',
        'const fresh = (file) => async () => (share().restore(file), (await load(file)).default);',
        'export const USER_STRATEGIES = undefined;',
        `export const loadStrategyFiles = async () => (await import(${JSON.stringify(module)})).strategies;`,
        // Only tasks run strategies, and each finds its own before the first run. To read all globals takes Lambdas 17 ms.
        'export const findStrategyFile = async (name) => {',
        '  share();',
        '  const found = (await loadStrategyFiles()).find(({ definition }) => definition.name === name);',
        '  return found && { ...found, load: fresh(found.file), replaced: () => share().replaced() };',
        '};',
      ];
      return { contents: contents.join('\n'), loader: 'js', resolveDir: ROOT };
    });
  },
};

/**
 * Replaces the routes of all rows by their fields without schemas. The file of a row, with its schemas, is imported at its first
 * request. Building the schemas of all rows takes as long as loading DynamoDB's client.
 */
export const lazyRows: Plugin = {
  name: 'lazy-rows',
  setup({ onLoad }) {
    onLoad({ filter: FILES['lazy-rows'] }, async ({ path }) => {
      const sources = await rowSources();
      const groups: Readonly<Record<string, readonly Operation[]>> = OPERATION_GROUPS;
      const rows = Object.entries(groups).flatMap(([group, operations]) =>
        operations.map((row) => {
          const { params, query, body, success, errors, tag, summary, description, integration, ...route } =
            row;
          const { file, exported } = sources.get(row.id)!;
          const of = integration && { integration: { function: integration.function } };
          const fields = JSON.stringify({ ...route, group, ...of });
          return `row(${fields}, async () => (await import('./${file}')).${exported})`;
        }),
      );
      const contents = [
        'const row = (fields, file) => ({ ...fields, load: async () => (await file()).find(({ id }) => id === fields.id) });',
        `const routes = [${rows.join(',\n')}];`,
        'export const routesOf = (service) => routes.filter((route) => route.service === service);',
      ];
      return { contents: contents.join('\n'), loader: 'js', resolveDir: dirname(path) };
    });
  },
};

/**
 * Makes each module that is imported at run time depend on the entry point, which is loaded by then. esbuild otherwise splits what
 * the entry loads into a file for each set of such imports that share it: 35 files of the backend, which take a fifth longer
 * to load than two.
 */
export const oneStart = (entry: string): Plugin => ({
  name: 'one-start',
  setup({ onResolve, onLoad, resolve }) {
    const namespace = 'run-time';
    onResolve({ filter: /.*/ }, async ({ kind, path, importer, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const resolved = await resolve(path, { kind: 'import-statement', importer, resolveDir });
      return resolved.external ? resolved : { errors: resolved.errors, path: resolved.path, namespace };
    });
    onLoad({ filter: /.*/, namespace }, async ({ path }) => {
      const module = JSON.stringify(path);
      const hasDefault = /\bexport default\b/.test(await readFile(path, 'utf8'));
      const exported = [`import ${JSON.stringify(entry)};`, `export * from ${module};`];
      return {
        contents: [...exported, ...(hasDefault ? [`export { default } from ${module};`] : [])].join('\n'),
        resolveDir: ROOT,
      };
    });
  },
});

/** File and export of each row, by its ID. Rows that another file includes are taken from their own, which has fewer. */
async function rowSources(): Promise<Map<string, { readonly file: string; readonly exported: string }>> {
  const found: { rows: readonly Operation[]; file: string; exported: string }[] = [];
  for (const file of await readdir(OPERATIONS_FOLDER)) {
    const module: Readonly<Record<string, readonly Operation[]>> = await import(
      pathToFileURL(join(OPERATIONS_FOLDER, file)).href
    );
    for (const [exported, rows] of Object.entries(module)) {
      if (exported.endsWith('_OPERATIONS')) found.push({ rows, file, exported });
    }
  }
  found.sort((a, b) => b.rows.length - a.rows.length);
  return new Map(found.flatMap(({ rows, ...source }) => rows.map(({ id }) => [id, source])));
}

/**
 * Takes Node's own modules as objects. An import makes Node read each of their exports, which loads what they load on demand: undici
 * with HTTP/2 for `node:http`, streams for `node:fs`. A task starts with 40 ms less processor time. esbuild's import reads the own
 * properties of an object: a module is the prototype of that object, unless it is a function or emits events.
 */
export const nodeModules: Plugin = {
  name: 'node-modules',
  setup({ onResolve, onLoad }) {
    const namespace = 'node';
    onResolve({ filter: /^[a-z]/ }, ({ kind, path }) =>
      isBuiltin(path) && (kind === 'import-statement' || kind === 'dynamic-import')
        ? { path: path.replace(/^(node:)?/, 'node:'), namespace }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: [
        `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`,
        "module.exports = typeof builtin === 'function' || builtin === process ? builtin : Object.create(builtin);",
      ].join('\n'),
    }));
  },
};

/** Resolves exchanges to the files next to the bundle, because a bundle has no package ccxt. */
export const bundledExchanges: Plugin = {
  name: 'bundled-exchanges',
  setup({ onLoad }) {
    onLoad({ filter: FILES['bundled-exchanges'] }, () => ({
      contents: "export const ccxtFile = (key) => new URL('./ccxt/' + key + '.mjs', import.meta.url);",
      loader: 'js',
    }));
  },
};

/** Adds undici's named exports, which ccxt reads: a dynamic import of a bundled CommonJS package has only `default`. */
export const namedUndici: Plugin = {
  name: 'named-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'named-undici' }));
    onLoad({ filter: /.*/, namespace: 'named-undici' }, () => ({
      contents: "export { Agent, fetch, ProxyAgent, request } from 'undici/index.js';",
      resolveDir: ROOT,
    }));
  },
};

/**
 * Reduces each package.json that a package imports for its version to name and version. Saves 15 KB of the backend and
 * strategy Lambdas, 2 to 7 KB of the other bundles.
 */
export const packageVersions: Plugin = {
  name: 'package-versions',
  setup({ onLoad }) {
    onLoad({ filter: FILES['package-versions'] }, async ({ path }) => {
      const { name, version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ name, version }), loader: 'json' };
    });
  },
};

/**
 * Replaces computed property names by constant ones in the operation schemas of SDK clients. esbuild assumes side effects of
 * computed names, so it would keep the schemas of operations that the bundle never calls. Saves 101 KB of the backend, 64 KB of
 * the strategy Lambda, 55 KB of each task.
 */
export const plainSchemas: Plugin = {
  name: 'plain-schemas',
  setup({ onLoad }) {
    onLoad({ filter: FILES['plain-schemas'] }, async ({ path }) => {
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
 * Keeps two credential providers: the environment (Lambda) and the container endpoint (ECS). Profiles, SSO and credential
 * processes are for interactive use. Saves 102 to 125 KB of each bundle that calls AWS.
 */
export const credentialsOfAws: Plugin = {
  name: 'credentials-of-aws',
  setup({ onLoad }) {
    onLoad({ filter: FILES['credentials-of-aws'] }, () => ({
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

/** A constant at the top of a formatted file: from its name to the last line before the next unindented one. */
const CONSTANT =
  /^((?:export )?const \w+(?:: [^=\n]+)? = )(?!async |\(|\w+ => )(.*?);$(?=\n*(?:[^\s})\]]|$(?![\s\S])))/gms;

/**
 * Leaves out zod schemas that a bundle never uses. esbuild keeps calls at the top of a module, because they may have side effects;
 * building a schema has none.
 */
export const unusedSchemas: Plugin = {
  name: 'unused-schemas',
  setup({ onLoad }) {
    onLoad({ filter: FILES['unused-schemas'] }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes("from 'zod'")) return undefined;
      const contents = text.replace(
        CONSTANT,
        (_, name, value) => `${name}/* @__PURE__ */ (() => (${value}))();`,
      );
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Loads `node:https` at the first request to an `https:` address, not with the module. The database of local mode is on `http:`.
 */
export const lazyHttps: Plugin = {
  name: 'lazy-https',
  setup({ onLoad }) {
    onLoad({ filter: FILES['lazy-https'] }, async ({ path }) => {
      const changes = [
        [
          'import { node_https } from "./node-https";',
          "const node_https = { get Agent() { return process.getBuiltinModule('node:https').Agent; }, get request() { return process.getBuiltinModule('node:https').request; } };",
        ],
        ['httpsAgent: (() => {', 'httpsAgentProvider: () => {'],
        ['})(),\n            logger,', '},\n            logger,'],
        [
          'if (!isSSL && ',
          'if (isSSL) config.httpsAgent ??= config.httpsAgentProvider();\n        if (!isSSL && ',
        ],
      ] as const;
      return { contents: changed(path, await readFile(path, 'utf8'), changes) };
    });
  },
};

/**
 * Recognizes web streams by their name, and leaves out their checksums: responses in Node are other streams. The global
 * `ReadableStream` loads all of the web streams.
 */
export const nodeStreams: Plugin = {
  name: 'node-streams',
  setup({ onLoad }) {
    const contents: Readonly<Record<string, string>> = {
      'createChecksumStream.browser.js':
        "export const createChecksumStream = () => { throw new Error('This bundle cannot check web streams.'); };",
      'stream-type-check.js': [
        "export const isReadableStream = (stream) => stream?.constructor?.name === 'ReadableStream';",
        "export const isBlob = (blob) => blob?.constructor?.name === 'Blob';",
      ].join('\n'),
      'isStreamingPayload.js': [
        "import { Readable } from 'node:stream';",
        "import { isReadableStream } from '@smithy/core/serde';",
        'export const isStreamingPayload = ({ body }) => body instanceof Readable || isReadableStream(body);',
      ].join('\n'),
    };
    onLoad({ filter: FILES['node-streams'] }, ({ path }) => ({
      contents: contents[basename(path)],
      resolveDir: dirname(path),
    }));
  },
};

/** Takes random IDs from `node:crypto`: the global `crypto` loads all of Web Crypto. */
export const nodeUuid: Plugin = {
  name: 'node-uuid',
  setup({ onLoad }) {
    onLoad({ filter: FILES['node-uuid'] }, () => ({
      contents: [
        "import crypto from 'node:crypto';",
        'export const bindV4 = () => () => crypto.randomUUID();',
      ].join('\n'),
    }));
  },
};

/** @throws Error that names the file when a text to replace is not in it */
function changed(path: string, text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((result, [from, to]) => {
    if (!result.includes(from))
      throw new Error(`${path} no longer contains "${from}". Update its plugin in bin/build/bundle-plugins.ts.`);
    return result.replace(from, () => to);
  }, text);
}
