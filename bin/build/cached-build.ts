/** Builds that `npm start` keeps next to the packages, each in a folder named by the digest of its sources. */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join, sep } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';

/** Folder of a project, and the folder of its builds. */
export interface BuildFolders {
  readonly root: string;
  readonly cache: string;
}

/** What is built from which sources. */
export interface CachedBuild {
  /** Files and folders under the root that determine what is built. */
  readonly sources: readonly string[];
  /** Writes the build into the folder `draft`, which exists. */
  readonly write: (draft: string, root: string) => Promise<void>;
}

/** Age after which an older build, or the draft of a build that was killed, is deleted. */
const KEPT_MS = 24 * 3_600_000;
const BUILD_LIMIT_MS = 5 * 60_000;
/** Characters of a build's output that are kept: the error is at its end. */
const MAX_OUTPUT = 4_000;
/** Hash of each built file by its path. A power failure or a full disk may leave a folder that has its name and corrupt files. */
const DIGESTS_FILE = '.digests.json';

/** The folder in the cache for the current sources. `isBuilt`: it has every file as it was built. */
async function builtFolder(
  { sources }: CachedBuild,
  { root, cache }: BuildFolders,
): Promise<{ folder: string; isBuilt: boolean }> {
  const folder = join(cache, await digestOf(root, sources));
  return { folder, isBuilt: await isIntact(folder) };
}

/**
 * Builds the current sources unless the cache has their build intact, and returns its folder. A draft takes its final name when it
 * is complete, so concurrent builds do not disturb each other and a killed one leaves nothing that is used.
 */
export async function buildOnce(build: CachedBuild, folders: BuildFolders): Promise<string> {
  const { root, cache } = folders;
  for (;;) {
    const { folder, isBuilt } = await builtFolder(build, folders);
    if (isBuilt) return folder;
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(join(cache, 'draft-'));
    try {
      await build.write(draft, root);
      // Sources that changed meanwhile are built again: the name must not promise what the files are not.
      if ((await builtFolder(build, folders)).folder === folder) await nameDraft(draft, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    await deleteOld(cache, folder);
  }
}

async function nameDraft(draft: string, folder: string): Promise<void> {
  await writeFile(join(draft, DIGESTS_FILE), JSON.stringify(await digestsOf(draft)));
  try {
    await rename(draft, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // Another process has built the same sources first.
    if (await isIntact(folder)) return;
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  }
}

async function digestsOf(folder: string): Promise<Record<string, string>> {
  const paths = await filesIn(folder, '.');
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, sha256(await readFile(join(folder, path)))] as const)),
  );
}

async function isIntact(folder: string): Promise<boolean> {
  try {
    const digests = JSON.parse(await readFile(join(folder, DIGESTS_FILE), 'utf8')) as Record<string, string>;
    const checked = Object.entries(digests).map(
      async ([path, digest]) => sha256(await readFile(join(folder, path))) === digest,
    );
    return (await Promise.all(checked)).every(Boolean);
  } catch {
    return false;
  }
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function deleteOld(cache: string, current: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const folder = join(cache, name);
    if (folder === current) continue;
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Hash of all sources. Their times say nothing after a checkout, and a deleted file has none. */
async function digestOf(root: string, sources: readonly string[]): Promise<string> {
  const files = (await Promise.all(sources.map((source) => filesIn(root, source)))).flat().sort();
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

/** The current build, made in the background when the cache does not have it. */
export class BackgroundBuild {
  readonly #build: CachedBuild;
  readonly #folders: BuildFolders;
  readonly #program: string;
  #process: ChildProcess | undefined;
  #stopped = false;

  /** @param program file that calls {@link runBuild} for this build */
  constructor(build: CachedBuild, folders: BuildFolders, program: string) {
    this.#build = build;
    this.#folders = folders;
    this.#program = program;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /**
   * The folder of the current build; undefined after `stop`.
   * @throws Error with the output of a failed build
   */
  async folder(): Promise<string | undefined> {
    let { folder, isBuilt } = await builtFolder(this.#build, this.#folders);
    while (!isBuilt && !this.#stopped) {
      await this.#run();
      ({ folder, isBuilt } = await builtFolder(this.#build, this.#folders));
    }
    return isBuilt ? folder : undefined;
  }

  /** Ends a build in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const running = this.#process;
    if (running?.kill('SIGKILL')) await once(running, 'exit');
  }

  /** In a process of its own: a build takes seconds of the processor, in which no service would respond. */
  async #run(): Promise<void> {
    const { root, cache } = this.#folders;
    const running = fork(this.#program, ['--root', root, '--cache', cache], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A debugger of this process must not be opened twice.
      execArgv: [],
      timeout: BUILD_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    this.#process = running;
    let output = '';
    for (const stream of [running.stdout!, running.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT);
      });
    }
    const [code, signal] = (await once(running, 'close')) as [number | null, NodeJS.Signals | null];
    this.#process = undefined;
    if (code === 0) return;
    const ended = signal === 'SIGKILL' ? 'The build was killed' : `The build ended with ${code ?? signal}`;
    throw new Error(stripVTControlCharacters(output).trim() || ended);
  }
}

/** The program of a build, started by {@link BackgroundBuild} or by a user. Prints the folder and exits. */
export async function runBuild(build: CachedBuild, defaults: BuildFolders): Promise<void> {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', default: defaults.root },
      cache: { type: 'string', default: defaults.cache },
    },
  });
  // The services of the platform that waits come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  if (process.connected) {
    // The platform that started this process has ended.
    process.once('disconnect', () => process.exit(1));
    // Ctrl-C reaches all processes of a terminal; the platform stops this one.
    process.on('SIGINT', () => {});
  }
  try {
    console.log(await buildOnce(build, values));
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
