import { GAP_TOLERANCE } from '#contract/values/backtest-limits.ts';
import {
  ALL_TIMEFRAMES,
  ceilToGrid,
  divides,
  floorToGrid,
  TIMEFRAME_MS,
  TIMEFRAMES,
  type Timeframe,
} from '#engine/timeframe.ts';
import type { SeriesInfo } from '../ports.ts';
import { missingOf } from './missing-candles.ts';
import type { TimeInterval } from './missing-ranges.ts';

/** Age up to which a series counts as fresh, as in the check before a run. */
const FRESH_MS = 24 * 3_600_000;

/** Stored series of which candles are read or computed. */
export interface CandleSource {
  readonly timeframe: Timeframe;
  /** Part of the range that is not stored and would be collected, ms. */
  readonly missingMs: number;
  /** The stored series; it knows why candles are missing. */
  readonly series: SeriesInfo;
}

/** Timeframes of which candles of `timeframe` can be computed, the longest first; its own is the first. */
export function sourceTimeframes(timeframe: Timeframe): Timeframe[] {
  return ALL_TIMEFRAMES.filter((each) => divides(each, timeframe)).reverse();
}

/** True for the six timeframes that are collected; others are computed of them. */
export function isCollected(timeframe: Timeframe): boolean {
  return TIMEFRAMES.some((each) => each === timeframe);
}

/** Timeframes of the stored series that a run's own candles may come from. */
export function ownTimeframes(timeframe: Timeframe): Timeframe[] {
  return isCollected(timeframe) ? [timeframe] : sourceTimeframes(timeframe);
}

/** Timeframe that is collected for the candles of `timeframe` when none are stored. */
export function collectedTimeframe(timeframe: Timeframe): Timeframe {
  return sourceTimeframes(timeframe).find(isCollected)!;
}

/**
 * The stored series that lacks least of a range: its own timeframe, else the longest of which it can be computed. The last 24
 * hours count only between series that are else equal: none is collected for them, but the newest has the latest values.
 * Undefined when none is stored.
 *
 * @param stored by `symbol#timeframe`
 */
export function chooseSource(
  stored: ReadonlyMap<string, SeriesInfo>,
  { pair, timeframe }: { readonly pair: string; readonly timeframe: Timeframe },
  range: TimeInterval,
  now: number,
): CandleSource | undefined {
  let best: (CandleSource & { readonly lateMs: number }) | undefined;
  const stepMs = TIMEFRAME_MS[timeframe];
  const closed = floorToGrid(Math.min(range.end, now), stepMs);
  for (const each of sourceTimeframes(timeframe)) {
    const info = stored.get(`${pair}#${each}`);
    if (!info) continue;
    const missingMs = missingIn(info, { ...range, end: Math.min(range.end, now - FRESH_MS) });
    const newest = floorToGrid(Date.parse(info.last) + TIMEFRAME_MS[each], stepMs);
    const lateMs = Math.max(0, closed - newest);
    const isBetter =
      !best || missingMs < best.missingMs || (missingMs === best.missingMs && lateMs < best.lateMs);
    if (isBetter) best = { timeframe: each, missingMs, series: info, lateMs };
  }
  return best && { timeframe: best.timeframe, missingMs: best.missingMs, series: best.series };
}

/** Part of a range that a series lacks, ms. Gaps within the tolerance count as stored. */
function missingIn(info: SeriesInfo, { start, end }: TimeInterval): number {
  const step = TIMEFRAME_MS[info.timeframe];
  const wanted = { start: ceilToGrid(start, step), end: floorToGrid(end, step) };
  const lengthOf = (parts: readonly TimeInterval[]) =>
    parts.reduce((sum, part) => sum + part.end - part.start, 0);
  const all = lengthOf(missingOf(info, wanted, step));
  const edges = lengthOf(missingOf({ ...info, gaps: [] }, wanted, step));
  return all - edges > (wanted.end - wanted.start) * GAP_TOLERANCE ? all : edges;
}
