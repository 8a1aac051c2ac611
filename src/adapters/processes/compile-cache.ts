import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Folder of Node's compile cache, shared with the tasks so that they load faster. Undefined: the cache is off. */
export function compileCache(): string | undefined {
  // Node adds a subfolder for each of its versions.
  const directory = getCompileCacheDir();
  return directory && dirname(directory);
}
