import { Market } from './market.ts';
import type { Terms } from './terms.ts';
import type { PairInput } from './types.ts';

/**
 * The one clock of a run and every entry signal on it, by step. Step `s` is the candle that opens at `start + s * timeframe`;
 * steps run from 1, because a signal of the first candle acts in the next one.
 */
export interface Schedule {
  readonly markets: readonly Market[];
  /** Open time of the earliest first candle, ms. */
  readonly start: number;
  /** The last step. */
  readonly steps: number;
  /** Index of the first entry signal at each step; `firstSignal[steps + 1]` is their number. */
  readonly firstSignal: Int32Array;
  /** Step of each entry signal, ascending; signals of one step are in whitelist order. */
  readonly signalStep: Int32Array;
  /** Index into `markets` of each entry signal. */
  readonly signalMarket: Uint32Array;
}

/** Puts all pairs on one clock. Throws RangeError on candles with holes, off the clock's grid or of unequal length. */
export function createSchedule(pairs: readonly PairInput[], terms: Terms): Schedule {
  const filled = pairs.filter(({ candles }) => candles.timestamp.length > 0);
  if (new Set(pairs.map(({ pair }) => pair)).size < pairs.length)
    throw new RangeError('A pair is given twice');
  let start = Number.POSITIVE_INFINITY;
  let longest = 0;
  for (const { candles } of filled) {
    start = Math.min(start, candles.timestamp[0]!);
    longest = Math.max(longest, candles.timestamp.length);
  }
  const silent = new Uint8Array(longest);
  const markets = filled.map((input) => {
    checkGrid(input, start, terms.timeframeMs);
    const offset = (input.candles.timestamp[0]! - start) / terms.timeframeMs;
    return new Market(input, offset, terms.canShort, silent);
  });
  const steps = markets.reduce((last, market) => Math.max(last, market.offset + market.length - 1), 0);
  return { markets, start: filled.length > 0 ? start : 0, steps, ...collectSignals(markets, steps) };
}

function checkGrid({ pair, candles, signals }: PairInput, start: number, timeframeMs: number): void {
  const { timestamp } = candles;
  const length = timestamp.length;
  if ((timestamp[0]! - start) % timeframeMs !== 0)
    throw new RangeError(`Candles of ${pair} are off the grid`);
  if (timestamp[length - 1]! - timestamp[0]! !== (length - 1) * timeframeMs)
    throw new RangeError(`Candles of ${pair} have holes`);
  for (const column of Object.values(signals))
    if (column instanceof Uint8Array && column.length !== length)
      throw new RangeError(`Signals of ${pair} are not as long as its candles`);
}

/** Counting sort of all entry signals by step, stable in whitelist order. */
function collectSignals(markets: readonly Market[], steps: number) {
  const firstSignal = new Int32Array(steps + 2);
  for (const market of markets) countSignals(market, firstSignal);
  let total = 0;
  for (let step = 0; step < firstSignal.length; step++) {
    const count = firstSignal[step]!;
    firstSignal[step] = total;
    total += count;
  }
  const signalStep = new Int32Array(total);
  const signalMarket = new Uint32Array(total);
  const next = firstSignal.slice();
  for (const [index, market] of markets.entries())
    placeSignals(market, index, next, signalStep, signalMarket);
  return { firstSignal, signalStep, signalMarket };
}

function countSignals(market: Market, counts: Int32Array): void {
  for (let row = 1; row < market.length; row++)
    if (market.entryDirection(row) !== 0) counts[row + market.offset]!++;
}

function placeSignals(
  market: Market,
  index: number,
  next: Int32Array,
  signalStep: Int32Array,
  signalMarket: Uint32Array,
): void {
  for (let row = 1; row < market.length; row++) {
    if (market.entryDirection(row) === 0) continue;
    const step = row + market.offset;
    const place = next[step]!++;
    signalStep[place] = step;
    signalMarket[place] = index;
  }
}
