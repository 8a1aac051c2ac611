import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { strippedSources } from './stripped-file.ts';

/** Folder in which this process keeps what Node compiled; its tasks use it too and load faster. Undefined: it keeps nothing. */
export function compileCache(): string | undefined {
  // Node adds a folder of its own for each of its versions.
  const directory = getCompileCacheDir();
  return directory && dirname(directory);
}

/** Permissions of a process that runs strategy code, in addition to computing and the network. */
export interface SandboxGrants {
  /** Existing files and folders that it may read, in addition to the code of this project. */
  readonly read?: readonly string[];
  /** Files and folders that exist, to be read and written. */
  readonly write?: readonly string[];
  /** Folder of strategy files, to be read: code in it may import `#engine/*` and other files in it, nothing else. */
  readonly strategies?: string | undefined;
}

/** Node's permission model does not know what SQLite opens, and SIGUSR1 would open a debugger's port. */
const CLOSED = ['--permission', '--no-experimental-sqlite', '--disable-sigusr1', '--no-addons'];

/**
 * Arguments of Node, to precede the file to run, for a process that may read the project's code and `grants`, and write
 * what `grants` says: no other file, no process or thread of its own, no native addon, no debugger. The network stays open.
 * Give the process an environment that holds what it needs alone: see docs/security.md.
 *
 * Permission goes by the path that is asked for, so a link in a granted folder leads out of it: grant folders without links.
 *
 * @param compiled folder of Node's compile cache; strategies are loaded from the {@link strippedSources} next to it
 * @throws Error when a granted file does not exist
 */
export function sandboxArguments(
  { read = [], write = [], strategies }: SandboxGrants,
  compiled?: string,
): string[] {
  const folder = strategies && realpathSync(strategies);
  const stripped = folder && compiled ? existing(strippedSources(compiled)) : [];
  const readable = [...CODE, ...read, ...write, ...(folder ? [folder] : []), ...stripped].map((path) =>
    realpathSync(path),
  );
  return [
    ...CLOSED,
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${realpathSync(path)}`),
    ...(folder ? ['--import', rulesFor(folder, stripped[0])] : []),
  ];
}

/** Arguments and environment of a sandboxed process, and its temporary folder. */
export interface Sandbox {
  /** Arguments of Node, to precede the file to run. */
  readonly args: readonly string[];
  /** Part of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Removes the folder; to be called once the process has ended. */
  remove(): Promise<void>;
}

/**
 * A sandbox with a folder of its own for temporary files, `folder`, which is made. What Node compiled is read from
 * `compiled` and kept there until the first file of the strategies' folder is loaded, see strategy-rules.ts: the process
 * reaches it by a link in its own folder, which is removed then. Errors as of {@link sandboxArguments}.
 *
 * @param compiled folder of Node's compile cache; absent: none is used
 */
export function openSandbox(folder: string, grants: SandboxGrants, compiled?: string): Sandbox {
  const own = made(folder);
  const link = join(own, 'compiled');
  if (compiled) {
    mkdirSync(compiled, { recursive: true });
    symlinkSync(compiled, link);
  }
  return {
    args: sandboxArguments({ ...grants, write: [...(grants.write ?? []), own] }, compiled),
    environment: { TMPDIR: own, ...(compiled && { NODE_COMPILE_CACHE: link }) },
    remove: () => removed(own),
  };
}

/** The temporary folder of an unrestricted process, which runs no strategy code. */
export function openFolder(folder: string, compiled?: string): Sandbox {
  const own = made(folder);
  return {
    args: ['--disable-sigusr1'],
    environment: { TMPDIR: own, ...(compiled && { NODE_COMPILE_CACHE: compiled }) },
    remove: () => removed(own),
  };
}

const existing = (path: string): string[] => (existsSync(path) ? [realpathSync(path)] : []);

function made(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

const removed = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 3 });

/** The code of this project: its sources and packages, or the folder of bundles that holds this one. Data may lie beside. */
const CODE = import.meta.filename.endsWith('.ts') ? sourceFolders() : [import.meta.dirname];

function sourceFolders(): string[] {
  const root = join(import.meta.dirname, '../../..');
  return ['package.json', 'src', 'node_modules'].map((name) => join(root, name));
}

/**
 * The folder is part of the address: the module that is loaded first cannot be told otherwise. The address is the same for
 * every task, so that its compiled form is found in the cache.
 */
function rulesFor(folder: string, stripped: string | undefined): string {
  const address = new URL('./strategy-rules.ts', import.meta.url);
  address.searchParams.set('folder', pathToFileURL(`${folder}/`).href);
  if (stripped) address.searchParams.set('stripped', stripped);
  return address.href;
}
