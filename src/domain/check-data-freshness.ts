import { Freshness } from '#contract/market-data.ts';
import { askDataCollection } from './ask-data-collection.ts';
import type { FreshnessReport } from './data/check-freshness.ts';
import type { DataProxy } from './ports.ts';
import { checkSymbol, checkTimeframe } from './validate.ts';

export interface CheckDataFreshnessInput {
  readonly symbols: readonly string[];
  readonly stale_threshold_hours: number;
  /** One or several, comma separated. */
  readonly timeframe?: string | undefined;
  /** Default: the configured exchange. */
  readonly exchange?: string | undefined;
  readonly correlationId: string;
}

/**
 * Whether the stored candles of some symbols are new enough, as data collection sees it.
 * Throws VAL002, VAL003, SVC002, SVC004, DATA003, DATA004, DATA005.
 */
export async function checkDataFreshness(
  deps: { readonly dataProxy: DataProxy; readonly defaultExchange: string },
  input: CheckDataFreshnessInput,
): Promise<FreshnessReport> {
  const { stale_threshold_hours, timeframe, exchange = deps.defaultExchange, correlationId } = input;
  const symbols = [...new Set(input.symbols.map((symbol) => checkSymbol(symbol, 'symbols')))];
  for (const each of timeframe?.split(',') ?? []) checkTimeframe(each, 'timeframe');
  const params = { symbols, timeframe, exchange, stale_threshold_hours };
  const request = { operation: 'check-freshness', params, correlationId } as const;
  return askDataCollection(deps.dataProxy, request, Freshness);
}
