import { checkCandles } from '../analysis/candle-checks.ts';
import type { Candles } from '../candles.ts';
import { type Digest, digestCandles, digestFunding } from '../digest.ts';
import type { FundingEvents } from '../simulator/types.ts';
import { BacktestError } from '../strategy-errors.ts';
import { DAY_MS, type Timeframe } from '../timeframe.ts';

/** Stored bitcoin with which a run is compared that does not trade it; without candles the reason. */
export type RunBenchmark =
  | {
      readonly pair: string;
      /** Timeframe of the stored candles. */
      readonly source: Timeframe;
      /** Daily candles of the whole days of the run, as far as stored. Gaps are allowed. */
      readonly candles: Candles;
      /** Absent in spot. */
      readonly funding?: FundingEvents;
    }
  | { readonly pair: string; readonly reason: string };

/** Share of the days that may have no candle. */
const MAX_MISSING = 0.05;

/** Why the benchmark cannot be compared with these days; undefined: it can. */
export function unusable(benchmark: RunBenchmark, day: Float64Array): string | undefined {
  if ('reason' in benchmark) return benchmark.reason;
  const { timestamp } = benchmark.candles;
  const stored = timestamp.length;
  // The first and the last day may be parts of days.
  const covers =
    stored > 0 && timestamp[0]! <= day[0]! + DAY_MS && timestamp[stored - 1]! >= day.at(-1)! - DAY_MS;
  if (covers && stored >= (day.length - 2) * (1 - MAX_MISSING)) return invalid(benchmark);
  return `The stored candles of ${benchmark.pair} cover ${stored} of ${day.length} days.`;
}

/** What is wrong with the candles: the run does not trade them, so that it goes on. */
function invalid({
  pair,
  candles,
}: {
  readonly pair: string;
  readonly candles: Candles;
}): string | undefined {
  try {
    checkCandles(pair, candles, DAY_MS);
    return undefined;
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return `The stored candles cannot be used: ${error.message}`;
  }
}

/** Digest of all data read of the benchmark. */
export function digestBenchmark(benchmark: RunBenchmark, digest: Digest): string {
  if ('reason' in benchmark) return digest(`benchmark ${benchmark.pair}\n${benchmark.reason}`);
  const { pair, source, candles, funding } = benchmark;
  const parts = [digestCandles(candles, digest), funding ? digestFunding(funding, digest) : 'no funding'];
  return digest(`benchmark ${pair} ${source}\n${parts.join('\n')}`);
}
