import { DAY_MS } from '#contract/values/durations.ts';
import { ALL_TIMEFRAMES, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { millisecondsOf } from './checks.ts';
import { BadFileError } from './file-rows.ts';

/** Times that are looked at. */
export const TIMES_FOR_TIMEFRAME = 20_000;
/** Share of the distances between candles that the most frequent one has in a series without many gaps. */
const MIN_SHARE = 0.5;
/** Candles of months or more are at least so far apart. */
const MIN_MONTH_MS = 28 * DAY_MS;
/** Share of distances that are not chance. */
const MIN_FREQUENT = 0.05;

/**
 * Timeframe of candles by the distances between their times: the most frequent one, and in a series of mostly missing candles the
 * shortest that is frequent.
 * @param times of any unit and order
 * @throws BadFileError when the candles are too few, or no timeframe apart
 */
export function timeframeOf(times: Float64Array): Timeframe {
  const sorted = times
    .slice(0, TIMES_FOR_TIMEFRAME)
    .map(millisecondsOf)
    .filter((time) => !Number.isNaN(time))
    .sort();
  const counts = new Map<number, number>();
  let total = 0;
  for (let row = 1; row < sorted.length; row++) {
    const distance = sorted[row]! - sorted[row - 1]!;
    if (distance === 0) continue;
    counts.set(distance, (counts.get(distance) ?? 0) + 1);
    total++;
  }
  if (total === 0) {
    throw new BadFileError(
      'has one candle, which does not say its timeframe: pass it, such as --timeframe 1h',
    );
  }
  const byCount = [...counts].sort(([a, i], [b, j]) => j - i || a - b);
  const [likely, count] = byCount[0]!;
  const frequent = byCount.filter(([, each]) => each >= MIN_FREQUENT * total).map(([distance]) => distance);
  const step = count >= MIN_SHARE * total ? likely : Math.min(likely, ...frequent);
  const timeframe = ALL_TIMEFRAMES.find((each) => TIMEFRAME_MS[each] === step);
  if (timeframe !== undefined) return timeframe;
  if (step >= MIN_MONTH_MS) {
    throw new BadFileError(
      `candles are ${step / DAY_MS} days apart: the longest timeframe is 1w. Import daily candles instead`,
    );
  }
  throw new BadFileError(
    `candles are ${step / 60_000} minutes apart: expected one of ${ALL_TIMEFRAMES.join(', ')}. Pass it if the file has gaps, such as --timeframe 1h`,
  );
}
