import { registerHooks } from 'node:module';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as indicators from '#engine/indicators/index.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { rememberGlobals } from './global-state.ts';

/** Marks the address of a module with the run that it was loaded for. */
const RUN = /\?run=\d+$/;
const folders = new Set<string>();
let runs = 0;

/*
 * Bundles have no folder to read: the build replaces strategy-files.ts, which uses this module, by one that loads the file's bundle.
 */

/**
 * A loader of a strategy file, to be made before the file is first imported. Each call evaluates the file and every module of
 * its folder that it imports again, and restores the global objects as they were when the loader was made: no state is left
 * from another run. Node never frees a module.
 *
 * @param path of the file; the loader throws Error where state of another run cannot be removed
 */
export function freshStrategy(path: string): () => Promise<StrategyDefinition> {
  const address = pathToFileURL(path).href;
  const globals = rememberGlobals({ process, ...indicators });
  return async () => {
    if (folders.size === 0) registerHooks({ resolve: resolveFresh });
    folders.add(pathToFileURL(`${dirname(path)}/`).href);
    globals.restore(basename(path));
    const { default: definition } = await import(`${address}?run=${++runs}`);
    return definition;
  };
}

/** What a module of a run imports from its own folder is loaded for that run. */
function resolveFresh(
  specifier: string,
  context: Parameters<Parameters<typeof registerHooks>[0]['resolve'] & object>[1],
  nextResolve: Parameters<Parameters<typeof registerHooks>[0]['resolve'] & object>[2],
) {
  const resolved = nextResolve(specifier, context);
  const parent = context.parentURL ?? '';
  const run = RUN.exec(parent)?.[0];
  const folder = run && [...folders].find((each) => parent.startsWith(each));
  if (!folder || !resolved.url.startsWith(folder)) return resolved;
  return { ...resolved, url: `${resolved.url}${run}` };
}
