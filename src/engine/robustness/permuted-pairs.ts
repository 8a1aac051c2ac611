import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { checkCandles, fillGaps } from '../analysis/candle-checks.ts';
import { indexAtOrAfter } from '../candles.ts';
import { createRandom, hash32, mix32 } from '../random.ts';
import type { PairData } from '../run/history.ts';
import { TIMEFRAME_MS, tradedRange } from '../timeframe.ts';
import { permuteBars, permutedFunding } from './bar-permutation.ts';

/** Which permutation of the candles of a search: the same numbers give the same candles. */
export interface Permutation {
  /** Seed of the search. */
  readonly seed: number;
  /** From 0. */
  readonly number: number;
}

type Run = Pick<ResolvedBacktestConfig, 'timeframe' | 'timeframe_detail' | 'date_range' | 'ml_engine'>;

/**
 * Why the candles of a run cannot be permuted; undefined: they can.
 *
 * @param readsOthers true for a run with candles of other pairs or timeframes that are not aggregated from its own
 */
export function notPermutable(config: Run, readsOthers: boolean): string | undefined {
  if (config.ml_engine) return 'Every permutation would train all models again.';
  if (config.timeframe_detail) return 'Candles of timeframe_detail cannot be permuted with those of the run.';
  // A pair's daily candles would keep the days that its permuted hours lost. Aggregated candles follow the permutation.
  if (readsOthers) return 'Candles of the informative series cannot be permuted with those of the run.';
  return undefined;
}

/**
 * The stored data of a run with its traded candles in a random order, and its funding at the permuted prices. Startup candles stay.
 *
 * @throws BacktestError `invalid_candles`
 */
export function permutedPairs<T extends PairData>(
  pairs: readonly T[],
  config: Run,
  { seed, number }: Permutation,
): T[] {
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const { start } = tradedRange(config);
  const orders = createRandom(mix32(hash32(`permutation ${seed} ${number}`)));
  const filled = pairs.map(({ pair, candles: stored }) => {
    checkCandles(pair, stored, stepMs);
    const { candles } = fillGaps(stored, stepMs);
    return { candles, from: indexAtOrAfter(candles.timestamp, start) };
  });
  // A pair that ended before the range has no candle to permute. The run leaves it out.
  const traded = filled.filter(({ candles, from }) => from < candles.timestamp.length);
  const permuted = permuteBars(traded, stepMs, orders);
  return pairs.map((data, index) => {
    const candles = permuted[traded.indexOf(filled[index]!)];
    if (!candles) return data;
    return { ...data, candles, ...(data.funding && { funding: permutedFunding(data.funding, candles) }) };
  });
}
