import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** File that marks the root of a strategy folder. */
export const PROJECT_FILE = 'touchstone.config.json';

/** Root of the strategy folder that contains `folder`: the nearest one with a settings file, else `folder`. */
export function projectFolder(folder: string): string {
  for (let each = folder; ; each = dirname(each)) {
    if (existsSync(join(each, PROJECT_FILE))) return each;
    if (each === dirname(each)) return folder;
  }
}

/**
 * In the package: the strategies and the data folder are those of the user's strategy folder, unless the environment names others. A
 * clone has its own strategies.
 */
export function useProject(): void {
  if (import.meta.filename.endsWith('.ts')) return;
  const { env } = process;
  const project = projectFolder(process.cwd());
  env.STRATEGIES_DIRECTORY ||= join(project, 'strategies');
  env.TOUCHSTONE_HOME ||= relative(process.cwd(), join(project, '.touchstone'));
}
