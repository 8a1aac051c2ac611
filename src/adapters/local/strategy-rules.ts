/**
 * Loaded before the program of a process that runs strategies, see sandbox.ts. It limits what code in the strategy folder may
 * import, which keeps a strategy a function of candles and parameters: code is known by its URL, so an attacker finds other
 * ways to modules, not to files. It also closes two ways that Node's permission model leaves open:
 * - Signals to other processes, and their priority.
 * - The compile cache: Node writes to it without asking whether the process may, and its checksums can be forged. So the
 *   compiled code of this project is kept before any code of a strategy is loaded, and nothing after that.
 * Strategy sources are therefore loaded without their types where the platform has removed them, see stripped-sources.ts.
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
/** Folder of strategy sources without types; null: there is none. */
const STRIPPED = searchParams.get('stripped');
const cache = getCompileCacheDir();
/** Link to the compile cache, in a folder that this process may write to; null: there is none. */
const compiled = cache ? dirname(cache) : null;
let entered = false;
/** Node takes no `..` in them. */
const isOfEngine = (specifier: string) => specifier.startsWith('#engine/') && !specifier.includes('..');

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL } = context;
    if (!parentURL?.startsWith(FOLDER)) {
      const resolved = nextResolve(specifier, context);
      if (resolved.url.startsWith(FOLDER)) enterFolder();
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
  // Node names the source of its own stripped code by such a comment too.
  return { format: 'module', source: `${source}\n//# sourceURL=${url}`, shortCircuit: true };
};

/** Undefined: the source was not stripped, or not to its end. */
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
