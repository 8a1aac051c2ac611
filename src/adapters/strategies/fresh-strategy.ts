import { readFileSync, realpathSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StrategyWithDigest } from '#domain/ports.ts';
import * as indicators from '#engine/indicators/index.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { shareGlobals } from '../global-state.ts';
import { sha256 } from '../sha256.ts';

/** Digests of the sources of a strategy folder by relative path. */
type Digests = ReadonlyMap<string, { readonly digest: string }>;
type Hooks = Required<Parameters<typeof registerHooks>[0]>;

/** Suffix of a module URL: the run that the module was loaded for. */
const RUN = /\?run=\d+$/;
/** Addresses of the strategy folders, with the digests of the last strategy of each; without them what is loaded is not compared. */
const folders = new Map<string, Digests | undefined>();
/** Digests by the suffix of a run. */
const ofRuns = new Map<string, Digests>();
let runs = 0;

/*
 * Bundles have no strategy folder. Their build replaces strategy-files.ts, the only user of this module.
 */

/**
 * Loader of a strategy file; create it before the first import of the file. Each call evaluates the file and its imports
 * from the same folder again, and restores the global objects. A run therefore starts without state of earlier runs.
 * Node never frees a module.
 *
 * @param digests from which the digest of the strategy was computed: no other source is loaded, however late its import
 * @returns `load`, which throws Error if it cannot remove state of an earlier run, and what it had to restore
 */
export function freshStrategy(
  path: string,
  digests?: Digests,
): Required<Pick<StrategyWithDigest, 'load' | 'replaced'>> {
  const address = pathToFileURL(path).href;
  const globals = shareGlobals({ ...indicators });
  if (folders.size === 0) registerHooks({ resolve: resolveFresh, load: loadDigested });
  // Modules have the addresses of their real paths.
  folders.set(pathToFileURL(`${realpathSync(dirname(path))}/`).href, digests);
  const load = async () => {
    globals.restore(basename(path));
    const run = `?run=${++runs}`;
    if (digests) ofRuns.set(run, digests);
    const { default: definition } = await import(`${address}${run}`);
    return ownDefinition(definition as StrategyDefinition);
  };
  return { load, replaced: globals.replaced };
}

/** Each property is read once: a getter may answer differently each time. */
export const ownDefinition = (definition: StrategyDefinition): StrategyDefinition =>
  typeof definition === 'object' && definition !== null ? { ...definition } : definition;

/**
 * Adds the run of the importing module to imports from the strategy folder, so that Node evaluates them again. A query or fragment of
 * their own is left out: it would name the module of another run, in which a strategy could keep state.
 */
function resolveFresh(...[specifier, context, nextResolve]: Parameters<Hooks['resolve']>) {
  const resolved = nextResolve(specifier, context);
  const parent = context.parentURL ?? '';
  const run = RUN.exec(parent)?.[0];
  const folder = folderOf(parent);
  if (!folder || !resolved.url.startsWith(folder)) return resolved;
  const [address] = resolved.url.split(/[?#]/, 1);
  return { ...resolved, url: `${address}${run ?? ''}` };
}

/** Loads a source of a strategy folder if it is the one of the digest: a file may change while a strategy waits, and change back. */
function loadDigested(...[url, context, nextLoad]: Parameters<Hooks['load']>) {
  const folder = folderOf(url);
  const digests = ofRuns.get(RUN.exec(url)?.[0] ?? '') ?? (folder && folders.get(folder));
  if (!folder || !digests) return nextLoad(url, context);
  const [address] = url.split(/[?#]/, 1) as [string];
  const file = decodeURIComponent(address.slice(folder.length));
  const check = () => {
    if (digests.get(file)?.digest === sha256(readFileSync(fileURLToPath(address)))) return;
    throw new Error(`${file} changed while the strategy was loaded. Run it again`);
  };
  // Node reads the file between both checks.
  check();
  const loaded = nextLoad(url, context);
  check();
  return loaded;
}

const folderOf = (url: string) => [...folders.keys()].find((each) => url.startsWith(each));
