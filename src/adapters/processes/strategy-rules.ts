/**
 * Loaded before the program of a process that runs strategies, see sandbox.ts. It restricts the imports of code in the strategy
 * folder, so that a strategy depends only on candles and parameters, and closes the globals before the first of its files. The check
 * uses the URL of the importing module. The module also closes two gaps of Node's permission model:
 * - Signals to other processes, and their priority.
 * - The compile cache: Node writes to it without a permission check, and its checksums can be forged. So the cache is written
 *   only before the first strategy code is loaded.
 * Compiled strategy code is therefore not cached. Sources are loaded with their types already removed, see stripped-sources.ts.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import {
  flushCompileCache,
  getCompileCacheDir,
  type LoadFnOutput,
  registerHooks,
  stripTypeScriptTypes,
  syncBuiltinESMExports,
} from 'node:module';
import os from 'node:os';
import { dirname, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { codeFile } from '../code-file.ts';
import {
  MAX_DIGESTED_BYTES,
  MAX_SOURCE_BYTES,
  namedIn,
  SOURCE_FORMATS,
} from '../strategies/source-formats.ts';
import { closeGlobals } from './strategy-globals.ts';
import { strippedEnd, strippedFile } from './stripped-file.ts';

const { searchParams } = new URL(import.meta.url);
const FOLDER = searchParams.get('folder')!;
/** Folder of strategy sources without types; null: absent. */
const STRIPPED = searchParams.get('stripped');
const cache = getCompileCacheDir();
/** Link to the compile cache, in a writable folder of this process; null: absent. */
const compiled = cache ? dirname(cache) : null;
let entered = false;
/** True if the globals of this process are closed. */
let closed = false;
/** Suffix of the address of an engine's module as strategies import it. */
const FROZEN = '?frozen';
/** Address of this module without its query. */
const OWN_ADDRESS = pathToFileURL(import.meta.filename).href;
/**
 * Plain characters only, with a query or fragment, and no `..`. A parser of URLs drops tabs and line breaks and decodes dots, so other
 * specifiers would lead out of the engine.
 */
const ENGINE_IMPORT = /^#engine\/(?!.*\.\.)[\w./-]+([?#][\w=]*)?$/;

/** Without query and fragment, which would make another instance of the module. */
const addressOf = (url: string) => url.split(/[?#]/, 1)[0]!;

const formatOf = (url: string) => SOURCE_FORMATS[extname(new URL(url).pathname)];

/** True if a path leads to a file that a strategy may import. By its text only: an error must not say which other files exist. */
function isOfFolder(specifier: string, parentURL: string): boolean {
  if (!/^\.\.?\//.test(specifier)) return false;
  const { href } = new URL(specifier, parentURL);
  return href.startsWith(FOLDER) && formatOf(href) !== undefined && isDigested(href, parentURL);
}

/**
 * True if a change of the file changes the digest of the importing source: it is not too large, and another strategy stands in that source
 * by its name.
 */
function isDigested(href: string, parentURL: string): boolean {
  const name = fileOf(href);
  const [file, parent] = [href, parentURL].map((url) => fileURLToPath(addressOf(url))) as [string, string];
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  if (name.includes('/') || !name.endsWith('.ts')) return size <= MAX_DIGESTED_BYTES;
  return size <= MAX_SOURCE_BYTES && namedIn(readFileSync(parent)).has(name);
}

/** Path in the strategy folder. */
const fileOf = (url: string) =>
  decodeURIComponent(new URL(url).pathname.slice(new URL(FOLDER).pathname.length));

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
    if (ENGINE_IMPORT.test(engine)) {
      const resolved = nextResolve(engine, { ...context, parentURL: import.meta.url });
      return closed ? { ...resolved, url: `${addressOf(resolved.url)}${FROZEN}` } : resolved;
    }
    if (isOfFolder(specifier, parentURL)) {
      const resolved = nextResolve(specifier, context);
      // A query would name the module of another run, see fresh-strategy.ts.
      if (resolved.url.startsWith(FOLDER)) return { ...resolved, url: addressOf(resolved.url) };
    }
    throw new Error(
      `${fileOf(parentURL)} imports ${JSON.stringify(specifier)}: a strategy may import only touchstone/engine, #engine/... and files in the strategy folder that are modules (${Object.keys(SOURCE_FORMATS).join(', ')}) of at most ${MAX_DIGESTED_BYTES / 1024 / 1024} MiB, another strategy by its name as it is written`,
    );
  },
  load(url, context, nextLoad) {
    if (url.endsWith(FROZEN)) return { format: 'module', source: frozen(url), shortCircuit: true };
    if (!url.startsWith(FOLDER)) return nextLoad(url, context);
    const path = fileURLToPath(url.split('?')[0]!);
    const source = STRIPPED ? strippedSource(path) : undefined;
    if (source === undefined) return asModule(path, url, nextLoad(url, context));
    // Node adds the same comment to code that it strips itself.
    return { format: 'module', source: `${source}\n//# sourceURL=${url}`, shortCircuit: true };
  },
});

for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
Reflect.deleteProperty(os, 'setPriority');
syncBuiltinESMExports();

/** Called before the first strategy file is loaded. */
function enterFolder(): void {
  if (entered) return;
  entered = true;
  if (compiled) {
    flushCompileCache();
    rmSync(compiled);
  }
  closed = closeGlobals();
}

/** Exports a module of the engine after what it exports is frozen: the engine uses the same objects. */
function frozen(url: string): string {
  const real = JSON.stringify(url.slice(0, -FROZEN.length));
  return `import * as all from ${real};
import { deepFreeze } from ${JSON.stringify(codeFile('./strategy-globals', OWN_ADDRESS).href)};
deepFreeze(all);
export * from ${real};`;
}

/** Errors of what only a module may contain. */
const MODULE_ONLY = /outside a module|Unexpected token 'export'/;

/**
 * Node takes a file for CommonJS if it finds no import or export in it, also one with a syntax error. It becomes a module. A syntax
 * error is thrown here, because the compiler of modules gives none a position.
 */
function asModule(path: string, url: string, loaded: LoadFnOutput): LoadFnOutput {
  if (!loaded.format?.startsWith('commonjs')) return loaded;
  const source = readFileSync(path, 'utf8');
  const code = loaded.format === 'commonjs-typescript' ? stripTypeScriptTypes(source) : source;
  try {
    // Compiled only: a function in which `await` is valid.
    void new Script(`(async () => {${code}\n})`, { filename: path });
  } catch (error) {
    if (!MODULE_ONLY.test((error as Error).message)) throw error;
  }
  return { ...loaded, source, format: formatOf(url)! };
}

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
