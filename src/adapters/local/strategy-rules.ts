/**
 * Loaded before the program of a process that runs strategies, see sandbox.ts. It says what code in the folder of strategies
 * may import, which keeps a strategy a function of candles and parameters: code is known by its address, so an attacker
 * finds other ways to modules, not to files. And it closes two that Node's permission model leaves open:
 * - Signals to other processes, and their priority.
 * - The compile cache: Node writes to it without asking whether the process may, and knows its entries by sums that can be
 *   forged. So what the project's own code compiled is kept before any code of strategies is loaded, and none after.
 */
import { rmSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir, registerHooks, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { dirname } from 'node:path';

const FOLDER = new URL(import.meta.url).searchParams.get('folder')!;
const cache = getCompileCacheDir();
/** Link to the compile cache, in a folder that this process may write to; absent: there is none. */
let compiled = cache ? dirname(cache) : null;
/** Node takes no `..` in them. */
const isOfEngine = (specifier: string) => specifier.startsWith('#engine/') && !specifier.includes('..');

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL } = context;
    if (!parentURL?.startsWith(FOLDER)) {
      const resolved = nextResolve(specifier, context);
      if (resolved.url.startsWith(FOLDER)) closeCompileCache();
      return resolved;
    }
    // As for this file: the folder may lie outside of the project, whose names these are.
    if (isOfEngine(specifier)) return nextResolve(specifier, { ...context, parentURL: import.meta.url });
    if (/^\.\.?\//.test(specifier)) {
      const resolved = nextResolve(specifier, context);
      if (resolved.url.startsWith(FOLDER)) return resolved;
    }
    const file = decodeURIComponent(new URL(parentURL).pathname.slice(new URL(FOLDER).pathname.length));
    throw new Error(
      `${file} imports ${JSON.stringify(specifier)}: a strategy may import #engine/... and files of its own folder, nothing else`,
    );
  },
});

for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
Reflect.deleteProperty(os, 'setPriority');
syncBuiltinESMExports();

function closeCompileCache(): void {
  if (!compiled) return;
  flushCompileCache();
  rmSync(compiled);
  compiled = null;
}
