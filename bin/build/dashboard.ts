/** The dashboard of `npm start`: built in a process of its own when the cache does not have it. */
import { join } from 'node:path';
import { StaticFiles } from '#runtime/static-files.ts';
import type { DashboardState } from '../../src/local/dashboard.ts';
import { WEB_BUILD, WEB_FOLDERS } from './build-web.ts';
import { BackgroundBuild, type BuildFolders } from './cached-build.ts';

/** Built files in the package, which has no sources to build them from. */
const BUILT = import.meta.filename.endsWith('.js') ? join(import.meta.dirname, '../../web') : undefined;
const PROGRAM = join(import.meta.dirname, 'build-web.ts');

/** A dashboard that may not be built yet. */
export class Dashboard {
  readonly #build: BackgroundBuild;
  #state: DashboardState = { status: 'building' };

  constructor(folders: BuildFolders = WEB_FOLDERS) {
    this.#build = new BackgroundBuild(WEB_BUILD, folders, PROGRAM);
  }

  readonly state = (): DashboardState => this.#state;

  /** Reads the files, and builds them first if sources have changed. Never rejects: the state says what failed. */
  async open(): Promise<DashboardState> {
    try {
      const folder = BUILT ?? (await this.#build.folder());
      if (folder) this.#state = { status: 'ready', files: await StaticFiles.read(folder) };
    } catch (error) {
      if (!this.#build.isStopped) this.#state = { status: 'failed', reason: (error as Error).message };
    }
    return this.#state;
  }

  /** Ends a build in progress. */
  async stop(): Promise<void> {
    await this.#build.stop();
  }
}
