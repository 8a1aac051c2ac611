import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../options.ts';
import { escapeControlChars } from '../output.ts';

/** The commit that a change is compared with, read from Git without checking it out. */

/** A Git repository and a folder in it. */
export interface Repository {
  /** Working tree. */
  readonly root: string;
  /** Commit of HEAD; null before the first commit. */
  readonly head: string | null;
}

export interface Base {
  readonly commit: string;
  /** Name by which it was found, such as `origin/main`. */
  readonly name: string;
}

const MAX_OUTPUT = 256 * 1024 * 1024;
/** Object name of Git where there is no commit. */
const NO_COMMIT = /^0+$/;
const LOCAL_NAMES = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

function git(folder: string, args: readonly string[], input?: string): Buffer {
  // A file name is a path here, not a pattern.
  const env = { ...process.env, GIT_LITERAL_PATHSPECS: '1', LC_ALL: 'C' };
  return execFileSync('git', ['-C', folder, ...args], {
    env,
    input,
    maxBuffer: MAX_OUTPUT,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

const line = (folder: string, ...args: string[]) => git(folder, args).toString('utf8').trim();

function commitOf(folder: string, name: string): string | null {
  try {
    return line(folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
  } catch {
    return null;
  }
}

/** The repository of a folder. @throws UsageError outside of one, or without Git */
export function openRepository(folder: string): Repository {
  try {
    const root = line(folder, 'rev-parse', '--show-toplevel');
    return { root: resolve(root), head: commitOf(root, 'HEAD') };
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    if (code === 'ENOENT') throw new UsageError('touchstone ci compares commits, and Git is not installed.');
    const reason = escapeControlChars(stderr?.toString('utf8').trim() || message);
    throw new UsageError(`${folder} is not in a Git repository: ${reason}. Make one: git init`);
  }
}

/**
 * The base of the change: the last common commit of HEAD and `name`. Without a name: of the base of the pull request or of the commit
 * before the push that started a GitHub workflow, else of the main branch. Null when nothing is before HEAD.
 *
 * @throws UsageError when the named commit is not in the repository
 */
export function findBase({ root, head }: Repository, name: string | undefined): Base | null {
  if (!head) return null;
  if (name !== undefined) return commonCommit(root, name, name);
  const { pull_request, before } = readEvent();
  if (pull_request) {
    const { sha, ref } = pull_request.base;
    // In a shallow clone the branch may be known and its history not: it would seem to be the base of itself.
    if (isShallow(root)) return commonCommit(root, sha, ref);
    // GitHub merges the newest commit of the base into HEAD; the one of the event may be older.
    return commonCommit(root, commitOf(root, `origin/${ref}`) ?? sha, ref);
  }
  if (before !== undefined) {
    // A first push has no commit before it; the one before a forced push may be gone.
    const commit = NO_COMMIT.test(before) ? null : commitOf(root, before);
    return commit === null ? null : { commit, name: 'the commit before the push' };
  }
  const found = LOCAL_NAMES.find((each) => commitOf(root, each));
  return found === undefined ? null : commonCommit(root, found, found);
}

const isShallow = (root: string) => line(root, 'rev-parse', '--is-shallow-repository') === 'true';

function commonCommit(root: string, revision: string, name: string): Base {
  const commit = commitOf(root, revision);
  if (!commit) {
    const hint = isShallow(root)
      ? 'This clone is shallow: set fetch-depth: 0 of actions/checkout, or run git fetch --unshallow'
      : 'Fetch it, or pass another --base';
    throw new UsageError(`Commit ${escapeControlChars(name)} is not in this repository. ${hint}.`);
  }
  try {
    return { commit: line(root, 'merge-base', commit, 'HEAD'), name };
  } catch {
    throw new UsageError(
      `HEAD and ${escapeControlChars(name)} have no common commit. Fetch the whole history (fetch-depth: 0 of actions/checkout), or pass another --base.`,
    );
  }
}

/** Part of the event that started a GitHub workflow. */
interface WorkflowEvent {
  readonly pull_request?: {
    readonly number: number;
    readonly base: { readonly sha: string; readonly ref: string };
  };
  readonly before?: string;
}

/** Event of the workflow; empty elsewhere. */
export function readEvent(): WorkflowEvent {
  const file = process.env.GITHUB_EVENT_PATH;
  if (!file) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as WorkflowEvent;
  } catch (cause) {
    throw new UsageError(`GITHUB_EVENT_PATH, ${file}, is not a JSON file of an event.`, { cause });
  }
}

interface Entry {
  readonly path: string;
  readonly object: string;
}

/** Regular files of a commit below a path of the repository. */
function filesOf(root: string, commit: string, path: string): Entry[] {
  const listed = git(root, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...(path ? [path] : [])]);
  return listed
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const [, mode = '', object = '', name = ''] = /^(\d+) blob (\w+)\t(.+)$/s.exec(entry) ?? [];
      return mode.startsWith('100') ? [{ path: name, object }] : [];
    });
}

/** Contents of objects, in their order. */
function contentsOf(root: string, objects: readonly string[]): Buffer[] {
  if (objects.length === 0) return [];
  const output = git(root, ['cat-file', '--batch'], `${objects.join('\n')}\n`);
  let at = 0;
  return objects.map(() => {
    const end = output.indexOf('\n', at);
    const size = Number(output.toString('utf8', at, end).split(' ')[2]);
    at = end + size + 2;
    return output.subarray(end + 1, end + 1 + size);
  });
}

const pathIn = ({ root }: Repository, file: string) => relative(root, file).split(sep).join('/');

/** Writes the regular files of a folder, as a commit has them, into `target`. Links are left out: no strategy may use one. */
export function exportFolder(repository: Repository, commit: string, folder: string, target: string): void {
  const prefix = pathIn(repository, folder);
  const files = filesOf(repository.root, commit, prefix).map((file) => ({
    ...file,
    to: resolve(target, prefix ? file.path.slice(prefix.length + 1) : file.path),
  }));
  mkdirSync(target, { recursive: true });
  // Git checks out no such path, but an object may contain one.
  const inside = files.filter(({ to }) => to.startsWith(target + sep));
  const contents = contentsOf(
    repository.root,
    inside.map(({ object }) => object),
  );
  inside.forEach(({ to }, index) => {
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, contents[index]!);
  });
}

/** A file as a commit has it; null when it has none. */
export function readFileAt(repository: Repository, commit: string, file: string): string | null {
  const path = pathIn(repository, file);
  const [found] = filesOf(repository.root, commit, path).filter((each) => each.path === path);
  return found ? contentsOf(repository.root, [found.object])[0]!.toString('utf8') : null;
}

/**
 * Files of a folder that Git detects as renamed since a commit: new name -> old name, relative to the folder. At least 80 % must be
 * equal, since strategies that were made from one template are similar.
 */
export function renamesSince(repository: Repository, commit: string, folder: string): Map<string, string> {
  const prefix = pathIn(repository, folder);
  const args = [
    '--name-status',
    '--find-renames=80%',
    '--no-ext-diff',
    '--diff-filter=R',
    '-z',
    commit,
    '--',
  ];
  const words = git(repository.root, ['diff', ...args, prefix || '.'])
    .toString('utf8')
    .split('\0');
  const renames = new Map<string, string>();
  const length = prefix ? prefix.length + 1 : 0;
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [from, to] = words.slice(at + 1, at + 3).map((path) => join(path).slice(length));
    renames.set(to!, from!);
  }
  return renames;
}
