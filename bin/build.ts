/** Bundles every Lambda and task with one esbuild call: `node bin/build.ts` writes dist/. */
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build as esbuild, type Metafile } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** Files that code reads from beside its bundle at run time, not by import. */
const ASSETS: readonly { readonly from: string; readonly to: string }[] = [
  { from: 'src/tasks/Dockerfile', to: 'tasks/Dockerfile' },
];

/**
 * Writes `lambdas/<name>/index.mjs` and `tasks/<name>.mjs` with their source maps under `outdir`, and esbuild's
 * `meta.json` beside them. Each Lambda's folder is its asset; the tasks' folder is the context of their one image.
 */
export async function build(outdir: string): Promise<Metafile> {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const { metafile } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: [
      ...(await entries('lambdas', (name) => `lambdas/${name}/index`)),
      ...(await entries('src/tasks', (name) => `tasks/${name}`)),
    ],
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    // The CommonJS builds of the SDK would end in "Dynamic require of node:https is not supported".
    mainFields: ['module', 'main'],
    minify: true,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  for (const { from, to } of ASSETS) {
    await cp(join(ROOT, from), join(outdir, to), { recursive: true });
  }
  await writeFile(join(outdir, 'meta.json'), JSON.stringify(metafile));
  return metafile;
}

async function entries(folder: string, out: (name: string) => string) {
  const files = (await readdir(join(ROOT, folder))).filter((file) => file.endsWith('.ts'));
  return files.map((file) => ({ in: join(folder, file), out: out(file.slice(0, -'.ts'.length)) }));
}

if (import.meta.main) await build(join(ROOT, 'dist'));
