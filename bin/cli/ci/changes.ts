import { LocalStrategies } from '#adapters/definitions/local-strategies.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import { digestStrategyFiles } from '#adapters/strategies/strategy-files.ts';
import type { BrokenStrategyFile } from '#contract/config/strategy.ts';

/** Strategies that a change affects. */

/** A usable strategy of a folder. */
interface FolderStrategy {
  readonly name: string;
  readonly file: string;
  /** Over its source and all files in subfolders, which it may import. */
  readonly digest: string;
}

export interface StrategyFolder {
  readonly path: string;
  /** Digest of each strategy file. */
  readonly digests: ReadonlyMap<string, string>;
  readonly strategies: readonly FolderStrategy[];
  readonly broken: readonly BrokenStrategyFile[];
}

/** One strategy of the change, with its counterpart in the base. */
export interface Change {
  readonly kind: 'changed' | 'new' | 'renamed' | 'deleted' | 'unchanged';
  /** Null: deleted. */
  readonly head: FolderStrategy | null;
  /** Null: new. */
  readonly base: FolderStrategy | null;
}

/** Definitions of a strategy folder, read in sandboxed processes. @throws Error that names a link in the folder */
export async function readStrategies(path: string): Promise<StrategyFolder> {
  const digests = await digestStrategyFiles(path);
  const files = new Map([...digests].map(([file, digest]) => [digest, file]));
  const reader = new LocalStrategies({ folder: path, compiled: compileCache() });
  try {
    const { strategies, broken } = await reader.list();
    return {
      path,
      digests,
      broken,
      strategies: strategies.flatMap(({ definition, digest }) => {
        const file = files.get(digest);
        return file === undefined ? [] : [{ name: definition.name, file, digest }];
      }),
    };
  } finally {
    reader.close();
  }
}

/**
 * Changes between two folders, in the order of the names. A counterpart has the same name, else the same file, else the file that Git
 * detects as renamed.
 */
export function changesBetween(
  base: StrategyFolder | null,
  head: StrategyFolder,
  renames: ReadonlyMap<string, string>,
): Change[] {
  const left = new Set(base?.strategies);
  const found = new Map<FolderStrategy, FolderStrategy>();
  const pair = (isSame: (before: FolderStrategy, after: FolderStrategy) => boolean) => {
    for (const after of head.strategies) {
      const before = found.has(after) ? undefined : [...left].find((each) => isSame(each, after));
      if (!before) continue;
      found.set(after, before);
      left.delete(before);
    }
  };
  pair((before, after) => before.name === after.name);
  pair((before, after) => before.file === after.file);
  pair((before, after) => before.file === renames.get(after.file));
  const changes = head.strategies.map((after): Change => {
    const before = found.get(after) ?? null;
    return { kind: kindOf(before, after), head: after, base: before };
  });
  const deleted = [...left].map((before): Change => ({ kind: 'deleted', head: null, base: before }));
  return [...changes, ...deleted].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function kindOf(before: FolderStrategy | null, after: FolderStrategy): Change['kind'] {
  if (!before) return 'new';
  if (before.name !== after.name || before.file !== after.file) return 'renamed';
  return before.digest === after.digest ? 'unchanged' : 'changed';
}

export const nameOf = ({ head, base }: Change): string => (head ?? base)!.name;

/** Files that cannot be used, without those that the base has too. */
export function newlyBroken(base: StrategyFolder | null, head: StrategyFolder): BrokenStrategyFile[] {
  return head.broken.filter(({ file }) => {
    const digest = head.digests.get(file);
    return digest === undefined || digest !== base?.digests.get(file);
  });
}
