import { createRequire } from 'node:module';

/**
 * Address of the file that holds one exchange's class. All of ccxt at once takes 0.7 s and 100 MB; one class of it 0.1 s
 * and 40 MB, but the package exports the whole only. A bundle has these files beside it instead: see bin/build.ts.
 */
export function ccxtFile(key: string): URL {
  const entry = createRequire(import.meta.url).resolve('ccxt');
  return new URL(`../js/src/${key}.js`, `file://${entry}`);
}
