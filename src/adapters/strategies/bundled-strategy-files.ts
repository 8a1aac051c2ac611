import { shareGlobals } from '../global-state.ts';
import type { StrategyFile } from './strategy-files.ts';

/*
 * Takes the place of strategy-files.ts in a bundle, which has no strategy folder: `strategies.mjs` next to the bundle lists its files
 * (bin/build/bundle-strategies.ts). Each has a bundle of its own: a look-ahead analysis evaluates it again for each run.
 */

let globals: ReturnType<typeof shareGlobals> | undefined;
let runs = 0;

/** There is no folder. */
export const USER_STRATEGIES = undefined;

/** All strategies of the bundle. */
export async function loadStrategyFiles(): Promise<readonly StrategyFile[]> {
  return (await import('./strategies.mjs')).strategies;
}

/**
 * The strategy with a name. Only tasks run strategies, and each finds its own before the first run: to read all globals takes a Lambda
 * 17 ms.
 */
export async function findStrategyFile(name: string): Promise<StrategyFile | undefined> {
  globals ??= shareGlobals();
  const { restore, replaced } = globals;
  const found = (await loadStrategyFiles()).find(({ definition }) => definition.name === name);
  if (!found) return undefined;
  const bundle = `./strategies/${found.file.replace(/ts$/, 'mjs')}`;
  const load = async () => {
    restore(found.file);
    const { default: definition } = await import(new URL(`${bundle}?run=${++runs}`, import.meta.url).href);
    return definition as StrategyFile['definition'];
  };
  return { ...found, load, replaced };
}
