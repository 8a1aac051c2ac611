/** Bundles the backtest task of local mode into one file. */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Plugin } from 'esbuild';
import { BUNDLE_OPTIONS } from './build.ts';
import {
  packageVersions,
  plainSchemas,
  unusedSchemas,
} from './bundle-plugins.ts';
import { bundleBacktest } from './bundle-program.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The files of the project that the bundle finds at run time. */
interface Files {
  /** Folder that contains `src`. */
  readonly root: string;
  /** `js` in the package. */
  readonly suffix: 'ts' | 'js';
}

/** Writes the task into `outdir`, see {@link bundleBacktest}. */
export async function bundleTask(outdir: string, files: Files): Promise<void> {
  const addressOf = (path: string) =>
    relative(outdir, join(files.root, relative(ROOT, path)))
      .replaceAll(sep, '/')
      .replace(/ts$/, files.suffix);
  await bundleBacktest({
    ...BUNDLE_OPTIONS,
    outdir,
    // Reads its WebAssembly next to its own files.
    external: ['parquet-wasm'],
    legalComments: 'none',
    sourcemap: false,
    plugins: [
      ownAddresses(addressOf),
      sharedWithStrategies(addressOf),
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
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
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

/** The indicators that a strategy imports and that are restored between its runs are the same modules. */
const sharedWithStrategies = (addressOf: (path: string) => string): Plugin => ({
  name: 'shared-with-strategies',
  setup({ onResolve }) {
    onResolve({ filter: /^#engine\/indicators\/index\.ts$/ }, ({ importer }) =>
      /[\\/]fresh-strategy\.ts$/.test(importer)
        ? { path: addressOf(join(ROOT, 'src/engine/indicators/index.ts')), external: true }
        : undefined,
    );
  },
});
