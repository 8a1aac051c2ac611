/** Builds the dashboard with vite: `node bin/build-web.ts` puts it into the cache that `npm start` serves. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** Folders of a project and of its built dashboards. */
export interface WebFolders {
  readonly root: string;
  readonly cache: string;
}

const ROOT = join(import.meta.dirname, '..');
/** Next to the packages: you may delete it at any time. */
export const WEB_FOLDERS: WebFolders = {
  root: ROOT,
  cache: join(ROOT, 'node_modules/.cache/touchstone/web'),
};

/** Everything that determines the built files: sources, the tables they are made from, versions of the packages. */
const SOURCES = [
  'web',
  'src/contract',
  'src/engine/metrics',
  'src/engine/walk-forward/objectives.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
/** Age after which an older build, or the draft of a build that was killed, is deleted. */
const KEPT_MS = 24 * 3_600_000;

/** The folder in the cache for the current sources. It is complete if it exists. */
export async function builtFolder({ root, cache }: WebFolders): Promise<{ folder: string; exists: boolean }> {
  const folder = join(cache, await digestOf(root));
  return { folder, exists: existsSync(folder) };
}

/**
 * Builds the dashboard of the current sources unless the cache has it, and returns its folder. A draft takes its final name
 * when it is complete, so concurrent builds do not disturb each other and a killed one leaves nothing that is served.
 *
 * @throws Error with vite's message, or one that says that vite is not installed
 */
export async function buildWeb(folders: WebFolders = WEB_FOLDERS): Promise<string> {
  const { root, cache } = folders;
  for (;;) {
    const { folder, exists } = await builtFolder(folders);
    if (exists) return folder;
    const build = await loadVite(root);
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(join(cache, 'draft-'));
    try {
      await build({
        root: join(root, 'web'),
        configFile: join(root, 'web/vite.config.ts'),
        // Node reads TypeScript. The default writes a bundle of the configuration next to the packages first.
        configLoader: 'native',
        mode: 'production',
        logLevel: 'warn',
        build: { outDir: draft, emptyOutDir: true },
      });
      // Sources that changed meanwhile are built again: the name must not promise what the files are not.
      if ((await builtFolder(folders)).folder === folder) await nameDraft(draft, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    await deleteOld(cache, folder);
  }
}

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

async function nameDraft(draft: string, folder: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (error) {
    // Another process has built the same sources first.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function deleteOld(cache: string, current: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const folder = join(cache, name);
    if (folder === current) continue;
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Hash of all sources. Their times say nothing after a checkout, and a deleted file has none. */
async function digestOf(root: string): Promise<string> {
  const files = (await Promise.all(SOURCES.map((source) => filesIn(root, source)))).flat().sort();
  const hash = createHash('sha256');
  // An editor may replace a file while it is read; it then has another hash next time.
  const contents = await Promise.all(
    files.map((file) => readFile(join(root, file)).catch(() => Buffer.of())),
  );
  for (const [index, file] of files.entries()) {
    hash.update(`${file.replaceAll(sep, '/')}\0${contents[index]!.length}\0`).update(contents[index]!);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Files of a source, relative to the root. Skips names that begin with a dot: files of editors. */
async function filesIn(root: string, source: string): Promise<string[]> {
  const entries = await readdir(join(root, source), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR') return null;
      throw error;
    },
  );
  if (!entries) return [source];
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
}

/** The build process of a start, or of a user. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', default: WEB_FOLDERS.root },
      cache: { type: 'string', default: WEB_FOLDERS.cache },
    },
  });
  // React's development build is three times as large.
  process.env.NODE_ENV = 'production';
  // The services of the platform that waits come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  if (process.connected) {
    // The platform that started this process has ended.
    process.once('disconnect', () => process.exit(1));
    // Ctrl-C reaches all processes of a terminal; the platform stops this one.
    process.on('SIGINT', () => {});
  }
  try {
    console.log(await buildWeb(values));
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

if (import.meta.main) await main();
