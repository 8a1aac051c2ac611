import { formatInteger } from '#contract/values/format-count.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { isOnGrid } from '#engine/timeframe.ts';
import { inOrder, rejectWrongRows, type TimeRules, takeTimes, timeProblem } from './checks.ts';
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
  /** Length of a candle, ms: times are multiples of it. */
  readonly step: number;
  /** Name of that length, such as `5m`. */
  readonly timeframe: string;
  /** Unix milliseconds. A candle that closes later is left out; a candle that opens later is invalid. */
  readonly now: number;
}

/**
 * Candles of a file, sorted by time. Rows of one time are merged as in freqtrade: first open, highest high, lowest low, last
 * close, highest volume. A missing volume, as in mark prices, is 0.
 * @param rows `timestamp, open, high, low, close, volume`; their arrays are reused
 * @throws BadFileError for an invalid row: one invalid row rejects the whole file
 */
export function checkCandles(rows: FileRows, rules: CandleRules): CheckedCandles {
  const times = takeTimes(rows.columns[0]!, rules.now);
  const notes = [...times.notes];
  const withoutVolume = fillVolumes(rows.columns[5]!);
  if (withoutVolume > 0) notes.push(`volume missing in ${formatInteger(withoutVolume)} rows: set to 0`);
  rejectWrongRows(rows, candleProblems(candlesOf(rows.columns), rules, times.rules));
  const { columns, sorted } = inOrder(rows.columns);
  if (sorted) notes.push('rows were not in time order: sorted');
  const all = candlesOf(columns);
  const distinct = mergeRepeated(all);
  const open = all.timestamp[distinct - 1]! + rules.step > rules.now;
  if (open) notes.push('the last candle is still open: left out');
  const closed = distinct - (open ? 1 : 0);
  if (closed === 0) throw new BadFileError('holds no closed candle');
  return { candles: sliceCandles(all, 0, closed), duplicates: all.timestamp.length - distinct, notes };
}

/** Gaps that are listed individually. */
const GAPS_LISTED = 10;

export interface Gaps {
  readonly count: number;
  /** Candles missing in all gaps. */
  readonly missing: number;
  /** Up to ten, widest first, then oldest first. `start`: open time of the first missing candle, ISO 8601. */
  readonly widest: readonly { readonly start: string; readonly missing: number }[];
}

/** Gaps in the grid between the first and the last of ascending times. `step`: length of a candle, ms. */
export function gapsBetween(times: Float64Array, step: number): Gaps {
  let count = 0;
  let total = 0;
  const widest: { readonly start: number; readonly missing: number }[] = [];
  for (let row = 1; row < times.length; row++) {
    const missing = (times[row]! - times[row - 1]!) / step - 1;
    if (missing === 0) continue;
    count++;
    total += missing;
    if (widest.length === GAPS_LISTED && missing <= widest.at(-1)!.missing) continue;
    widest.push({ start: times[row - 1]! + step, missing });
    widest.sort((a, b) => b.missing - a.missing);
    widest.length = Math.min(widest.length, GAPS_LISTED);
  }
  return {
    count,
    missing: total,
    widest: widest.map(({ start, missing }) => ({ start: isoTime(start), missing })),
  };
}

function candlesOf(columns: readonly Float64Array[]): Candles {
  const [timestamp, open, high, low, close, volume] = columns as readonly Float64Array[] & { length: 6 };
  return { timestamp: timestamp!, open: open!, high: high!, low: low!, close: close!, volume: volume! };
}

function fillVolumes(volume: Float64Array): number {
  let filled = 0;
  for (let row = 0; row < volume.length; row++) {
    if (!Number.isNaN(volume[row])) continue;
    volume[row] = 0;
    filled++;
  }
  return filled;
}

function candleProblems(candles: Candles, { step, timeframe }: CandleRules, times: TimeRules) {
  return (row: number): string | undefined => {
    const time = candles.timestamp[row]!;
    const [open, high, low] = [candles.open[row]!, candles.high[row]!, candles.low[row]!];
    const [close, volume] = [candles.close[row]!, candles.volume[row]!];
    const wrongTime = timeProblem(time, times);
    if (wrongTime) return wrongTime;
    if (!isOnGrid(time, step)) return `${isoTime(time)} is not on the ${timeframe} grid`;
    if (Number.isNaN(open + high + low + close)) return 'a price is missing';
    if (!(low > 0)) return `low ${low} is not above 0`;
    if (high === Infinity) return 'high is not finite';
    if (high < Math.max(open, close, low)) return `high ${high} is below open, low or close`;
    if (low > Math.min(open, close)) return `low ${low} is above open or close`;
    if (!(volume >= 0 && volume < Infinity)) return `volume ${volume} is negative or not finite`;
    return undefined;
  };
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
