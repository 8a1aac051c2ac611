import { CodedError } from '#contract/errors.ts';
import { createCandles, indexAtOrAfter } from '#engine/candles.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { CandleStore, Clock, Exchange, SeriesInfo, SeriesKey, SeriesStore } from '../ports.ts';
import { cleanCandles, pickRows } from './clean-candles.ts';
import { collectFunding } from './collect-funding.ts';

export interface CollectDeps {
  readonly series: SeriesStore;
  readonly candles: CandleStore;
  readonly clock: Clock;
}

export interface CollectRequest {
  readonly exchange: Exchange;
  readonly symbols: readonly string[];
  readonly timeframe: Timeframe;
  /** Candles that open in `[start, end)` ms are wanted. */
  readonly start: number;
  readonly end: number;
  /** Checked between two fetches. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CollectProgress) => void;
}

interface CollectProgress {
  /** Share of the work that is done, 0 to 1. */
  readonly done: number;
  /** Candles stored by this collection so far. */
  readonly candles: number;
}

export interface SymbolOutcome {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** Candles and funding events that were not stored before. */
  readonly candles: number;
  readonly funding: number;
  /** Candles that the exchange gave and that cannot be true. */
  readonly rejected: number;
  /** What ended the symbol early; what was stored until then stays. */
  readonly error: CodedError | null;
}

/** At least so many candles are asked for at once, if that many are missing: whole months, as they are stored. */
const CHUNK_CANDLES = 10_000;
const LONGEST_MONTH_MS = 31 * 86_400_000;

/**
 * Fetches what is missing of each symbol, month by month, and stores it at once: a collection that dies is resumed by
 * starting it again, and one that is complete fetches nothing. A symbol that the exchange refuses (DATA003, DATA004)
 * is named in its outcome and the others go on. Throws DATA005, and the signal's reason when aborted.
 */
export async function collectCandles(deps: CollectDeps, request: CollectRequest): Promise<SymbolOutcome[]> {
  const step = TIMEFRAME_MS[request.timeframe];
  const start = Math.ceil(request.start / step) * step;
  // Candles that are still forming are never wanted.
  const end = Math.min(Math.ceil(request.end / step) * step, Math.floor(deps.clock.now() / step) * step);
  const chunks = chunksOf(start, end, step);
  const outcomes: SymbolOutcome[] = [];
  let total = 0;
  for (const [index, symbol] of request.symbols.entries()) {
    const outcome = await collectSymbol(deps, request, symbol, chunks, (chunk, candles) => {
      total += candles;
      const done = (index + chunk / chunks.length) / request.symbols.length;
      request.onProgress?.({ done, candles: total });
    });
    outcomes.push(outcome);
  }
  return outcomes;
}

interface Chunk {
  readonly start: number;
  readonly end: number;
}

/** `[start, end)` cut at the first of some months, UTC. */
function chunksOf(start: number, end: number, step: number): Chunk[] {
  const months = Math.max(1, Math.floor((CHUNK_CANDLES * step) / LONGEST_MONTH_MS));
  const chunks: Chunk[] = [];
  for (let from = start; from < end; from = chunks.at(-1)!.end) {
    const date = new Date(from);
    chunks.push({
      start: from,
      end: Math.min(end, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)),
    });
  }
  return chunks;
}

async function collectSymbol(
  deps: CollectDeps,
  request: CollectRequest,
  symbol: string,
  chunks: readonly Chunk[],
  onChunk: (done: number, candles: number) => void,
): Promise<SymbolOutcome> {
  const { exchange, timeframe } = request;
  const key: SeriesKey = { exchange: exchange.name, symbol, timeframe };
  const outcome = { symbol, timeframe, candles: 0, funding: 0, rejected: 0 };
  try {
    const known = await deps.series.getMany(exchange.name, [key]);
    let info = known.get(`${symbol}#${timeframe}`);
    for (const [index, chunk] of chunks.entries()) {
      request.signal?.throwIfAborted();
      const filled = await fillChunk(deps, exchange, key, info, chunk);
      info = filled.info;
      outcome.candles += filled.added;
      outcome.rejected += filled.rejected;
      onChunk(index + 1, filled.added);
    }
    if (chunks.length > 0) {
      const funded = { start: chunks[0]!.start, end: chunks.at(-1)!.end };
      outcome.funding = await collectFunding(deps.candles, exchange, symbol, funded.start, funded.end);
    }
    return { ...outcome, error: null };
  } catch (error) {
    if (error instanceof CodedError && (error.code === 'DATA003' || error.code === 'DATA004')) {
      return { ...outcome, error };
    }
    throw error;
  }
}

interface Filled {
  readonly info: SeriesInfo | undefined;
  readonly added: number;
  readonly rejected: number;
}

async function fillChunk(
  deps: CollectDeps,
  exchange: Exchange,
  key: SeriesKey,
  info: SeriesInfo | undefined,
  chunk: Chunk,
): Promise<Filled> {
  const step = TIMEFRAME_MS[key.timeframe];
  const claim = claimOf(info, chunk, step);
  if (claim === 'all') return { info, added: 0, rejected: 0 };
  const stored = claim === 'none' ? createCandles(0) : await deps.candles.read(key, chunk.start, chunk.end);
  const missing = missingStretch(stored.timestamp, chunk, step);
  if (!missing) {
    // A writer died between the file and the series: what is stored is recorded again.
    const repaired = claim === 'not all' ? await deps.candles.write(key, stored) : info;
    return { info: repaired, added: 0, rejected: 0 };
  }
  const raw = await exchange.fetchCandles(key.symbol, key.timeframe, missing.start, missing.end);
  const { candles, rejected } = cleanCandles(raw, { ...missing, step });
  // What is stored stays as it is: results name the digest of the candles they read.
  const known = new Set(stored.timestamp);
  const rows = [...candles.timestamp.keys()].filter((i) => !known.has(candles.timestamp[i]!));
  if (rows.length === 0) return { info, added: 0, rejected };
  return { info: await deps.candles.write(key, pickRows(candles, rows)), added: rows.length, rejected };
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
