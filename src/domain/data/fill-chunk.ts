import { type Candles, createCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { Exchange } from '../exchange-ports.ts';
import type { CandleStore, Clock, SeriesKey, SeriesMonth, SeriesStore } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { cleanCandles, pickRows } from './clean-candles.ts';
import {
  FEW_HOLES,
  isManyHoles,
  missingAtEnds,
  missingBetween,
  type Stretch,
  wantedOf,
} from './what-is-missing.ts';

export interface FillDeps {
  readonly series: SeriesStore;
  readonly candles: CandleStore;
  readonly clock: Clock;
}

export interface FillRequest {
  readonly exchange: Exchange;
  readonly key: SeriesKey;
  /** What is stored of each month of the series. */
  readonly months: readonly SeriesMonth[];
  readonly chunk: Stretch;
  readonly signal: AbortSignal | undefined;
}

export interface Filled {
  readonly added: number;
  /** Candles that cannot be true. */
  readonly rejected: number;
  /** Damaged files that were met; they are replaced by what the exchange gave. */
  readonly damaged: readonly string[];
}

/** Fetches what is missing of a chunk and stores it. */
export async function fillChunk(deps: FillDeps, request: FillRequest): Promise<Filled> {
  const { key, months, chunk } = request;
  const step = TIMEFRAME_MS[key.timeframe];
  const wanted = wantedOf(months, chunk, { step, now: deps.clock.now() });
  if (wanted === 'nothing') return { added: 0, rejected: 0, damaged: [] };
  const damaged: string[] = [];
  const stored = await deps.candles.read(key, chunk.start, chunk.end, (file) => damaged.push(file));
  const missingOf = wanted === 'all' ? missingBetween : missingAtEnds;
  const missing = missingOf(stored.timestamp, chunk, step);
  if (missing.length === 0) {
    // A writer died between the file and the series: what is stored is recorded again.
    await deps.candles.write(key, stored);
    return { added: 0, rejected: 0, damaged };
  }
  const { candles, rejected } = await fetchMissing(request, new Set(stored.timestamp), missing);
  const added = candles.timestamp.length;
  if (added > 0) await deps.candles.write(key, candles);
  if (wanted === 'all') await noteAsked(deps, request);
  return { added, rejected, damaged };
}

/** Of months with many holes that lie whole in the chunk, that they were asked for again. */
async function noteAsked({ series, clock }: FillDeps, { key, months, chunk }: FillRequest): Promise<void> {
  const holed = months.filter(
    ({ first, last, gapCount }) => gapCount > 0 && first >= chunk.start && last < chunk.end,
  );
  if (!isManyHoles(holed)) return;
  const names = holed.map(({ month }) => month);
  await series.markAsked(key, names, isoTime(clock.now()));
}

/** What the exchange has of some stretches and is not stored: that stays as it is, since results name the digest of it. */
async function fetchMissing(
  { exchange, key, signal }: FillRequest,
  stored: Set<number>,
  stretches: readonly Stretch[],
): Promise<{ candles: Candles; rejected: number }> {
  const step = TIMEFRAME_MS[key.timeframe];
  const fetch = async ({ start, end }: Stretch) =>
    cleanCandles(await exchange.fetchCandles(key.symbol, key.timeframe, start, end, signal), {
      start,
      end,
      step,
    });
  const parts: Candles[] = [];
  let rejected = 0;
  for (const stretch of stretches) {
    const given = await fetch(stretch);
    parts.push(given.candles);
    rejected += given.rejected;
  }
  const holes = holesIn(new Set([...stored, ...parts.flatMap((part) => [...part.timestamp])]), step);
  if (holes.length <= FEW_HOLES) {
    for (const hole of holes) parts.push((await fetch(hole)).candles);
  }
  const candles = joinCandles(parts);
  const rows = [...candles.timestamp.keys()].filter((row) => !stored.has(candles.timestamp[row]!));
  rows.sort((a, b) => candles.timestamp[a]! - candles.timestamp[b]!);
  return { candles: pickRows(candles, rows), rejected };
}

/** Stretches without a candle between the first and the last of the times. */
function holesIn(times: ReadonlySet<number>, step: number): Stretch[] {
  const ordered = Float64Array.from(times).sort();
  const holes: Stretch[] = [];
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
