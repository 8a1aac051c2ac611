/**
 * The backtest task of `npm start` as one file, made in a process of its own when it is missing: `node bin/build/bundled-task.ts`
 * bundles it. Why: docs/decisions/092-one-file-of-the-local-backtest-task.md.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundBuild, type BuildFolders, type CachedBuild, runBuild } from './cached-build.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Next to the packages: you may delete it at any time. */
const FOLDERS: BuildFolders = { root: ROOT, cache: join(ROOT, 'node_modules/.cache/touchstone/task') };
/** The bundle in the package. */
const BUILT = import.meta.filename.endsWith('.js') ? join(ROOT, 'src/tasks/bundled') : undefined;

const BUILD: CachedBuild = {
  sources: ['src', 'bin', 'package.json', 'package-lock.json'],
  write: async (draft, root) => {
    // esbuild is not installed with the package.
    const { bundleTask } = await import('./bundle-task.ts');
    await bundleTask(draft, { root, suffix: 'ts' });
  },
};

/** Until it is bundled, and where it cannot be, tasks run from their sources: they start later and do the same. */
export class BundledTask {
  readonly #build = new BackgroundBuild(BUILD, FOLDERS, import.meta.filename);
  #file: string | undefined;

  /** Path of the bundle; undefined without one. A later start of another version may have deleted it. */
  readonly file = (): string | undefined =>
    this.#file !== undefined && existsSync(this.#file) ? this.#file : undefined;

  /** Bundles the task if sources have changed. Never rejects; returns the reason of a failure. */
  async open(): Promise<string | undefined> {
    try {
      const folder = BUILT ?? (await this.#build.folder());
      if (folder) this.#file = join(folder, 'backtest.mjs');
      return undefined;
    } catch (error) {
      return this.#build.isStopped ? undefined : (error as Error).message;
    }
  }

  /** Ends what is in progress. */
  async stop(): Promise<void> {
    await this.#build.stop();
  }
}

if (import.meta.main) await runBuild(BUILD, FOLDERS);
