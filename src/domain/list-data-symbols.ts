import { Symbols } from '#contract/market-data.ts';
import { askDataCollection } from './ask-data-collection.ts';
import type { SymbolList } from './data/list-symbols.ts';
import type { DataProxy } from './ports.ts';

export interface ListDataSymbolsInput {
  /** Default: the configured exchange. */
  readonly exchange?: string | undefined;
  readonly correlationId: string;
}

/** Symbols of which data collection has candles, ascending. Throws SVC002, SVC004, DATA004, DATA005. */
export function listDataSymbols(
  deps: { readonly dataProxy: DataProxy; readonly defaultExchange: string },
  { exchange = deps.defaultExchange, correlationId }: ListDataSymbolsInput,
): Promise<SymbolList> {
  const request = { operation: 'symbols', params: { exchange }, correlationId } as const;
  return askDataCollection(deps.dataProxy, request, Symbols);
}
