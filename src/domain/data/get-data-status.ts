import type { DataStatus, ExchangeQuery, Instruments, Symbols } from '#contract/market-data/market-data.ts';
import type { SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { InstrumentStore } from './instrument-ports.ts';

/** Symbols with stored candles, ascending: the ones that can be backtested now. Throws DATA005. */
export async function listDataSymbols(
  deps: { readonly series: SeriesStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange }: ExchangeQuery,
): Promise<Symbols> {
  const stored = await deps.series.list(exchange);
  const symbols = [...new Set(stored.map((info) => info.symbol))].sort();
  return { exchange, symbols, count: symbols.length };
}

/** Instruments as they were collected last, ascending by symbol. Throws DATA005. */
export async function listInstruments(
  deps: { readonly instruments: InstrumentStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange }: ExchangeQuery,
): Promise<Instruments> {
  const stored = await deps.instruments.list(exchange);
  const instruments = [...stored].map(([symbol, record]) => ({ symbol, ...record }));
  return { exchange, instruments, count: instruments.length };
}

/** Series stored of an exchange, ascending by symbol. Throws DATA005. */
export async function getDataStatus(
  deps: { readonly series: SeriesStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange }: ExchangeQuery,
): Promise<DataStatus> {
  const stored = await deps.series.list(exchange);
  const series = stored.map(
    ({ exchange: _, longest_omitted_gap: _l, gaps, complete_from = null, corrupt = [], ...info }) => ({
      ...info,
      gaps: gaps.map(([start, missing]) => ({ start: isoTime(start), missing })),
      complete_from,
      corrupt: [...corrupt],
    }),
  );
  return {
    exchange,
    series,
    count: series.length,
    candles: series.reduce((sum, each) => sum + each.count, 0),
    // ISO 8601 in UTC sorts as a string.
    newest:
      series
        .map((each) => each.last)
        .sort()
        .at(-1) ?? null,
  };
}
