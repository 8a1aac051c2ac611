import { formatInteger } from '#contract/values/format-count.ts';
import { type CandleGrid, gridOf, placeOnGrid } from '#domain/data/gaps/place-on-grid.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';

import { isOnGrid } from '#engine/timeframe.ts';
import {
  inOrder,
  keptRows,
  rejectWrongRows,
  type TimeRules,
  takeTimes,
  timeProblem,
  volumesNote,
  withoutWrongRows,
} from './checks.ts';

import { BadFileError, type FileRows, isoTime } from './file-rows.ts';

export interface CheckedCandles {
  /** At least one; ascending, each time once. */
  readonly candles: Candles;
  /** Rows that were merged into another row of the same time. */
  readonly duplicates: number;
  /** Corrections, one sentence each, for the user. */
  readonly notes: readonly string[];
}

export interface CandleRules {
  /** Length of a candle, ms. */
  readonly step: number;
  /** Name of that length, such as `5m`. */
  readonly timeframe: string;
  /** Unix milliseconds. A candle that closes later is left out; a candle that opens later is invalid. */
  readonly now: number;
  /** Wrong rows are left out and noted. Default: they reject the file. */
  readonly skipInvalid?: boolean;
}

/** Said where wrong rows reject a file. */
const SKIP_HINT = '. --skip-invalid leaves such rows out';
/** Relative size of the errors of computed prices, such as adjusted ones. */
const FLOAT_NOISE = 1e-9;

/**
 * Candles of a file, sorted by time. Rows of one time are merged as in freqtrade: first open, highest high, lowest low, last
 * close, highest volume. A missing volume, as in mark prices, is 0.
 * @param given `timestamp, open, high, low, close, volume`; their arrays are reused
 * @throws BadFileError for an invalid row: one invalid row rejects the whole file, unless such rows are skipped
 */
export function checkCandles(given: FileRows, rules: CandleRules): CheckedCandles {
  const times = takeTimes(given.columns[0]!, rules.now);
  const notes = [...times.notes];
  let rows = withoutEmptyRows(given, notes);
  notes.push(...volumesNote(fillVolumes(rows.columns[5]!)));
  const clipped = clipNoise(candlesOf(rows.columns));
  if (clipped > 0) {
    notes.push(`${counted(clipped)} clipped: a high below, or a low above, open and close by float noise`);
  }
  const grid = gridOf(rows.columns[0]!, rules.step);
  const problemOf = candleProblems(candlesOf(rows.columns), rules, times.rules, grid);
  if (rules.skipInvalid) {
    const valid = withoutWrongRows(rows, problemOf);
    rows = valid.rows;
    notes.push(...valid.notes);
  } else rejectWrongRows(rows, problemOf, SKIP_HINT);
  const { columns, sorted } = inOrder(rows.columns);
  if (sorted) notes.push('rows were not in time order: sorted');
  const all = candlesOf(columns);
  rejectSeveral(all);
  const distinct = mergeRepeated(all);
  const { candles, notes: changes } = placeOnGrid(
    sliceCandles(all, 0, distinct),
    grid ?? { step: rules.step, offset: 0 },
  );
  notes.push(...changes);
  const length = candles.timestamp.length;
  const open = candles.timestamp[length - 1]! + rules.step > rules.now;
  notes.push(...openNote(open));
  const closed = length - (open ? 1 : 0);
  if (closed === 0) throw new BadFileError('holds no closed candle');
  return { candles: sliceCandles(candles, 0, closed), duplicates: all.timestamp.length - distinct, notes };
}

/** A sentence for the user on a last candle that is not closed. */
export const openNote = (isOpen: boolean) => (isOpen ? ['the last candle is still open: left out'] : []);

export function candlesOf(columns: readonly Float64Array[]): Candles {
  const [timestamp, open, high, low, close, volume] = columns as readonly Float64Array[] & { length: 6 };
  return { timestamp: timestamp!, open: open!, high: high!, low: low!, close: close!, volume: volume! };
}

const counted = (rows: number) => `${formatInteger(rows)} row${rows === 1 ? '' : 's'}`;

/** Rows without any price, which some vendors write where nothing was traded. */
function withoutEmptyRows(rows: FileRows, notes: string[]): FileRows {
  const { open, high, low, close } = candlesOf(rows.columns);
  const kept = keptRows(
    rows,
    (row) =>
      !(
        Number.isNaN(open[row]) &&
        Number.isNaN(high[row]) &&
        Number.isNaN(low[row]) &&
        Number.isNaN(close[row])
      ),
  );
  const empty = open.length - kept.columns[0]!.length;
  if (empty > 0) notes.push(`${counted(empty)} without prices (no trades), left out`);
  return kept;
}

/** Corrects highs and lows that miss open and close by float noise. Returns the number of corrected rows. */
function clipNoise({ open, high, low, close }: Candles): number {
  let clipped = 0;
  for (let row = 0; row < open.length; row++) {
    const top = Math.max(open[row]!, close[row]!);
    const bottom = Math.min(open[row]!, close[row]!);
    const isHighLow = high[row]! < top && high[row]! >= top * (1 - FLOAT_NOISE);
    const isLowHigh = low[row]! > bottom && low[row]! <= bottom * (1 + FLOAT_NOISE);
    if (!isHighLow && !isLowHigh) continue;
    if (isHighLow) high[row] = top;
    if (isLowHigh) low[row] = bottom;
    clipped++;
  }
  return clipped;
}

/** Sets missing volumes to 0. Returns their number. */
export function fillVolumes(volume: Float64Array): number {
  let filled = 0;
  for (let row = 0; row < volume.length; row++) {
    if (!Number.isNaN(volume[row])) continue;
    volume[row] = 0;
    filled++;
  }
  return filled;
}

/** True for prices that are complete, above 0 and within high and low. */
export function isPrice(open: number, high: number, low: number, close: number): boolean {
  return (
    low > 0 && high < Number.POSITIVE_INFINITY && open >= low && open <= high && close >= low && close <= high
  );
}

/** @param grid undefined: the candles have no grid in common */
function candleProblems(
  candles: Candles,
  { step, timeframe }: CandleRules,
  times: TimeRules,
  grid: CandleGrid | undefined,
) {
  return (row: number): string | undefined => {
    const time = candles.timestamp[row]!;
    const [open, high, low] = [candles.open[row]!, candles.high[row]!, candles.low[row]!];
    const [close, volume] = [candles.close[row]!, candles.volume[row]!];
    const wrongTime = timeProblem(time, times);
    if (wrongTime) return wrongTime;
    if (!grid && !isOnGrid(time, step)) return `${isoTime(time)} is not on the ${timeframe} grid`;
    if (Number.isNaN(open + high + low + close)) return 'a price is missing';
    if (!(low > 0)) return `low ${low} is not above 0`;
    if (high === Infinity) return 'high is not finite';
    if (high < Math.max(open, close, low)) return `high ${high} is below open, low or close`;
    if (low > Math.min(open, close)) return `low ${low} is above open or close`;
    if (!(volume >= 0 && volume < Infinity)) return `volume ${volume} is negative or not finite`;
    return undefined;
  };
}

/** Share of the rows that may contradict the one before them at the same time. */
const MAX_CONTRADICTIONS = 0.1;
const MIN_CONTRADICTIONS = 10;

/** Throws BadFileError for the candles of several series: many rows of one time with entirely different prices. */
function rejectSeveral({ timestamp, open, high, low, close }: Candles): void {
  const { length } = timestamp;
  let count = 0;
  for (let row = 1; row < length; row++) {
    if (timestamp[row] !== timestamp[row - 1]) continue;
    const differs = [open, high, low, close].every((column) => column[row] !== column[row - 1]);
    if (differs) count++;
  }
  if (count < MIN_CONTRADICTIONS || count < length * MAX_CONTRADICTIONS) return;
  throw new BadFileError(
    `${formatInteger(count)} of ${formatInteger(length)} rows have the time of another row and other prices: it may hold several series. Name the column that tells them apart, such as --columns symbol=NAME`,
  );
}

/** Merges rows of one time in place and returns the number of remaining rows. */
function mergeRepeated({ timestamp, open, high, low, close, volume }: Candles): number {
  let last = 0;
  for (let row = 1; row < timestamp.length; row++) {
    if (timestamp[row] === timestamp[last]) {
      high[last] = Math.max(high[last]!, high[row]!);
      low[last] = Math.min(low[last]!, low[row]!);
      close[last] = close[row]!;
      volume[last] = Math.max(volume[last]!, volume[row]!);
      continue;
    }
    last++;
    timestamp[last] = timestamp[row]!;
    open[last] = open[row]!;
    high[last] = high[row]!;
    low[last] = low[row]!;
    close[last] = close[row]!;
    volume[last] = volume[row]!;
  }
  return last + 1;
}
