import { type Candles, createCandles, indexAtOrAfter } from '../candles.ts';
import { type Random, shuffledIndices } from '../random.ts';
import type { FundingEvents } from '../simulator/types.ts';

/** Candles of a pair, of which those before `from` stay as they are. */
export interface PermutedPair {
  readonly candles: Candles;
  readonly from: number;
}

/**
 * Permutes bars (Masters, Permutation and Randomization Tests for Trading System Development, 2018): the vectors ln(H/O), ln(L/O),
 * ln(C/O) with their volume, and separately the gaps ln(O_t / C_(t-1)). Price at the start and at the end, and the distribution of
 * the changes, stay; every pattern over time goes. All pairs follow one order of the clock, so that their correlation stays.
 */
export function permuteBars(pairs: readonly PermutedPair[], stepMs: number, random: Random): Candles[] {
  const first = Math.min(...pairs.map(({ candles, from }) => candles.timestamp[from]!));
  const last = Math.max(...pairs.map(({ candles }) => candles.timestamp.at(-1)!));
  const steps = Math.round((last - first) / stepMs) + 1;
  const bars = shuffledIndices(steps, random);
  const gaps = shuffledIndices(steps, random);
  return pairs.map((pair) => {
    const offset = Math.round((pair.candles.timestamp[pair.from]! - first) / stepMs);
    return permute(pair, rowsOf(bars, pair, offset, 0), rowsOf(gaps, pair, offset, 1));
  });
}

/** The order of a pair's own rows, from its row `skipped` after `from` on. */
function rowsOf(
  order: Int32Array,
  { candles, from }: PermutedPair,
  offset: number,
  skipped: number,
): Int32Array {
  const rows = candles.timestamp.length;
  const own = new Int32Array(rows - from - skipped);
  let count = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i]! - offset + from;
    if (row >= from + skipped && row < rows) own[count++] = row;
  }
  return own;
}

function permute({ candles, from }: PermutedPair, bars: Int32Array, gaps: Int32Array): Candles {
  const { open, high, low, close, volume, timestamp } = candles;
  const permuted = createCandles(timestamp.length);
  permuted.timestamp.set(timestamp);
  for (const name of ['open', 'high', 'low', 'close', 'volume'] as const)
    permuted[name].set(candles[name].subarray(0, from));
  let price = open[from]!;
  for (let row = from; row < timestamp.length; row++) {
    if (row > from) {
      const gap = gaps[row - from - 1]!;
      price = permuted.close[row - 1]! * (open[gap]! / close[gap - 1]!);
    }
    const bar = bars[row - from]!;
    const scale = price / open[bar]!;
    permuted.open[row] = price;
    permuted.close[row] = close[bar]! * scale;
    // Rounding must not put the open or the close outside of the candle.
    permuted.high[row] = Math.max(price, permuted.close[row]!, high[bar]! * scale);
    permuted.low[row] = Math.min(price, permuted.close[row]!, low[bar]! * scale);
    permuted.volume[row] = volume[bar]!;
  }
  return permuted;
}

/** Funding at the same times and rates, with the permuted price as the mark price. */
export function permutedFunding(funding: FundingEvents, { timestamp, open }: Candles): FundingEvents {
  const markPrice = funding.markPrice.map((price, event) => {
    const row = indexAtOrAfter(timestamp, funding.timestamp[event]!);
    return open[row] ?? price;
  });
  return { ...funding, markPrice };
}
