/**
 * Bundles strategies for the Lambdas and tasks that load them. As a program it makes deployable bundles of those in the package and of a
 * strategy folder: `node bundle-strategies.js <strategies> <outdir>`.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { LocalStrategies } from '../../src/adapters/definitions/local-strategies.ts';
import { digestStrategyFiles } from '../../src/adapters/strategies/strategy-files.ts';
import { describeBroken } from '../../src/domain/config/find-strategy.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Module next to each bundle that loads strategies. It lists their bundles, which are in the folder `strategies` there. */
export const STRATEGIES_MODULE = 'strategies.mjs';

/** Resolves imports of the engine as a task does, regardless of where the strategy folder is. */
const engineImports: Plugin = {
  name: 'engine-imports',
  setup({ onResolve, resolve: resolveImport }) {
    onResolve({ filter: /^(touchstone\/engine$|#engine\/)/ }, ({ path, kind, importer, pluginData }) => {
      if (pluginData === engineImports) return undefined;
      const target = path === 'touchstone/engine' ? '#engine/index.ts' : path;
      return resolveImport(target, {
        kind,
        importer,
        resolveDir: join(ROOT, 'src'),
        pluginData: engineImports,
      });
    });
  },
};

/**
 * Writes the strategies of a folder next to bundles.
 *
 * @param folders of the bundles, created when absent
 * @throws Error that names a broken strategy file: while loading, it would end every Lambda and task
 */
export async function bundleStrategies(strategies: string, folders: readonly string[]): Promise<void> {
  await checkStrategies(strategies);
  const files = [...(await digestStrategyFiles(strategies))];
  const module = [
    ...files.map(
      ([file], i) => `import strategy${i} from ${JSON.stringify(`./strategies/${bundleOf(file)}`)};`,
    ),
    'export const strategies = [',
    ...files.map(
      ([file, digest], i) =>
        `  { file: ${JSON.stringify(file)}, definition: strategy${i}, digest: ${JSON.stringify(digest)} },`,
    ),
    '];\n',
  ];
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, STRATEGIES_MODULE), module.join('\n'));
    await build({
      absWorkingDir: strategies,
      entryPoints: files.map(([file]) => file),
      outdir: join(folder, 'strategies'),
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      minify: true,
      logLevel: 'warning',
      plugins: [engineImports],
    });
  }
}

const bundleOf = (file: string) => file.replace(/ts$/, 'mjs');

async function checkStrategies(folder: string): Promise<void> {
  const strategies = new LocalStrategies({ folder });
  const { broken } = await strategies.list();
  strategies.close();
  if (broken.length === 0) return;
  throw new Error(broken.map((each) => `Cannot bundle ${describeBroken(each)}`).join('\n'));
}

/** Copies the bundles of the package, and replaces the strategies in the copy. */
async function composeBundles(strategies: string, outdir: string): Promise<void> {
  if (!existsSync(strategies)) throw new Error(`The strategy folder ${strategies} does not exist.`);
  for (const folder of ['lambdas', 'tasks']) {
    await cp(join(ROOT, folder), join(outdir, folder), {
      recursive: true,
      filter: (source) => !/\/strategies(\/|$)/.test(source.slice(ROOT.length)),
    });
  }
  const folders = [join(outdir, 'tasks')];
  for (const name of await readdir(join(outdir, 'lambdas'))) folders.push(join(outdir, 'lambdas', name));
  await bundleStrategies(
    strategies,
    folders.filter((folder) => existsSync(join(folder, STRATEGIES_MODULE))),
  );
}

if (import.meta.main) {
  const [strategies, outdir] = process.argv.slice(2) as [string, string];
  await composeBundles(resolve(strategies), resolve(outdir)).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
