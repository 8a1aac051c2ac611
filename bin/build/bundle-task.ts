/** Bundles the backtest task of local mode into one file. */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { build as esbuild, type Plugin } from 'esbuild';
import { BUNDLE_OPTIONS, KEPT_PROCESS } from './build.ts';
import {
  nodeModules,
  packageVersions,
  plainSchemas,
  unusedSchemas,
} from './bundle-plugins.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The files of the project that the bundle finds at run time. */
interface Files {
  /** Folder that contains `src`. */
  readonly root: string;
  /** `js` in the package. */
  readonly suffix: 'ts' | 'js';
}

/** Writes `backtest.mjs` into `outdir`. */
export async function bundleTask(outdir: string, files: Files): Promise<void> {
  const addressOf = (path: string) =>
    relative(outdir, join(files.root, relative(ROOT, path)))
      .replaceAll(sep, '/')
      .replace(/ts$/, files.suffix);
  await esbuild({
    ...BUNDLE_OPTIONS,
    entryPoints: ['src/tasks/backtest.ts'],
    inject: [KEPT_PROCESS],
    outdir,
    legalComments: 'none',
    sourcemap: false,
    plugins: [
      nodeModules,
      ownAddresses(addressOf),
      requiredLater(addressOf),
      packageVersions,
      plainSchemas,
      unusedSchemas,
    ],
  });
}

/** Modules keep their own addresses, because they find files next to their own. */
const ownAddresses = (addressOf: (path: string) => string): Plugin => ({
  name: 'own-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/, namespace: 'file' }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const urlOf = (each: string) => `new URL(${JSON.stringify(addressOf(each))}, import.meta.url)`;
      const pathOf = (each: string) => `process.getBuiltinModule('node:url').fileURLToPath(${urlOf(each)})`;
      const contents = text
        .replaceAll('import.meta.url', `${urlOf(path)}.href`)
        .replaceAll('import.meta.filename', pathOf(path))
        .replaceAll('import.meta.dirname', pathOf(dirname(path)));
      return { contents, loader: 'ts' };
    });
  },
});

/** Modules outside of the bundle, loaded when they are needed. An import would load them at the start, which few runs need. */
const requiredLater = (addressOf: (path: string) => string): Plugin => ({
  name: 'required-later',
  setup({ onResolve, onLoad }) {
    const namespace = 'required';
    onResolve({ filter: /.*/, namespace }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
    // Reads its WebAssembly next to its own files.
    onResolve({ filter: /^parquet-wasm$/ }, ({ path }) => ({ path, namespace }));
    // The indicators that a strategy imports and that are restored between its runs are the same modules.
    onResolve({ filter: /^#engine\/indicators\/index\.ts$/ }, ({ importer }) =>
      /[\\/]fresh-strategy\.ts$/.test(importer)
        ? { path: addressOf(join(ROOT, 'src/engine/indicators/index.ts')), namespace }
        : undefined,
    );
  },
});
