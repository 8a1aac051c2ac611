import type {
  DataStatus,
  ExchangeQuery,
  InstrumentHistory,
  InstrumentHistoryQuery,
  Instruments,
  InstrumentsQuery,
  Symbols,
} from '#contract/market-data/market-data.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import type { SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkSymbol, tradingModeOf } from '../shared/validate.ts';
import type { DatedInstrument, InstrumentStore } from './instrument-ports.ts';
import { parseRange } from './time-range.ts';

/** Symbols with stored candles, ascending: the ones that can be backtested now. Throws DATA005. */
export async function listDataSymbols(
  deps: { readonly series: SeriesStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange }: ExchangeQuery,
): Promise<Symbols> {
  const stored = await deps.series.list(exchange);
  const symbols = [...new Set(stored.map((info) => info.symbol))].sort();
  return { exchange, symbols, count: symbols.length };
}

/** Instruments as they were collected last, or as they were at a time, ascending by symbol. Throws VAL001, DATA005. */
export async function listInstruments(
  deps: { readonly instruments: InstrumentStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange, at }: InstrumentsQuery,
): Promise<Instruments> {
  const { start: time } = parseRange({ start: at }, ['at', 'at']);
  const stored =
    time === undefined
      ? await deps.instruments.list(exchange)
      : validAt(await deps.instruments.history(exchange), time);
  const instruments = [...stored].map(([symbol, record]) => ({ symbol, ...record }));
  return { exchange, instruments, count: instruments.length };
}

/** The newest of each symbol that was valid at a time, ms. @param history ascending by symbol and time */
function validAt(history: readonly DatedInstrument[], time: number): Map<string, InstrumentRecord> {
  const began = history.filter(({ valid_from }) => Date.parse(valid_from) <= time);
  return new Map(began.map(({ symbol, record }) => [symbol, record]));
}

/** Instruments of a symbol as of their dates, ascending. Throws VAL002, DATA005. */
export async function getInstrumentHistory(
  deps: { readonly instruments: InstrumentStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange, symbol }: InstrumentHistoryQuery,
): Promise<InstrumentHistory> {
  checkSymbol(symbol, 'symbol', tradingModeOf(symbol));
  const history = await deps.instruments.history(exchange, symbol);
  return { exchange, symbol, items: history.map(({ record, valid_from }) => ({ ...record, valid_from })) };
}

/** Series stored of an exchange, ascending by symbol. Throws DATA005. */
export async function getDataStatus(
  deps: { readonly series: SeriesStore; readonly defaultExchange: string },
  { exchange = deps.defaultExchange }: ExchangeQuery,
): Promise<DataStatus> {
  const stored = await deps.series.list(exchange);
  const series = stored.map(
    ({
      symbol,
      timeframe,
      first,
      last,
      count,
      gap_count,
      gaps,
      complete_from = null,
      corrupt = [],
      updated_at,
    }) => ({
      symbol,
      timeframe,
      first,
      last,
      count,
      gap_count,
      updated_at,
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
