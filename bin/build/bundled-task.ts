/**
 * The backtest task of `npm start` as one file with its code cache, made in processes of their own when they are missing: `node
 * bin/build/bundled-task.ts` bundles it. Why: docs/decisions/092-one-file-of-the-local-backtest-task.md, and 093 there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { codeFile } from '../../src/adapters/code-file.ts';
import { databaseMissing } from '../../src/adapters/local/dynoxide.ts';
import {
  BackgroundBuild,
  BackgroundProgram,
  type BuildFolders,
  type CachedBuild,
  runBuild,
} from './cached-build.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Next to the packages: you may delete it at any time. */
const FOLDERS: BuildFolders = { root: ROOT, cache: join(ROOT, 'node_modules/.cache/touchstone/task') };
/** The bundle in the package. */
const BUILT = import.meta.filename.endsWith('.js') ? join(ROOT, 'src/tasks/bundled') : undefined;
const RECORDER = fileURLToPath(codeFile('./record-code', import.meta.url));

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
  readonly #recorder = new BackgroundProgram(RECORDER);
  #file: string | undefined;

  /** Path of the bundle; undefined without one. A later start of another version may have deleted it. */
  readonly file = (): string | undefined =>
    this.#file !== undefined && existsSync(this.#file) ? this.#file : undefined;

  /**
   * Bundles the task if sources have changed, and records its code cache if this version of Node has none. Never rejects; returns
   * the reason of a failure.
   */
  async open(): Promise<string | undefined> {
    try {
      const folder = BUILT ?? (await this.#build.folder());
      if (!folder) return undefined;
      this.#file = join(folder, 'backtest.mjs');
      const recorded = databaseMissing() || (await hasTaskCode(folder));
      if (!recorded) await this.#recorder.run([folder]);
      return undefined;
    } catch (error) {
      return this.#build.isStopped ? undefined : (error as Error).message;
    }
  }

  /** Ends what is in progress. */
  async stop(): Promise<void> {
    await Promise.all([this.#build.stop(), this.#recorder.stop()]);
  }
}

/** True if tasks load the code cache in a folder. A process with the flags of a task decides, because V8 compares them. */
export async function hasTaskCode(folder: string): Promise<boolean> {
  const args = [...SANDBOX_FLAGS, join(folder, 'backtest.mjs'), '--has-code'];
  const [code] = await once(spawn(process.execPath, args, { env: {}, stdio: 'ignore' }), 'exit');
  return code === 0;
}

if (import.meta.main) await runBuild(BUILD, FOLDERS);
