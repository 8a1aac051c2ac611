import type { SeriesStore } from '../ports.ts';

export interface SymbolList {
  readonly exchange: string;
  readonly symbols: readonly string[];
  readonly count: number;
}

/** Symbols of which candles are stored, ascending: what can be backtested now. Throws DATA005. */
export async function listSymbols(
  deps: { readonly series: SeriesStore },
  exchange: string,
): Promise<SymbolList> {
  const stored = await deps.series.list(exchange);
  const symbols = [...new Set(stored.map((info) => info.symbol))].sort();
  return { exchange, symbols, count: symbols.length };
}
