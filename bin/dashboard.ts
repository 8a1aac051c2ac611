/** The dashboard of `npm start`: built in a process of its own when the cache does not have it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { StaticFiles } from '#runtime/static-files.ts';
import type { DashboardState } from '../src/local/dashboard.ts';
import { builtFolder, WEB_FOLDERS, type WebFolders } from './build-web.ts';

/** Built files in the package, which has no sources to build them from. */
const BUILT = import.meta.filename.endsWith('.js') ? join(import.meta.dirname, '../web') : undefined;
const BUILD = join(import.meta.dirname, 'build-web.ts');
/** A build takes 3 s on a free machine. */
const BUILD_LIMIT_MS = 5 * 60_000;
/** Characters of the build's output that are kept: the error is at its end. */
const MAX_OUTPUT = 4_000;

/** A dashboard that may not be built yet. */
export class Dashboard {
  readonly #folders: WebFolders;
  #state: DashboardState = { status: 'building' };
  #build: ChildProcess | undefined;
  #stopped = false;

  constructor(folders: WebFolders = WEB_FOLDERS) {
    this.#folders = folders;
  }

  readonly state = (): DashboardState => this.#state;

  /** Reads the files, and builds them first if sources have changed. Never rejects: the state says what failed. */
  async open(): Promise<DashboardState> {
    try {
      let { folder, exists } = BUILT ? { folder: BUILT, exists: true } : await builtFolder(this.#folders);
      while (!exists && !this.#stopped) {
        await this.#runBuild();
        ({ folder, exists } = await builtFolder(this.#folders));
      }
      if (exists) this.#state = { status: 'ready', files: await StaticFiles.read(folder) };
    } catch (error) {
      if (!this.#stopped) this.#state = { status: 'failed', reason: (error as Error).message };
    }
    return this.#state;
  }

  /** Ends a build in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const build = this.#build;
    if (build?.kill('SIGKILL')) await once(build, 'exit');
  }

  /** In a process of its own: vite takes 3 s of the processor, in which no service would respond. */
  async #runBuild(): Promise<void> {
    const { root, cache } = this.#folders;
    const build = fork(BUILD, ['--root', root, '--cache', cache], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A debugger of this process must not be opened twice.
      execArgv: [],
      timeout: BUILD_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    this.#build = build;
    let output = '';
    for (const stream of [build.stdout!, build.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT);
      });
    }
    const [code, signal] = (await once(build, 'close')) as [number | null, NodeJS.Signals | null];
    this.#build = undefined;
    if (code === 0) return;
    const ended = signal === 'SIGKILL' ? 'The build was killed' : `The build ended with ${code ?? signal}`;
    throw new Error(stripVTControlCharacters(output).trim() || ended);
  }
}
