import { type Analysis, SIGNAL_COLUMNS } from '../analysis/analyze.ts';
import { STAKE_RATIO } from '../analysis/given-signals.ts';
import type { ReturnedSignals } from '../strategy.ts';

/**
 * What `signals` returned, for callbacks: rows [from, to). The arrays are copies, because a callback can write into them and the
 * simulator trades by its own; each is made at its first read.
 */
export function returnedSignals(
  { signals, returned = signals, columns }: Analysis,
  isGiven: boolean,
  from: number,
  to: number,
): ReturnedSignals {
  const own: ReturnedSignals = {};
  const add = (name: string, copy: () => unknown) => {
    Object.defineProperty(own, name, {
      enumerable: true,
      configurable: true,
      get: () => {
        const value = copy();
        // A plain property from now on: it may be read once per candle.
        Object.defineProperty(own, name, { value, enumerable: true });
        return value;
      },
    });
  };
  for (const name of SIGNAL_COLUMNS) {
    const column = returned[name];
    if (column) add(name, () => column.slice(from, to));
  }
  const { tags } = returned;
  if (tags) add('tags', () => Object.freeze([...tags]));
  const ratio = isGiven ? columns[STAKE_RATIO] : undefined;
  if (ratio) add(STAKE_RATIO, () => ratio.slice(from, to));
  return own;
}
