import type { PairInput } from './types.ts';

const zeros = new Float64Array(1);

/** The input of an empty run. */
export const NO_INPUT: PairInput = {
  pair: '',
  candles: { timestamp: zeros, open: zeros, high: zeros, low: zeros, close: zeros, volume: zeros },
  signals: {},
};

const kept = new Map<string, object>();

/**
 * Keeps the state of an empty run of `path` in place of the last one. V8 drops the shapes of objects that no longer exist, and
 * with them all code that was compiled for them: a process that simulates again and again would compile the simulator anew
 * after every full collection between two runs.
 */
export function keepShapes(path: 'kernel' | 'loop', emptyRun: object): void {
  kept.set(path, emptyRun);
}
