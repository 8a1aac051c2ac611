import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { checkCandles } from '../analysis/candle-checks.ts';
import { CANDLE_COLUMNS, type Candles, createCandles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import { digestCandles, digestFunding } from '../digest.ts';
import type { FundingEvents } from '../simulator/types.ts';
import { BacktestError } from '../strategy-errors.ts';
import type { Timeframe } from '../timeframe.ts';

/** Stored bitcoin with which a run is compared that does not trade it; without candles the reason. */
export type RunBenchmark =
  | {
      readonly pair: string;
      /** Timeframe of the stored candles. */
      readonly source: Timeframe;
      /** Daily candles of the whole days of the run, as far as stored. Gaps are allowed. */
      readonly candles: Candles;
      /** Price at the open of the run's last candle; null when none is stored. Absent: the benchmark ends at its last close. */
      readonly last?: { readonly time: number; readonly open: number } | null;
      /** Absent in spot. */
      readonly funding?: FundingEvents;
    }
  | { readonly pair: string; readonly reason: string };

type Stored = Extract<RunBenchmark, { readonly candles: Candles }>;

/** What is wrong with the stored candles, as a sentence; undefined: they can be compared with. */
export function unusable(benchmark: RunBenchmark): string | undefined {
  return 'reason' in benchmark ? benchmark.reason : invalid(benchmark);
}

/**
 * The candles of the benchmark up to the open of the run's last candle, where the run ends too: the last one opens there, and only its
 * open is used. Without a price at that time the benchmark ends on the day before, or where its candles end.
 *
 * @param end open time of the run's last candle, ms
 */
export function candlesUntil({ candles, last }: Stored, end: number): Candles {
  const { timestamp, open, close } = candles;
  const own = indexAtOrAfter(timestamp, end);
  const price = timestamp[own] === end ? open[own] : last?.time === end ? last.open : undefined;
  // The candle of the last day has later prices.
  const rows = last === undefined && price === undefined ? own : indexAtOrAfter(timestamp, end - DAY_MS + 1);
  const ended = createCandles(rows + 1);
  const before = sliceCandles(candles, 0, rows);
  for (const name of CANDLE_COLUMNS) {
    ended[name].set(before[name]);
    ended[name][rows] = price ?? close[rows - 1]!;
  }
  ended.timestamp[rows] = end;
  if (price === undefined) ended.volume[rows] = 0;
  return ended;
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
  const { pair, source, candles, last, funding } = benchmark;
  const parts = [
    digestCandles(candles, digest),
    ...(last ? [`ends at ${last.open} at ${last.time}`] : []),
    funding ? digestFunding(funding, digest) : 'no funding',
  ];
  return digest(`benchmark ${pair} ${source}\n${parts.join('\n')}`);
}
