import { type Candles, createCandles, joinCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Clock, SeriesKey, SeriesMonth, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { Exchange } from './exchange-ports.ts';
import { placeOnGrid } from './gaps/place-on-grid.ts';
import {
  fetchScope,
  hasManyGaps,
  MAX_GAPS_ALWAYS_REFETCHED,
  missingAtEdges,
  missingBetween,
  type TimeInterval,
} from './missing-ranges.ts';

export interface FillDeps {
  readonly series: SeriesStore;
  readonly candles: CandleStore;
  readonly clock: Clock;
}

interface FillRequest {
  readonly exchange: Exchange;
  readonly key: SeriesKey;
  /** Stored months of the series. */
  readonly months: readonly SeriesMonth[];
  readonly chunk: TimeInterval;
  readonly signal: AbortSignal | undefined;
}

/** What was left out or changed of the candles of an exchange. The times are the first, ms; NaN without any. */
export interface CandleChanges {
  /** Invalid candles, see {@link cleanCandles}; those outside of the bounds are not counted. */
  readonly rejected: number;
  readonly firstRejected: number;
  /** Candles that opened off the grid. */
  readonly moved: number;
  readonly firstMoved: number;
  /** Candles that became one with the candle before. */
  readonly merged: number;
  readonly firstMerged: number;
}

export const NO_CHANGES: CandleChanges = {
  rejected: 0,
  firstRejected: Number.NaN,
  moved: 0,
  firstMoved: Number.NaN,
  merged: 0,
  firstMerged: Number.NaN,
};

/** Both changes; `a` is of earlier candles. */
export function addChanges(a: CandleChanges, b: CandleChanges): CandleChanges {
  const first = (x: number, y: number) => (Number.isNaN(x) ? y : x);
  return {
    rejected: a.rejected + b.rejected,
    firstRejected: first(a.firstRejected, b.firstRejected),
    moved: a.moved + b.moved,
    firstMoved: first(a.firstMoved, b.firstMoved),
    merged: a.merged + b.merged,
    firstMerged: first(a.firstMerged, b.firstMerged),
  };
}

interface Filled {
  readonly added: number;
  readonly changes: CandleChanges;
  /** Corrupt files that were found; candles from the exchange replace them. */
  readonly corrupt: readonly string[];
}

const NOTHING = { added: 0, changes: NO_CHANGES };

/** Fetches the missing candles of a chunk and stores them. */
export async function fillChunk(deps: FillDeps, request: FillRequest): Promise<Filled> {
  const { key, months, chunk } = request;
  const step = TIMEFRAME_MS[key.timeframe];
  const wanted = fetchScope(months, chunk, { step, now: deps.clock.now() });
  if (wanted === 'nothing') return { ...NOTHING, corrupt: [] };
  const corrupt: string[] = [];
  const stored = await deps.candles.read(key, chunk.start, chunk.end, (file) => corrupt.push(file));
  const missingOf = wanted === 'all' ? missingBetween : missingAtEdges;
  const missing = missingOf(stored.timestamp, chunk, step);
  if (missing.length === 0) {
    // A writer died between the writes of the file and of the series: record the stored candles again.
    await deps.candles.write(key, stored);
    return { ...NOTHING, corrupt };
  }
  const { candles, changes } = await fetchMissing(request, new Set(stored.timestamp), missing);
  const added = candles.timestamp.length;
  if (added > 0) await deps.candles.write(key, candles);
  if (wanted === 'all') await recordRefetch(deps, request);
  return { added, changes, corrupt };
}

/** Records the refetch of months with many gaps that are entirely in the chunk. */
async function recordRefetch(
  { series, clock }: FillDeps,
  { key, months, chunk }: FillRequest,
): Promise<void> {
  const withGaps = months.filter(
    ({ first, last, gap_count }) => gap_count > 0 && first >= chunk.start && last < chunk.end,
  );
  if (!hasManyGaps(withGaps)) return;
  const names = withGaps.map(({ month }) => month);
  await series.markRefetched(key, names, isoTime(clock.now()));
}

/**
 * Candles of some intervals that the exchange has and storage lacks. Stored candles never change: results name their
 * digest.
 */
async function fetchMissing(
  { exchange, key, signal }: FillRequest,
  stored: Set<number>,
  intervals: readonly TimeInterval[],
): Promise<{ candles: Candles; changes: CandleChanges }> {
  const step = TIMEFRAME_MS[key.timeframe];
  const fetch = async ({ start, end }: TimeInterval) =>
    cleanCandles(await exchange.fetchCandles(key.symbol, key.timeframe, start, end, signal), {
      start,
      end,
      step,
    });
  const parts: Candles[] = [];
  let changes = NO_CHANGES;
  for (const interval of intervals) {
    const given = await fetch(interval);
    parts.push(given.candles);
    changes = addChanges(changes, given);
  }
  const gaps = gapsIn(new Set([...stored, ...parts.flatMap((part) => [...part.timestamp])]), step);
  if (gaps.length <= MAX_GAPS_ALWAYS_REFETCHED) {
    for (const gap of gaps) parts.push((await fetch(gap)).candles);
  }
  const candles = joinCandles(parts);
  const rows = [...candles.timestamp.keys()].filter((row) => !stored.has(candles.timestamp[row]!));
  rows.sort((a, b) => candles.timestamp[a]! - candles.timestamp[b]!);
  return { candles: pickRows(candles, rows), changes };
}

/** Intervals without a candle between the first and the last of the times. */
function gapsIn(times: ReadonlySet<number>, step: number): TimeInterval[] {
  const ordered = Float64Array.from(times).sort();
  const gaps: TimeInterval[] = [];
  for (let i = 1; i < ordered.length; i++) {
    const start = ordered[i - 1]! + step;
    if (ordered[i]! > start) gaps.push({ start, end: ordered[i]! });
  }
  return gaps;
}

interface CleanBounds {
  /** Open times wanted: `[start, end)` ms; `end` is no later than the open candle. */
  readonly start: number;
  readonly end: number;
  /** Length of a candle, ms. */
  readonly step: number;
}

interface CleanedCandles extends CandleChanges {
  /** Ascending by time, each time once, on the grid. */
  readonly candles: Candles;
}

/**
 * The candles from outside that may be stored: within the bounds, in ascending order, low <= open, close <= high, prices above 0,
 * volume not negative. The later row wins when two have the same time. Candles off the timeframe's grid are moved back to it, as
 * those of files are: see {@link placeOnGrid}.
 */
export function cleanCandles(raw: Candles, bounds: CleanBounds): CleanedCandles {
  const rows = new Map<number, number>();
  let rejected = 0;
  let firstRejected = Number.NaN;
  for (let i = 0; i < raw.timestamp.length; i++) {
    const time = raw.timestamp[i]!;
    if (!isPlausible(raw, i)) {
      if (!(time > firstRejected)) firstRejected = time;
      rejected++;
    } else if (time >= bounds.start && time < bounds.end) rows.set(time, i);
  }
  const order = [...rows.keys()].sort((a, b) => a - b).map((time) => rows.get(time)!);
  const { notes: _, ...placed } = placeOnGrid(pickRows(raw, order), { step: bounds.step, offset: 0 });
  return { ...placed, rejected, firstRejected };
}

function isPlausible({ timestamp, open, high, low, close, volume }: Candles, i: number): boolean {
  return (
    Number.isSafeInteger(timestamp[i]!) &&
    low[i]! > 0 &&
    high[i]! < Infinity &&
    low[i]! <= Math.min(open[i]!, close[i]!) &&
    high[i]! >= Math.max(open[i]!, close[i]!) &&
    volume[i]! >= 0 &&
    volume[i]! < Infinity
  );
}

/** The candles of those rows, in that order. */
function pickRows(candles: Candles, rows: readonly number[]): Candles {
  const picked = createCandles(rows.length);
  rows.forEach((row, i) => {
    picked.timestamp[i] = candles.timestamp[row]!;
    picked.open[i] = candles.open[row]!;
    picked.high[i] = candles.high[row]!;
    picked.low[i] = candles.low[row]!;
    picked.close[i] = candles.close[row]!;
    picked.volume[i] = candles.volume[row]!;
  });
  return picked;
}
