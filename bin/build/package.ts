/**
 * Builds what `npm pack` packs: `npm run package`. `dist` mirrors the repository, with JavaScript instead of TypeScript, because Node
 * strips no types of installed packages. docs/decisions/067 describes the layout.
 */
import { spawnSync } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build as esbuild, type Plugin } from 'esbuild';
import { buildAll, SWAGGER_UI } from './build.ts';
import { bundleTask } from './bundle-task.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
/** Programs and modules that are started or imported by name. Everything that they import is compiled too. */
const ENTRIES = [
  'bin/touchstone.ts',
  'bin/build/bundle-strategies.ts',
  'lib/index.ts',
  'src/client/index.ts',
  'src/engine/index.ts',
  'src/testing/index.ts',
  'src/adapters/definitions/child.ts',
  'src/adapters/definitions/strategy-check-child.ts',
  'src/adapters/definitions/strip-types.ts',
  'src/adapters/processes/strategy-rules.ts',
  'src/adapters/import/import-process.ts',
  'src/adapters/import/read-process.ts',
];
/** Folders of which every module is compiled: strategies import any file of the engine, and tasks are started by name. */
const FOLDERS = ['src/engine', 'src/tasks'];
const COPIED = ['statemachines', 'templates', 'cdk.json'];

const ESBUILD = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outdir: DIST,
  outbase: ROOT,
  logLevel: 'warning',
} as const;

async function main(): Promise<void> {
  await buildAll(DIST);
  const sources = await sourcesOf([...ENTRIES, ...(await filesIn(FOLDERS))]);
  await esbuild({ ...ESBUILD, entryPoints: sources, plugins: [exchangesOfTasks, perFile] });
  await bundleTask(join(DIST, 'src/tasks/bundled'), { root: DIST, suffix: 'js' });
  emitTypes();
  for (const path of COPIED) await cp(join(ROOT, path), join(DIST, path), { recursive: true });
  for (const file of SWAGGER_UI) {
    await cp(join(DIST, 'tasks/swagger-ui', file), join(DIST, 'src/runtime/swagger-ui', file));
  }
  await writeManifest();
}

async function filesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(join(ROOT, folder), { recursive: true });
      return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
    }),
  );
  return found.flat();
}

/** The entries and every source that they import, at their start or later. */
async function sourcesOf(entryPoints: readonly string[]): Promise<string[]> {
  const { metafile } = await esbuild({
    ...ESBUILD,
    entryPoints: [...entryPoints],
    write: false,
    metafile: true,
    splitting: true,
    packages: 'external',
    plugins: [projectImports],
  });
  return Object.keys(metafile.inputs).filter((path) => path.endsWith('.ts'));
}

/** Aliases of the project are its own files, not packages. */
const projectImports: Plugin = {
  name: 'project-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^#/ }, async ({ path }) => {
      const { imports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      const [alias, target] = Object.entries<string>(imports).find(([key]) =>
        path.startsWith(key.slice(0, -1)),
      )!;
      return { path: join(ROOT, path.replace(alias.slice(0, -1), target.slice(0, -1))) };
    });
  },
};

/** Keeps every import, and names the JavaScript of relative ones. Aliases are mapped by the manifest in `dist`. */
const perFile: Plugin = {
  name: 'per-file',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ kind, path }) => {
      if (kind === 'entry-point') return undefined;
      return { path: path.startsWith('.') ? path.replace(/\.ts$/, '.js') : path, external: true };
    });
  },
};

/** The exchanges are bundled next to the tasks, so nobody needs the package ccxt. */
const exchangesOfTasks: Plugin = {
  name: 'exchanges-of-tasks',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]adapters[\\/]exchange[\\/]ccxt-files\.ts$/ }, () => ({
      contents:
        "export const ccxtFile = (key) => new URL('../../../tasks/ccxt/' + key + '.mjs', import.meta.url);",
      loader: 'js',
    }));
  },
};

function emitTypes(): void {
  const { status, stdout, error } = spawnSync('tsc', ['-p', 'tsconfig.package.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The types could not be emitted: ${error?.message ?? stdout}`);
}

/** Node and TypeScript read it for every file in `dist`, instead of the manifest of the package. */
async function writeManifest(): Promise<void> {
  const { name, version, type, imports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const compiled = Object.entries<string>(imports).map(([alias, target]) => [
    `${alias}.ts`,
    { types: `${target}.d.ts`, default: `${target}.js` },
  ]);
  const manifest = { name, version, private: true, type, imports: Object.fromEntries(compiled) };
  await writeFile(join(DIST, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

await main();
