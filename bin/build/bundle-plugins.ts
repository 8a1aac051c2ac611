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

const ROOT = join(import.meta.dirname, '../..');
const OPERATIONS_FOLDER = join(ROOT, 'src/contract/operations');

/** Files that each plugin of the Lambdas and tasks changes, by the plugin's name. */
const FILES = {
  'user-strategies': /[\\/]src[\\/]adapters[\\/]strategies[\\/]strategy-files\.ts$/,
  'lazy-rows': /[\\/]src[\\/]runtime[\\/]routes\.ts$/,
  'bundled-exchanges': /[\\/]src[\\/]adapters[\\/]exchange[\\/]ccxt-files\.ts$/,
  'package-versions': /[\\/]package\.json$/,
  'plain-schemas': /@aws-sdk[\\/].*[\\/]schemas_0\.js$/,
  'credentials-of-aws': /credential-provider-node[\\/]dist-es[\\/]defaultProvider\.js$/,
  'unused-schemas': /[\\/]src[\\/](contract|adapters)[\\/].*\.ts$/,
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

/** Puts a module in the place of another one, whose imports it shares. */
const replacing = (name: keyof typeof FILES, replacement: string, more: Partial<Plugin> = {}): Plugin => ({
  name,
  setup: (build) => {
    const path = join(ROOT, replacement);
    build.onLoad({ filter: FILES[name] }, async () => ({
      contents: await readFile(path, 'utf8'),
      loader: 'ts',
      resolveDir: dirname(path),
    }));
    return more.setup?.(build);
  },
});

/** A bundle has no strategies folder, but a module next to it that lists the strategies of the build. */
export const userStrategies: Plugin = replacing(
  'user-strategies',
  'src/adapters/strategies/bundled-strategy-files.ts',
  {
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\.\/strategies\.mjs$/ }, ({ path }) => ({ path, external: true }));
    },
  },
);

/** The routes of a bundle have no schemas: each row is loaded at its first request. */
export const lazyRows: Plugin = replacing('lazy-rows', 'src/runtime/bundled-routes.ts', {
  setup: ({ onResolve, onLoad }) => {
    const namespace = 'route-rows';
    onResolve({ filter: /^\.\/route-rows\.mjs$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, async () => ({
      contents: `export const ROUTE_ROWS = [${(await routeRows()).join(',\n')}];`,
      resolveDir: OPERATIONS_FOLDER,
    }));
  },
});

/** Each row of the table without its schemas, as source text; see route-rows.d.mts. */
async function routeRows(): Promise<string[]> {
  const sources = await rowSources();
  const groups: Readonly<Record<string, readonly Operation[]>> = OPERATION_GROUPS;
  return Object.entries(groups).flatMap(([group, operations]) =>
    operations.map((row) => {
      const { params, query, body, success, errors, tag, summary, description, integration, ...fields } = row;
      const { file, exported } = sources.get(row.id)!;
      const of = integration && { integration: { function: integration.function } };
      const route = JSON.stringify({ ...fields, group, ...of });
      return `{ route: ${route}, file: () => import('./${file}'), exported: '${exported}' }`;
    }),
  );
}

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

/** A bundle has the files of the exchanges next to it, but no package ccxt. */
export const bundledExchanges: Plugin = replacing(
  'bundled-exchanges',
  'src/adapters/exchange/bundled-ccxt-files.ts',
);

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
