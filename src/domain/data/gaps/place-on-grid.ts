import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { formatCount } from '#contract/values/format-count.ts';
import type { Candles } from '#engine/candles.ts';
import { floorToGrid } from '#engine/timeframe.ts';
import { isoTime } from '../../shared/iso-time.ts';

/** Where the candles of a series open. */
export interface CandleGrid {
  /** Length of a candle, ms. */
  readonly step: number;
  /** Time by which its candles open later than the times of their timeframe, ms. */
  readonly offset: number;
}

/** Offset of a day that begins at midnight of London in summer, ms. */
const SUMMER_MIDNIGHT = DAY_MS - HOUR_MS;

/** Offset of a time on the grid. Candles of days and weeks may open on any day. */
function offsetOf(time: number, step: number): number {
  const unit = Math.min(step, DAY_MS);
  return time - floorToGrid(time, unit);
}

/**
 * The grid of a series: the offset of most of its candles, in whole minutes. Undefined when no offset is that of most. Days that begin at
 * midnight in winter and an hour before it in summer have the grid of those in winter, however few these are.
 */
export function gridOf(times: Float64Array, step: number): CandleGrid | undefined {
  // Most series have no offset at all.
  if (times.every((time) => offsetOf(time, step) === 0)) return { step, offset: 0 };
  const counts = new Map<number, number>();
  for (const time of times) {
    const offset = offsetOf(time, step);
    counts.set(offset, (counts.get(offset) ?? 0) + 1);
  }
  const [[offset, count]] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]) as [[number, number]];
  if (offset === SUMMER_MIDNIGHT && counts.has(0) && isMovedByClock(counts, times.length, step))
    return { step, offset: 0 };
  const isMost = count * 2 > times.length || isMovedByClock(counts, times.length, step);
  return isMost && offset % MINUTE_MS === 0 ? { step, offset } : undefined;
}

/** True for the times of sessions in summer and in winter: two offsets, an hour apart. */
function isMovedByClock(counts: ReadonlyMap<number, number>, rows: number, step: number): boolean {
  const [a, b, ...more] = [...counts.keys()];
  if (b === undefined || more.length > 0 || rows < 2) return false;
  const distance = Math.abs(a! - b);
  return step > HOUR_MS && (distance === HOUR_MS || (step >= DAY_MS && distance === SUMMER_MIDNIGHT));
}

interface PlacedCandles {
  readonly candles: Candles;
  /** What was changed, one sentence each. */
  readonly notes: readonly string[];
  /** Candles that opened off the grid. */
  readonly moved: number;
  /** Time of the first of them, ms; NaN without any. */
  readonly firstMoved: number;
  /** Candles that became one with the candle before. */
  readonly merged: number;
  /** Time of the first of those, ms; NaN without any. */
  readonly firstMerged: number;
}

/** Names that a note lists. */
const NAMED = 5;

/**
 * Candles on their grid: one that opens off it is moved back to it. Two candles in one step become one: open of the first, highest,
 * lowest, close of the last, sum of the volumes. The times of a session stay when clocks move them by an hour.
 *
 * @param candles ascending, each time once; their arrays are reused
 */
export function placeOnGrid(candles: Candles, { step, offset }: CandleGrid): PlacedCandles {
  const { timestamp, open, high, low, close, volume } = candles;
  const isKept = (time: number) => {
    const own = offsetOf(time, step);
    return own === offset || (offset !== 0 && step > HOUR_MS && Math.abs(own - offset) === HOUR_MS);
  };
  let moved = 0;
  let firstMoved = Number.NaN;
  let isLater = false;
  const merged: number[] = [];
  let last = -1;
  for (let row = 0; row < timestamp.length; row++) {
    let time = timestamp[row]!;
    if (!isKept(time)) {
      if (moved === 0) firstMoved = time;
      moved++;
      const place = placeOf(time, step, offset);
      isLater ||= place > time;
      time = place;
    }
    if (last >= 0 && isSame(timestamp[last]!, time, step)) {
      if (merged.at(-1) !== timestamp[last]) merged.push(timestamp[last]!);
      high[last] = Math.max(high[last]!, high[row]!);
      low[last] = Math.min(low[last]!, low[row]!);
      close[last] = close[row]!;
      volume[last]! += volume[row]!;
      continue;
    }
    last++;
    timestamp[last] = time;
    open[last] = open[row]!;
    high[last] = high[row]!;
    low[last] = low[row]!;
    close[last] = close[row]!;
    volume[last] = volume[row]!;
  }
  const rows = last + 1;
  const placed = {
    timestamp: timestamp.subarray(0, rows),
    open: open.subarray(0, rows),
    high: high.subarray(0, rows),
    low: low.subarray(0, rows),
    close: close.subarray(0, rows),
    volume: volume.subarray(0, rows),
  };
  return {
    candles: placed,
    notes: [...movedNote(moved, firstMoved, isLater), ...mergedNote(merged)],
    moved,
    firstMoved,
    merged: timestamp.length - rows,
    firstMerged: merged[0] ?? Number.NaN,
  };
}

/**
 * The place of a candle that opens off the grid: the one before it. A day that begins an hour early does so by summer time: its place is
 * the next one, or it would be in that of the day before.
 */
function placeOf(time: number, step: number, offset: number): number {
  const unit = Math.min(step, DAY_MS);
  const place = floorToGrid(time - offset, unit) + offset;
  return unit === DAY_MS && time - place === SUMMER_MIDNIGHT ? place + DAY_MS : place;
}

/** @param isLater some were moved to a later time */
function movedNote(moved: number, first: number, isLater: boolean): string[] {
  if (moved === 0) return [];
  return [
    `${formatCount(moved, 'candle')} off the grid, from ${isoTime(first)}: moved ${isLater ? '' : 'back '}to it`,
  ];
}

/** @param merged times that had two candles, ms */
function mergedNote(merged: readonly number[]): string[] {
  if (merged.length === 0) return [];
  const names = merged.slice(0, NAMED).map(isoTime);
  const others = merged.length > NAMED ? ` and ${merged.length - NAMED} more` : '';
  return [
    `${formatCount(merged.length, 'time')} with two candles (${names.join(', ')}${others}): open of the first, highest, lowest, close of the last, sum of the volumes`,
  ];
}

/** True if both times are in one place of the grid. Candles of more than a day may be shorter where the exchange moved its grid. */
function isSame(a: number, b: number, step: number): boolean {
  if (b === a) return true;
  if (b - a >= step) return false;
  return floorToGrid(a, step) === floorToGrid(b, step);
}
