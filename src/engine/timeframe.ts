import { DAY_MS, HOUR_MS } from '#contract/values/durations.ts';
import { ALL_TIMEFRAMES, TIMEFRAMES, type Timeframe } from '#contract/values/timeframes.ts';

const WEEK_MS = 7 * DAY_MS;

/** Length of each supported timeframe in milliseconds. */
export const TIMEFRAME_MS = {
  '1m': 60_000,
  '3m': 180_000,
  '5m': 300_000,
  '15m': 900_000,
  '30m': 1_800_000,
  '1h': HOUR_MS,
  '2h': 2 * HOUR_MS,
  '4h': 4 * HOUR_MS,
  '6h': 6 * HOUR_MS,
  '8h': 8 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
  '3d': 3 * DAY_MS,
  '1w': WEEK_MS,
} as const satisfies Readonly<Record<Timeframe, number>>;

export { ALL_TIMEFRAMES, TIMEFRAMES, type Timeframe };

/** True if `text` is a supported timeframe. */
export function isTimeframe(text: string): text is Timeframe {
  return Object.hasOwn(TIMEFRAME_MS, text);
}

/** First Monday after the epoch, a Thursday. Exchanges open weekly candles on Monday, 00:00 UTC. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** Time of one candle on the grid of a timeframe, ms. Candles of all timeframes but `1w` open at multiples of their length. */
const gridOrigin = (stepMs: number) => (stepMs === WEEK_MS ? FIRST_MONDAY_MS : 0);

/** Open time of the candle that contains `time`, ms. @param stepMs length of a candle, ms */
export function floorToGrid(time: number, stepMs: number): number {
  const origin = gridOrigin(stepMs);
  return Math.floor((time - origin) / stepMs) * stepMs + origin;
}

/** Open time of the first candle that opens at or after `time`, ms. @param stepMs length of a candle, ms */
export function ceilToGrid(time: number, stepMs: number): number {
  const origin = gridOrigin(stepMs);
  return Math.ceil((time - origin) / stepMs) * stepMs + origin;
}

/** True if a candle of `stepMs` opens at `time`, ms. */
export function isOnGrid(time: number, stepMs: number): boolean {
  return (time - gridOrigin(stepMs)) % stepMs === 0;
}

/** Where candles open. */
export interface TimeGrid {
  /** Open time of the candle that contains a time, ms. */
  readonly floor: (time: number) => number;
  /** Open time of the candle after the one that opens at `time`, ms. */
  readonly next: (time: number) => number;
}

/** The grid of all exchanges but those that state another one. @param stepMs length of a candle, ms */
export function commonGrid(stepMs: number): TimeGrid {
  return { floor: (time) => floorToGrid(time, stepMs), next: (time) => time + stepMs };
}

/** Open time of the first candle of a grid that opens at or after `time`, ms. */
export function ceilTo({ floor, next }: TimeGrid, time: number): number {
  const open = floor(time);
  return open === time ? time : next(open);
}

/** True if candles of `longer` can be computed from whole candles of `shorter`. */
export function divides(shorter: Timeframe, longer: Timeframe): boolean {
  return TIMEFRAME_MS[longer] % TIMEFRAME_MS[shorter] === 0;
}

/** Traded interval of a run: open time of its first candle and end (exclusive), ms. */
export function tradedRange(run: {
  readonly date_range: { readonly start: string; readonly end: string };
  readonly timeframe: Timeframe;
}): { start: number; end: number } {
  const start = ceilToGrid(Date.parse(run.date_range.start), TIMEFRAME_MS[run.timeframe]);
  return { start, end: Date.parse(run.date_range.end) };
}
