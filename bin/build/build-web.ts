/** Builds the dashboard with vite: `node bin/build/build-web.ts` puts it into the cache that `npm start` serves. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildFolders, buildOnce, type CachedBuild, runBuild } from './cached-build.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Next to the packages: you may delete it at any time. */
export const WEB_FOLDERS: BuildFolders = {
  root: ROOT,
  cache: join(ROOT, 'node_modules/.cache/touchstone/web'),
};

export const WEB_BUILD: CachedBuild = {
  /** Sources, the tables they are made from, versions of the packages. */
  sources: [
    'web',
    'src/contract',
    'src/engine/metrics',
    'src/engine/walk-forward/objectives.ts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ],
  write: async (draft, root) => {
    const build = await loadVite(root);
    await build({
      root: join(root, 'web'),
      configFile: join(root, 'web/vite.config.ts'),
      // Node reads TypeScript. The default writes a bundle of the configuration next to the packages first.
      configLoader: 'native',
      mode: 'production',
      logLevel: 'warn',
      build: { outDir: draft, emptyOutDir: true },
    });
  },
};

/**
 * Builds the dashboard of the current sources unless the cache has it, and returns its folder.
 * @throws Error with vite's message, or one that says that vite is not installed
 */
export const buildWeb = (folders: BuildFolders = WEB_FOLDERS): Promise<string> =>
  buildOnce(WEB_BUILD, folders);

/** Loads vite, a development package that takes 300 ms to load. */
async function loadVite(root: string): Promise<typeof import('vite').build> {
  try {
    const file = createRequire(join(root, 'package.json')).resolve('vite');
    return (await import(pathToFileURL(file).href)).build;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new Error(
      'The dashboard is not built, and vite, which builds it, is not installed. Run npm ci without --omit=dev, ' +
        'or run npm run build before npm prune --omit=dev',
      { cause },
    );
  }
}

if (import.meta.main) {
  // React's development build is three times as large.
  process.env.NODE_ENV = 'production';
  await runBuild(WEB_BUILD, WEB_FOLDERS);
}
