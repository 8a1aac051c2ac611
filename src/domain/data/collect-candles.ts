import { CodedError } from '#contract/errors.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Exchange } from '../exchange-ports.ts';
import type { SeriesKey } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { collectFunding } from './collect-funding.ts';
import { InstrumentCollector, type InstrumentDeps } from './collect-instruments.ts';
import { type FillDeps, fillChunk } from './fill-chunk.ts';
import type { TimeInterval } from './missing-ranges.ts';

export type CollectDeps = FillDeps & InstrumentDeps;

export interface CollectRequest {
  readonly exchange: Exchange;
  readonly symbols: readonly string[];
  readonly timeframe: Timeframe;
  /** Candles that open in `[start, end)` ms are wanted. */
  readonly start: number;
  readonly end: number;
  /** Ends the current fetch; what was stored stays. */
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
  /** Candles that the exchange gave and that cannot be true. */
  readonly rejected: number;
  /** Corrupt files that were met and replaced. */
  readonly corrupt: readonly string[];
  /** Why its instrument was not collected. */
  readonly noInstrument: CodedError | null;
  /** What ended the symbol early; what was stored until then stays. */
  readonly error: CodedError | null;
}

/** At least so many candles are asked for at once, if that many are missing: whole months, as they are stored. */
const CHUNK_CANDLES = 10_000;
const LONGEST_MONTH_MS = 31 * 86_400_000;
/** After so many symbols in a row that an exchange failed, each after all its repeats, it fails the others too. */
const FAILED_IN_A_ROW = 3;

/**
 * Fetches what is missing of each symbol, its instrument included, month by month, and stores it at once: a collection that dies is resumed by
 * starting it again, and one that is complete fetches nothing. A symbol that the exchange refuses (DATA003, DATA004)
 * is named in its outcome and the others go on, unless it is the exchange that is down: whoever waits behind this
 * collection would wait half a minute for each symbol. Throws DATA005, and the signal's reason when aborted.
 */
export async function collectCandles(deps: CollectDeps, request: CollectRequest): Promise<SymbolOutcome[]> {
  const step = TIMEFRAME_MS[request.timeframe];
  const start = Math.ceil(request.start / step) * step;
  // Candles that are still forming are never wanted.
  const end = Math.min(Math.ceil(request.end / step) * step, Math.floor(deps.clock.now() / step) * step);
  const chunks = chunksOf(start, end, step);
  const instruments = await InstrumentCollector.open(deps, request.exchange, request.symbols);
  const outcomes: SymbolOutcome[] = [];
  let total = 0;
  for (const [index, symbol] of request.symbols.entries()) {
    if (isDown(outcomes)) {
      outcomes.push({ ...nothingOf(symbol, request.timeframe), error: notAsked() });
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

function notAsked(): CodedError {
  const message = `not asked for, since the exchange failed ${FAILED_IN_A_ROW} symbols in a row`;
  return new CodedError('DATA004', { message });
}

function nothingOf(symbol: string, timeframe: Timeframe) {
  return {
    ...{ symbol, timeframe, candles: 0, funding: 0, rejected: 0, corrupt: [] as string[] },
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
  const outcome = nothingOf(symbol, timeframe);
  try {
    if (chunks.length > 0) {
      // Before the candles, by which freshness is judged: once they are stored nobody asks for what else they lack.
      const funded = { start: chunks[0]!.start, end: chunks.at(-1)!.end };
      const funding = await collectFunding(deps, exchange, symbol, funded, signal);
      outcome.funding = funding.added;
      outcome.corrupt.push(...funding.corrupt);
      outcome.noInstrument = await instruments.collect(symbol, signal);
    }
    await fillChunks(deps, request, symbol, chunks, outcome, onChunk);
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
  symbol: string,
  chunks: readonly TimeInterval[],
  outcome: { candles: number; rejected: number; corrupt: string[] },
  onChunk: (done: number, candles: number) => void,
): Promise<void> {
  const key: SeriesKey = { exchange: exchange.name, symbol, timeframe };
  const months = await deps.series.months(key);
  for (const [index, chunk] of chunks.entries()) {
    signal?.throwIfAborted();
    const filled = await fillChunk(deps, { exchange, key, months, chunk, signal });
    outcome.candles += filled.added;
    outcome.rejected += filled.rejected;
    outcome.corrupt.push(...filled.corrupt);
    onChunk(index + 1, filled.added);
  }
  // All that the exchange has of the range is stored now: what does not exist before the first candle is not awaited.
  if (chunks.length > 0) {
    const range = { from: chunks[0]!.start, to: chunks.at(-1)!.end };
    await deps.series.markComplete(key, range, isoTime(deps.clock.now()));
  }
}
