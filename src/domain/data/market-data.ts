import {
  type DataFreshnessQuery,
  type ExchangeQuery,
  Freshness,
  Ohlcv,
  Symbols,
} from '#contract/market-data/market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { DataProxy } from '../ports.ts';
import { checkSymbol, checkTimeframe } from '../shared/validate.ts';

/** Symbols of which data collection has candles, ascending. Throws SVC002, SVC004, DATA004, DATA005. */
export function listSymbols(
  deps: { readonly dataProxy: DataProxy; readonly defaultExchange: string },
  { exchange = deps.defaultExchange, correlationId }: ExchangeQuery & { readonly correlationId: string },
): Promise<Symbols> {
  const request = { operation: 'symbols', params: { exchange }, correlationId } as const;
  return callDataCollection(deps.dataProxy, request, Symbols);
}

/**
 * Freshness of the stored candles of some symbols, as data collection reports it.
 * Throws VAL002, VAL003, SVC002, SVC004, DATA003, DATA004, DATA005.
 */
export async function checkFreshness(
  deps: { readonly dataProxy: DataProxy; readonly defaultExchange: string },
  input: DataFreshnessQuery & { readonly correlationId: string },
): Promise<Freshness> {
  const {
    stale_threshold_hours,
    timeframe,
    exchange = deps.defaultExchange,
    trading_mode,
    correlationId,
  } = input;
  const symbols = [...new Set(input.symbols.map((symbol) => checkSymbol(symbol, 'symbols', trading_mode)))];
  for (const each of timeframe?.split(',') ?? []) checkTimeframe(each, 'timeframe');
  const params = {
    symbols,
    timeframe,
    exchange,
    stale_threshold_hours,
    ...(trading_mode === 'spot' && { trading_mode }),
  };
  const request = { operation: 'check-freshness', params, correlationId } as const;
  return callDataCollection(deps.dataProxy, request, Freshness);
}

/**
 * Stored candles of a range, the first `limit`; none of a series that is not stored. Throws SVC002, SVC004, DATA004, DATA005.
 */
export async function readCandles(
  proxy: DataProxy,
  { correlationId, ...params }: CandleRange & { readonly correlationId: string },
): Promise<Ohlcv['data']> {
  try {
    return (await callDataCollection(proxy, { operation: 'fetch_ohlcv', params, correlationId }, Ohlcv)).data;
  } catch (error) {
    if (error instanceof CodedError && error.code === 'DATA003') return [];
    throw error;
  }
}

interface CandleRange {
  readonly exchange: string;
  /** Absent: futures. */
  readonly trading_mode?: 'spot';
  readonly symbol: string;
  readonly timeframe: string;
  /** ISO 8601; `end` is exclusive. */
  readonly start: string;
  readonly end: string;
  readonly limit: number;
}

/** Minimal interface of a contract schema that reads a value. */
interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };
}

/**
 * The result of one of the proxy's operations, parsed with `schema`. Throws SVC002 for a result that does not match it,
 * and the errors of {@link DataProxy}.
 */
async function callDataCollection<T>(
  proxy: DataProxy,
  request: Parameters<DataProxy['call']>[0],
  schema: Schema<T>,
): Promise<T> {
  const result = schema.safeParse(await proxy.call(request));
  if (!result.success) throw new CodedError('SVC002', { cause: result.error });
  return result.data;
}
