import { join, sep } from 'node:path';

/** Folder of the packages that a project at `root` imports: its own, or the outermost one that it is installed in. */
export function packageFolder(root: string): string {
  const folder = `${sep}node_modules`;
  const end = `${root}${sep}`.indexOf(`${folder}${sep}`);
  return end < 0 ? join(root, folder) : root.slice(0, end) + folder;
}
