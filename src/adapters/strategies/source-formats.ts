/*
 * Which files of the strategy folder are sources. This module imports nothing, because it is loaded before every program of a sandbox.
 */

/** Formats by extension. Node would take a file without imports and exports as CommonJS, whose `module` leads to all of Node. */
export const SOURCE_FORMATS: Readonly<Record<string, string>> = {
  '.ts': 'module-typescript',
  '.mts': 'module-typescript',
  '.js': 'module',
  '.mjs': 'module',
  '.json': 'json',
};

/** True if a strategy may import a file of this name. */
export const isSource = (name: string): boolean =>
  Object.keys(SOURCE_FORMATS).some((extension) => name.endsWith(extension));

/** Larger sources are not read: a file with a hole takes no space on the disk, and all of its size in memory. */
export const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

/** Larger files are in no digest, so no strategy may import them. */
export const MAX_DIGESTED_BYTES = 64 * 1024 * 1024;

/**
 * Names of `.ts` files in a source. A strategy that imports another one must name it so: the digest of its source covers that file
 * too.
 */
export function namedIn(source: Buffer): ReadonlySet<string> {
  if (source.byteLength > MAX_SOURCE_BYTES) return new Set();
  const words = source.toString('utf8').split(/[^\w.-]/);
  return new Set(words.filter((word) => word.endsWith('.ts')));
}
