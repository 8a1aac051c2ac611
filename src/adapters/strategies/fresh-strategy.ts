import { registerHooks } from 'node:module';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StrategyWithDigest } from '#domain/ports.ts';
import * as indicators from '#engine/indicators/index.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { shareGlobals } from '../global-state.ts';

/** Suffix of a module URL: the run that the module was loaded for. */
const RUN = /\?run=\d+$/;
const folders = new Set<string>();
let runs = 0;

/*
 * Bundles have no strategy folder. Their build replaces strategy-files.ts, the only user of this module.
 */

/**
 * Loader of a strategy file; create it before the first import of the file. Each call evaluates the file and its imports
 * from the same folder again, and restores the global objects. A run therefore starts without state of earlier runs.
 * Node never frees a module.
 *
 * @returns `load`, which throws Error if it cannot remove state of an earlier run, and what it had to restore
 */
export function freshStrategy(path: string): Required<Pick<StrategyWithDigest, 'load' | 'replaced'>> {
  const address = pathToFileURL(path).href;
  const globals = shareGlobals({ ...indicators });
  if (folders.size === 0) registerHooks({ resolve: resolveFresh });
  folders.add(pathToFileURL(`${dirname(path)}/`).href);
  const load = async () => {
    globals.restore(basename(path));
    const { default: definition } = await import(`${address}?run=${++runs}`);
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
function resolveFresh(
  specifier: string,
  context: Parameters<Parameters<typeof registerHooks>[0]['resolve'] & object>[1],
  nextResolve: Parameters<Parameters<typeof registerHooks>[0]['resolve'] & object>[2],
) {
  const resolved = nextResolve(specifier, context);
  const parent = context.parentURL ?? '';
  const run = RUN.exec(parent)?.[0];
  const folder = [...folders].find((each) => parent.startsWith(each));
  if (!folder || !resolved.url.startsWith(folder)) return resolved;
  const [address] = resolved.url.split(/[?#]/, 1);
  return { ...resolved, url: `${address}${run ?? ''}` };
}
