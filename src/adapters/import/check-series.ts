import { DAY_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { floorToGrid } from '#engine/timeframe.ts';
import { type CandleRules, candlesOf, checkCandles, fillVolumes, isPrice, openNote } from './candles.ts';
import { isPossibleTime, TimeUnits, volumesNote } from './checks.ts';
import type { SharedRows } from './shared-rows.ts';

/** Candles of a file that can be stored: ascending, each time once. */
export interface CheckedSeries {
  /** At least one. */
  readonly rows: number;
  /** Open time of the last candle, ms. */
  readonly last: number;
  /** Rows that were merged into another row of the same time. */
  readonly duplicates: number;
  /** Corrections, one sentence each, for the user. */
  readonly notes: readonly string[];
  /** Open times, ms, in parts; the array of a part is reused for the next one. */
  times(): Iterable<Float64Array>;
  /** The candles in parts; the arrays of a part are reused for the next one. */
  parts(): Iterable<Candles>;
}

/**
 * Checks all rows before any is stored. Most files have nothing to correct: they are read part by part. Others are corrected in memory.
 * @throws BadFileError for an invalid row
 */
export function checkSeries(rows: SharedRows, rules: CandleRules): CheckedSeries {
  const inOrder = checkInOrder(rows, rules);
  if (inOrder) return inOrder;
  const { candles, ...checked } = checkCandles(rows.load(), rules);
  const { timestamp } = candles;
  return {
    ...checked,
    rows: timestamp.length,
    last: timestamp.at(-1)!,
    times: () => [timestamp],
    parts: () => [candles],
  };
}

/** The series without its last candle, which must not be the only one. */
export function withoutLast(series: CheckedSeries): CheckedSeries {
  const rows = series.rows - 1;
  let last = Number.NaN;
  for (const times of firstTimes(series.times(), rows)) last = times.at(-1)!;
  return {
    ...series,
    rows,
    last,
    times: () => firstTimes(series.times(), rows),
    parts: () => firstCandles(series.parts(), rows),
  };
}

/**
 * Checks rows of which none is moved, merged, sorted, clipped or left out: candles in the order of time, a step or more apart, all on one
 * grid. Undefined for other rows.
 */
function checkInOrder(rows: SharedRows, { step, now }: CandleRules): CheckedSeries | undefined {
  const unit = Math.min(step, DAY_MS);
  const units = new TimeUnits();
  let first = Number.NaN;
  let before = Number.NaN;
  let last = Number.NEGATIVE_INFINITY;
  let volumes = 0;
  for (const block of rows.blocks({ reused: true })) {
    const { timestamp, open, high, low, close, volume } = candlesOf(block);
    units.convert(timestamp);
    if (Number.isNaN(first)) first = timestamp[0]!;
    for (let row = 0, { length } = timestamp; row < length; row++) {
      const time = timestamp[row]!;
      // Most candles follow each other: a division a row would double the time.
      const isNext = time - last === step || (time - last > step && (time - first) % unit === 0);
      if (!isNext || time > now || !isPrice(open[row]!, high[row]!, low[row]!, close[row]!)) return undefined;
      before = last;
      last = time;
    }
    volumes += fillVolumes(volume);
    if (!areVolumes(volume)) return undefined;
  }
  const isOnMinutes = (first - floorToGrid(first, unit)) % MINUTE_MS === 0;
  const isOpen = last + step > now;
  const count = rows.length - (isOpen ? 1 : 0);
  if (!isOnMinutes || !isPossibleTime(first) || !isPossibleTime(last) || count === 0) return undefined;
  return {
    rows: count,
    last: isOpen ? before : last,
    duplicates: 0,
    notes: [...units.notes(), ...volumesNote(volumes), ...openNote(isOpen)],
    times: () => firstTimes(timesIn(rows), count),
    parts: () => firstCandles(candlesIn(rows), count),
  };
}

function areVolumes(volumes: Float64Array): boolean {
  for (let row = 0, { length } = volumes; row < length; row++)
    if (!(volumes[row]! >= 0 && volumes[row]! < Number.POSITIVE_INFINITY)) return false;
  return true;
}

function* timesIn(rows: SharedRows): Generator<Float64Array> {
  const units = new TimeUnits();
  for (const [times] of rows.blocks({ columns: 1, reused: true })) {
    units.convert(times!);
    yield times!;
  }
}

function* candlesIn(rows: SharedRows): Generator<Candles> {
  const units = new TimeUnits();
  for (const block of rows.blocks({ reused: true })) {
    const candles = candlesOf(block);
    units.convert(candles.timestamp);
    fillVolumes(candles.volume);
    yield candles;
  }
}

function* firstTimes(parts: Iterable<Float64Array>, count: number): Generator<Float64Array> {
  let left = count;
  for (const times of parts) {
    if (left > 0) yield times.subarray(0, left);
    left -= times.length;
  }
}

function* firstCandles(parts: Iterable<Candles>, count: number): Generator<Candles> {
  let left = count;
  for (const candles of parts) {
    if (left > 0) yield sliceCandles(candles, 0, left);
    left -= candles.timestamp.length;
  }
}
