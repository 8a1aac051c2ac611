import { CodedError } from '#contract/values/errors.ts';
import { SERVES_NEWEST_ONLY } from '#contract/values/market-data-limits.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { SeriesKey } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { tradingModeOf } from '../shared/validate.ts';
import { collectFunding } from './collect-funding.ts';
import { InstrumentCollector, type InstrumentDeps } from './collect-instruments.ts';
import type { Exchange } from './exchange-ports.ts';
import { addChanges, type CandleChanges, type FillDeps, fillChunk, NO_CHANGES } from './fill-chunk.ts';
import type { TimeInterval } from './missing-ranges.ts';

export type CollectDeps = FillDeps & InstrumentDeps;

export interface CollectRequest {
  readonly exchange: Exchange;
  readonly symbols: readonly string[];
  readonly timeframe: Timeframe;
  /** Candles that open in `[start, end)` ms are wanted. */
  readonly start: number;
  readonly end: number;
  /** Ends the current fetch; stored candles are kept. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CollectProgress) => void;
}

export interface CollectProgress {
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
  /** Candles of the exchange that are not stored, or not as it has them. */
  readonly changes: CandleChanges;
  /** Number of candles that the exchange serves, where the range begins before them; null: it serves the range. */
  readonly served: number | null;
  /** Corrupt files that were found and replaced. */
  readonly corrupt: readonly string[];
  /** Reason why the symbol's instrument was not collected. */
  readonly noInstrument: CodedError | null;
  /** Error that ended the symbol early; candles stored before it are kept. */
  readonly error: CodedError | null;
}

/** Candles of one chunk: as many whole months as hold up to this number, at least one month. */
const CHUNK_CANDLES = 10_000;
const LONGEST_MONTH_MS = 31 * 86_400_000;
/**
 * Consecutive symbols with DATA004 and no new data, after all retries; the remaining symbols are then not requested.
 */
const FAILED_IN_A_ROW = 3;

/**
 * Fetches the missing data of each symbol, its instrument included, in chunks of months and stores each chunk
 * immediately. A collection that dies is resumed by starting it again, and a complete one fetches nothing. A symbol
 * that the exchange rejects (DATA003, DATA004) is named in its outcome and the others continue. When the exchange
 * itself is down the rest is not requested: each symbol would delay the next collections by half a minute. Throws
 * DATA005, and the signal's reason when aborted.
 */
export async function collectCandles(deps: CollectDeps, request: CollectRequest): Promise<SymbolOutcome[]> {
  const step = TIMEFRAME_MS[request.timeframe];
  const start = ceilToGrid(request.start, step);
  // Candles that are still forming are never wanted.
  const end = Math.min(ceilToGrid(request.end, step), floorToGrid(deps.clock.now(), step));
  const chunks = chunksOf(start, end, step);
  const instruments = await InstrumentCollector.open(deps, request.exchange, request.symbols);
  const outcomes: SymbolOutcome[] = [];
  let total = 0;
  for (const [index, symbol] of request.symbols.entries()) {
    if (isDown(outcomes)) {
      outcomes.push({ ...emptyOutcome(symbol, request.timeframe), error: skipped() });
      continue;
    }
    const outcome = await collectSymbol(
      deps,
      { ...request, instruments },
      symbol,
      chunks,
      (chunk, candles) => {
        total += candles;
        const done = (index + chunk / chunks.length) / request.symbols.length;
        request.onProgress?.({ done, candles: total });
      },
    );
    outcomes.push(outcome);
  }
  return outcomes;
}

function isDown(outcomes: readonly SymbolOutcome[]): boolean {
  const last = outcomes.slice(-FAILED_IN_A_ROW);
  return (
    last.length === FAILED_IN_A_ROW &&
    last.every(({ error, candles, funding }) => error?.code === 'DATA004' && candles + funding === 0)
  );
}

function skipped(): CodedError {
  const message = `skipped: the exchange failed ${FAILED_IN_A_ROW} symbols in a row`;
  return new CodedError('DATA004', { message });
}

function emptyOutcome(symbol: string, timeframe: Timeframe) {
  return {
    symbol,
    timeframe,
    candles: 0,
    funding: 0,
    changes: NO_CHANGES,
    served: null as number | null,
    corrupt: [] as string[],
    noInstrument: null as CodedError | null,
  };
}

/** `[start, end)` cut at the first of some months, UTC. */
function chunksOf(start: number, end: number, step: number): TimeInterval[] {
  const months = Math.max(1, Math.floor((CHUNK_CANDLES * step) / LONGEST_MONTH_MS));
  const chunks: TimeInterval[] = [];
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
  request: CollectRequest & { readonly instruments: InstrumentCollector },
  symbol: string,
  chunks: readonly TimeInterval[],
  onChunk: (done: number, candles: number) => void,
): Promise<SymbolOutcome> {
  const { exchange, timeframe, signal, instruments } = request;
  const outcome = emptyOutcome(symbol, timeframe);
  try {
    if (chunks.length > 0) {
      // Funding and instrument precede the candles: freshness is decided by the candles, so later runs would not fetch
      // them.
      const funded = { start: chunks[0]!.start, end: chunks.at(-1)!.end };
      if (tradingModeOf(symbol) === 'futures') {
        const funding = await collectFunding(deps, exchange, symbol, funded, signal);
        outcome.funding = funding.added;
        outcome.corrupt.push(...funding.corrupt);
      }
      outcome.noInstrument = await instruments.collect(symbol, signal);
    }
    await fillChunks(deps, request, chunks, outcome, onChunk);
    return { ...outcome, error: null };
  } catch (error) {
    if (error instanceof CodedError && (error.code === 'DATA003' || error.code === 'DATA004')) {
      return { ...outcome, error };
    }
    throw error;
  }
}

async function fillChunks(
  deps: CollectDeps,
  { exchange, timeframe, signal }: CollectRequest,
  chunks: readonly TimeInterval[],
  outcome: ReturnType<typeof emptyOutcome>,
  onChunk: (done: number, candles: number) => void,
): Promise<void> {
  const key: SeriesKey = { exchange: exchange.name, symbol: outcome.symbol, timeframe };
  const months = await deps.series.months(key);
  const served = SERVES_NEWEST_ONLY.get(exchange.name);
  const step = TIMEFRAME_MS[timeframe];
  const oldest = served === undefined ? 0 : floorToGrid(deps.clock.now(), step) - served * step;
  if (served !== undefined && chunks.length > 0 && chunks[0]!.start < oldest) outcome.served = served;
  for (const [index, chunk] of chunks.entries()) {
    signal?.throwIfAborted();
    if (chunk.end <= oldest) {
      onChunk(index + 1, 0);
      continue;
    }
    const filled = await fillChunk(deps, { exchange, key, months, chunk, signal });
    outcome.candles += filled.added;
    outcome.changes = addChanges(outcome.changes, filled.changes);
    outcome.corrupt.push(...filled.corrupt);
    onChunk(index + 1, filled.added);
  }
  // All candles that the exchange has in the range are stored. Earlier candles do not exist, so they are not missing. Those that it
  // does not serve may exist.
  const from = Math.max(chunks[0]?.start ?? 0, oldest);
  if (chunks.length > 0 && from < chunks.at(-1)!.end) {
    const range = { from, to: chunks.at(-1)!.end };
    await deps.series.markComplete(key, range, isoTime(deps.clock.now()));
  }
}
