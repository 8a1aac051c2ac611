import { createRequire } from 'node:module';

/**
 * Address of the file that holds one exchange's class. All of ccxt at once takes 0.7 s and 100 MB; one class of it 0.1 s
 * and 40 MB, but the package exports the whole only. This file is a module of its own because the
 * build replaces it: a bundle has the exchange files next to it (bin/bundle-plugins.ts).
 */
export function ccxtFile(key: string): URL {
  const entry = createRequire(import.meta.url).resolve('ccxt');
  return new URL(`../js/src/${key}.js`, `file://${entry}`);
}
