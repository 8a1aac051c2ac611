import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { codeFile } from '../code-file.ts';
import { packageFolder } from '../package-folder.ts';
import { strippedSources } from './stripped-file.ts';

/** Permissions of a process that runs strategy code, in addition to computing and the network. */
export interface SandboxGrants {
  /** Existing files and folders that it may read, in addition to the code of this project. */
  readonly read?: readonly string[];
  /** Existing files and folders that it may read and write. */
  readonly write?: readonly string[];
  /** Readable folder of strategy files. Code in it may import only `touchstone/engine`, `#engine/*` and other files in it. */
  readonly strategies?: string | undefined;
}

/** Node's permission model does not cover files opened by SQLite, and SIGUSR1 would open a debugger port. */
const CLOSED = [
  '--permission',
  '--no-experimental-sqlite',
  '--disable-sigusr1',
  '--no-addons',
  ...SANDBOX_FLAGS,
];

/**
 * Arguments of Node, placed before the file to run. The process may read the project's code, and read and write the paths in
 * `grants`. It has no access to other files, processes, threads, native addons or the debugger. The network stays open.
 * Pass only the environment variables that the process needs, see docs/security.md.
 *
 * Node checks the requested path, so a link in a granted folder leads out of it. Grant only folders without links.
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

/**
 * Node 24 denies to list a folder when another granted path begins with its name and goes on: `/desk` with `/desk-data`.
 *
 * @throws Error when the strategy folder is such a folder for the data folder or the code of this project
 */
export function checkStrategyFolder(strategies: string, dataFolder: string): void {
  if (!existsSync(strategies)) return;
  const folder = realpathSync(strategies);
  const other = [realpathSync(dataFolder), ...CODE].find(
    (path) => path.startsWith(folder) && path !== folder && path[folder.length] !== sep,
  );
  if (!other) return;
  throw new Error(
    `Tasks cannot read the strategy folder ${folder}, because the path ${other} begins with its name. Rename one of them`,
  );
}

/** Arguments and environment of a sandboxed process, and its temporary folder. */
export interface Sandbox {
  /** Arguments of Node, placed before the file to run. */
  readonly args: readonly string[];
  /** Variables to add to the environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Removes the folder. Call it after the process has ended. */
  remove(): Promise<void>;
}

/**
 * Sandbox with a new folder for temporary files, `folder`. The process uses the compile cache through a link in that folder.
 * strategy-rules.ts removes the link before the first strategy file is loaded. Throws as {@link sandboxArguments}.
 *
 * @param compiled folder of Node's compile cache; absent: the cache is off
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

/** Temporary folder of an unrestricted process, which must not run strategy code. */
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

/** Code of this project: its sources and packages, or the folder of this bundle. The parent folder may contain data. */
const CODE = import.meta.filename.endsWith('.mjs') ? [import.meta.dirname] : projectFolders();

function projectFolders(): string[] {
  const root = join(import.meta.dirname, '../../..');
  const [own, packages] = [['package.json', 'src'].map((name) => join(root, name)), packageFolder(root)];
  return [...own, ...(existsSync(packages) ? [packages] : [])];
}

/**
 * Address of the module that is loaded first. Its query passes the folder: other parameters cannot reach that module. The
 * address is the same for every task, so the compile cache applies.
 */
function rulesFor(folder: string, stripped: string | undefined): string {
  const address = codeFile('./strategy-rules', import.meta.url);
  address.searchParams.set('folder', pathToFileURL(`${folder}/`).href);
  if (stripped) address.searchParams.set('stripped', stripped);
  return address.href;
}
