/**
 * Loaded before the program of a process that runs strategies, see sandbox.ts. It restricts the imports of code in the strategy
 * folder, so that a strategy depends only on candles and parameters. The check uses the URL of the importing module; malicious
 * code can reach other modules, but not other files. The module also closes two gaps of Node's permission model:
 * - Signals to other processes, and their priority.
 * - The compile cache: Node writes to it without a permission check, and its checksums can be forged. So the cache is written
 *   only before the first strategy code is loaded.
 * Compiled strategy code is therefore not cached. Sources are loaded with their types already removed, see stripped-sources.ts.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import {
  flushCompileCache,
  getCompileCacheDir,
  type LoadHookSync,
  registerHooks,
  syncBuiltinESMExports,
} from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { strippedEnd, strippedFile } from './stripped-file.ts';

const { searchParams } = new URL(import.meta.url);
const FOLDER = searchParams.get('folder')!;
/** Folder of strategy sources without types; null: absent. */
const STRIPPED = searchParams.get('stripped');
const cache = getCompileCacheDir();
/** Link to the compile cache, in a writable folder of this process; null: absent. */
const compiled = cache ? dirname(cache) : null;
let entered = false;
/** Excludes `..`, as Node does in such specifiers. */
const isOfEngine = (specifier: string) => specifier.startsWith('#engine/') && !specifier.includes('..');

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL } = context;
    if (!parentURL?.startsWith(FOLDER)) {
      const resolved = nextResolve(specifier, context);
      if (resolved.url.startsWith(FOLDER)) enterFolder();
      return resolved;
    }
    // Resolved from this file: the folder may be outside the project, which defines `#engine`.
    const engine = specifier === 'touchstone/engine' ? '#engine/index.ts' : specifier;
    if (isOfEngine(engine)) return nextResolve(engine, { ...context, parentURL: import.meta.url });
    if (/^\.\.?\//.test(specifier)) {
      const resolved = nextResolve(specifier, context);
      if (resolved.url.startsWith(FOLDER)) return resolved;
    }
    const file = decodeURIComponent(new URL(parentURL).pathname.slice(new URL(FOLDER).pathname.length));
    throw new Error(
      `${file} imports ${JSON.stringify(specifier)}: a strategy may import only touchstone/engine, #engine/... and files in the strategy folder`,
    );
  },
});

for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
Reflect.deleteProperty(os, 'setPriority');
syncBuiltinESMExports();

/** Called before the first strategy file is loaded. */
function enterFolder(): void {
  if (entered) return;
  entered = true;
  if (STRIPPED) registerHooks({ load });
  if (!compiled) return;
  flushCompileCache();
  rmSync(compiled);
}

const load: LoadHookSync = (url, context, nextLoad) => {
  const source = url.startsWith(FOLDER) ? strippedSource(fileURLToPath(url.split('?')[0]!)) : undefined;
  if (source === undefined) return nextLoad(url, context);
  // Node adds the same comment to code that it strips itself.
  return { format: 'module', source: `${source}\n//# sourceURL=${url}`, shortCircuit: true };
};

/** Undefined if the stripped source is missing or incomplete. */
function strippedSource(path: string): string | undefined {
  if (!path.endsWith('.ts')) return undefined;
  try {
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
    const stripped = readFileSync(join(STRIPPED!, strippedFile(digest)), 'utf8');
    return stripped.endsWith(strippedEnd(digest)) ? stripped : undefined;
  } catch {
    return undefined;
  }
}
