import { createRequire } from 'node:module';

/**
 * Address of the file with one exchange's class. Loading all of ccxt takes 0.7 s and 100 MB, one class 0.1 s and 40 MB,
 * but the package exports only the whole. In a bundle bundled-ccxt-files.ts takes the place of this module.
 */
export function ccxtFile(key: string): URL {
  const entry = createRequire(import.meta.url).resolve('ccxt');
  return new URL(`../js/src/${key}.js`, `file://${entry}`);
}
