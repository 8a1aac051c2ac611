import type { SeriesDetails, SeriesList, SeriesQuery } from '#contract/market-data/series.ts';
import { CodedError } from '#contract/values/errors.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import type { SeriesInfo, SeriesKey, SeriesStates, SeriesStore } from '../ports.ts';
import { checkSymbol, checkTimeframe, tradingModeOf } from '../shared/validate.ts';
import { seriesFields } from './series-fields.ts';
import type { SeriesKeeper } from './series-ports.ts';
import { type SeriesUseDeps, type UseReader, usesOf } from './series-uses.ts';

export interface ReadSeriesDeps extends SeriesUseDeps {
  readonly series: SeriesStore & SeriesStates;
  readonly candles: SeriesKeeper;
  readonly defaultExchange: string;
}

/** Stored series of an exchange, or of all. Throws DATA005. */
export async function listSeries(
  deps: Pick<ReadSeriesDeps, 'series' | 'candles'>,
  { exchange }: { readonly exchange?: string | undefined },
): Promise<SeriesList> {
  const exchanges = exchange === undefined ? await deps.candles.exchanges() : [exchange];
  const stored = await Promise.all(exchanges.map((each) => deps.series.list(each)));
  const items = stored.flat().map(itemOf);
  return { items, count: items.length };
}

/** A stored series. Throws VAL002, VAL003, DATA003, DATA005, SVC005. */
export async function getSeries(
  deps: ReadSeriesDeps,
  query: SeriesQuery,
  reader: UseReader,
): Promise<SeriesDetails> {
  const info = await findSeries(deps, query);
  const [{ kept_import: kept }, funding, used_by] = await Promise.all([
    deps.series.state(info),
    deps.candles.hasFunding(info.exchange, info.symbol),
    usesOf(deps, info, reader),
  ]);
  return { ...itemOf(info), kept_import: kept ? { id: kept.id, at: kept.at } : null, funding, used_by };
}

/** The series that a query names. Throws VAL002, VAL003, DATA003, DATA005. */
export async function findSeries(
  { series, defaultExchange }: Pick<ReadSeriesDeps, 'series' | 'defaultExchange'>,
  query: SeriesQuery,
): Promise<SeriesInfo> {
  const symbol = checkSymbol(query.symbol, 'symbol', tradingModeOf(query.symbol));
  const timeframe = checkTimeframe(query.timeframe, 'timeframe', ALL_TIMEFRAMES);
  const key = { exchange: query.exchange ?? defaultExchange, symbol, timeframe };
  const info = (await series.getMany(key.exchange, [key])).get(`${symbol}#${timeframe}`);
  if (!info) throw notStored(key);
  return info;
}

/** DATA003 that names the series, or all of a symbol. */
export function notStored({
  exchange,
  symbol,
  timeframe,
}: Omit<SeriesKey, 'timeframe'> & { readonly timeframe?: SeriesKey['timeframe'] | undefined }): CodedError {
  const of = [symbol, timeframe].filter((part) => part !== undefined).join(' ');
  return new CodedError('DATA003', {
    message: `No candles of ${of} of ${exchange} are stored`,
    field: 'symbol',
    context: { exchange, symbol, ...(timeframe !== undefined && { timeframe }) },
  });
}

const itemOf = (info: SeriesInfo) => ({ exchange: info.exchange, ...seriesFields(info) });
