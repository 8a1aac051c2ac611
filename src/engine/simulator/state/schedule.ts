import type { Terms } from '../terms.ts';
import type { PairInput } from '../types.ts';
import { Market } from './market.ts';

/**
 * The one clock of a run. Step `s` is the candle that opens at `start + s * timeframe`; steps run from 1, because a signal of
 * the first candle acts in the next one.
 */
export interface Schedule {
  /** Pairs with candles, in whitelist order. */
  readonly markets: readonly Market[];
  /** Open time of the earliest first candle, ms. */
  readonly start: number;
  /** The last step. */
  readonly steps: number;
}

/** Puts all pairs on one clock. Throws RangeError on candles with holes, off the clock's grid or of unequal length. */
export function createSchedule(pairs: readonly PairInput[], terms: Terms): Schedule {
  if (new Set(pairs.map(({ pair }) => pair)).size < pairs.length)
    throw new RangeError('A pair is given twice');
  const filled = pairs.filter(({ candles }) => candles.timestamp.length > 0);
  if (filled.length === 0) return { markets: [], start: 0, steps: 0 };
  const start = Math.min(...filled.map(({ candles }) => candles.timestamp[0]!));
  const silent = new Uint8Array(Math.max(...filled.map(({ candles }) => candles.timestamp.length)));
  const markets = filled.map((input, index) => {
    checkGrid(input, start, terms.timeframeMs);
    // A quotient is a double to V8 even when it is whole; see NEVER.
    const offset = ((input.candles.timestamp[0]! - start) / terms.timeframeMs) | 0;
    return new Market(input, index, offset, terms.canShort, silent);
  });
  return { markets, start, steps: Math.max(...markets.map(({ offset, length }) => offset + length - 1)) };
}

/** Throws RangeError unless the candles are on the grid of `start`, without holes, and the signals as long as they are. */
export function checkGrid({ pair, candles, signals }: PairInput, start: number, timeframeMs: number): void {
  const { timestamp } = candles;
  const { length } = timestamp;
  if ((timestamp[0]! - start) % timeframeMs !== 0)
    throw new RangeError(`Candles of ${pair} are off the grid`);
  if (timestamp[length - 1]! - timestamp[0]! !== (length - 1) * timeframeMs)
    throw new RangeError(`Candles of ${pair} have holes`);
  for (const column of Object.values(signals))
    if (column instanceof Uint8Array && column.length !== length)
      throw new RangeError(`Signals of ${pair} are not as long as its candles`);
}
