import { type Candles, createCandles, indexAtOrAfter } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CandleStore, Exchange, SeriesInfo, SeriesKey } from '../ports.ts';
import { cleanCandles, pickRows } from './clean-candles.ts';
import { monthsBetween } from './months.ts';

/** Times in ms, `[start, end)`, on the timeframe's grid. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
}

export interface Filled {
  readonly info: SeriesInfo | undefined;
  readonly added: number;
  /** Candles that cannot be true. */
  readonly rejected: number;
  /** Damaged files that were met; they are replaced by what the exchange gave. */
  readonly damaged: readonly string[];
}

export interface FillRequest {
  readonly store: CandleStore;
  readonly exchange: Exchange;
  readonly key: SeriesKey;
  /** What is known of the series; undefined when nothing is stored. */
  readonly info: SeriesInfo | undefined;
  readonly chunk: Chunk;
  readonly signal: AbortSignal | undefined;
}

/** So many holes in what an exchange gave are asked for once more: one that has more of them has them for good. */
const HOLES_ASKED_AGAIN = 5;

/** Fetches what is missing of a chunk and stores it. */
export async function fillChunk(request: FillRequest): Promise<Filled> {
  const { store, key, info, chunk } = request;
  const step = TIMEFRAME_MS[key.timeframe];
  const claim = claimOf(info, chunk, step);
  if (claim === 'all') return { info, added: 0, rejected: 0, damaged: [] };
  const damaged: string[] = [];
  const stored =
    claim === 'none'
      ? createCandles(0)
      : await store.read(key, chunk.start, chunk.end, (file) => damaged.push(file));
  const missing = missingStretch(stored.timestamp, chunk, step);
  if (!missing) {
    // A writer died between the file and the series: what is stored is recorded again.
    const repaired = claim === 'not all' ? await store.write(key, stored) : info;
    return { info: repaired, added: 0, rejected: 0, damaged };
  }
  const { candles, rejected } = await fetchMissing(request, new Set(stored.timestamp), missing);
  const added = candles.timestamp.length;
  return { info: added > 0 ? await store.write(key, candles) : info, added, rejected, damaged };
}

/** How much of a chunk is stored, as the series' summary has it; 'unclear' when it does not list all its holes. */
function claimOf(
  info: SeriesInfo | undefined,
  chunk: Chunk,
  step: number,
): 'all' | 'none' | 'not all' | 'unclear' {
  if (!info) return 'none';
  const first = Date.parse(info.first);
  const end = Date.parse(info.last) + step;
  const months = monthsBetween(chunk.start, chunk.end);
  if (info.damaged?.some((month) => months.includes(month))) return 'not all';
  if (chunk.end <= first || chunk.start >= end) return 'none';
  const holed = info.gaps.some((gap) => {
    const start = Date.parse(gap.start);
    return start < chunk.end && start + gap.missing * step > chunk.start;
  });
  if (holed || chunk.start < first || chunk.end > end) return 'not all';
  return info.gap_count === info.gaps.length ? 'all' : 'unclear';
}

/** From the first missing candle of the chunk to the end of the last one; undefined when none is missing. */
function missingStretch(known: Float64Array, chunk: Chunk, step: number): Chunk | undefined {
  let { start, end } = chunk;
  for (let i = indexAtOrAfter(known, start); known[i] === start; i++) start += step;
  for (let i = known.length - 1; end > start && known[i] === end - step; i--) end -= step;
  return start < end ? { start, end } : undefined;
}

/** What the exchange has of a stretch and is not stored: that stays as it is, since results name the digest of it. */
async function fetchMissing(
  { exchange, key, signal }: FillRequest,
  stored: Set<number>,
  stretch: Chunk,
): Promise<{ candles: Candles; rejected: number }> {
  const step = TIMEFRAME_MS[key.timeframe];
  const fetch = async ({ start, end }: Chunk) =>
    cleanCandles(await exchange.fetchCandles(key.symbol, key.timeframe, start, end, signal), {
      start,
      end,
      step,
    });
  const { candles: given, rejected } = await fetch(stretch);
  const parts = [given];
  const holes = holesIn(new Set([...stored, ...given.timestamp]), step);
  if (holes.length <= HOLES_ASKED_AGAIN) {
    for (const hole of holes) parts.push((await fetch(hole)).candles);
  }
  const candles = joinCandles(parts);
  const rows = [...candles.timestamp.keys()].filter((row) => !stored.has(candles.timestamp[row]!));
  rows.sort((a, b) => candles.timestamp[a]! - candles.timestamp[b]!);
  return { candles: pickRows(candles, rows), rejected };
}

/** Stretches without a candle between the first and the last of the times. */
function holesIn(times: ReadonlySet<number>, step: number): Chunk[] {
  const ordered = Float64Array.from(times).sort();
  const holes: Chunk[] = [];
  for (let i = 1; i < ordered.length; i++) {
    const start = ordered[i - 1]! + step;
    if (ordered[i]! > start) holes.push({ start, end: ordered[i]! });
  }
  return holes;
}

function joinCandles(parts: readonly Candles[]): Candles {
  if (parts.length === 1) return parts[0]!;
  const joined = createCandles(parts.reduce((rows, part) => rows + part.timestamp.length, 0));
  let row = 0;
  for (const part of parts) {
    for (const name of Object.keys(joined) as (keyof Candles)[]) joined[name].set(part[name], row);
    row += part.timestamp.length;
  }
  return joined;
}
