/** Bundles a task as a CommonJS program and the file that starts it from its code cache, see src/runtime/code-cache.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build as esbuild, type Metafile } from 'esbuild';
import { nodeModules } from './bundle-plugins.ts';

/** A module's own addresses, in CommonJS. */
const ADDRESSES = {
  'import.meta.url': 'moduleUrl',
  'import.meta.dirname': '__dirname',
  'import.meta.filename': '__filename',
  // The other file starts it.
  'import.meta.main': 'false',
};
/** esbuild writes its own directive behind the banner, where it is none. */
const BANNER =
  "'use strict';const moduleUrl = process.getBuiltinModule('node:url').pathToFileURL(__filename).href;";

/**
 * Replaces the global `process` in a task, also in its packages: strategy code gets another one, see
 * src/adapters/processes/strategy-globals.ts.
 */
export const KEPT_PROCESS = join(import.meta.dirname, 'kept-process.ts');

/**
 * Writes `backtest.cjs`, and `backtest.mjs` that starts it.
 *
 * @param options of esbuild, with `outdir`
 */
export async function bundleBacktest(
  options: BuildOptions & { readonly absWorkingDir: string; readonly outdir: string },
): Promise<Metafile> {
  const plugins = [nodeModules, ...(options.plugins ?? [])];
  const [program, start] = await Promise.all([
    esbuild({
      ...options,
      plugins,
      inject: [KEPT_PROCESS],
      entryPoints: ['src/tasks/backtest.ts'],
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      define: ADDRESSES,
      banner: { js: BANNER },
      metafile: true,
    }),
    esbuild({
      ...options,
      plugins,
      entryPoints: [{ in: 'src/tasks/shared/start-backtest.ts', out: 'backtest' }],
      banner: {},
      metafile: true,
    }),
  ]);
  const text = await readFile(join(options.outdir, 'backtest.cjs'));
  // The code cache reads it as Latin-1.
  if (text.some((byte) => byte > 127))
    throw new Error('backtest.cjs contains characters that are not ASCII.');
  return {
    inputs: { ...program.metafile.inputs, ...start.metafile.inputs },
    outputs: { ...program.metafile.outputs, ...start.metafile.outputs },
  };
}
