import { stat } from 'node:fs/promises';
import { formatInteger } from '#contract/values/format-count.ts';
import type { Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { ALL_TIMEFRAMES, isTimeframe, TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { ImportStore } from './batched-writes.ts';
import { exchangeOf, type ImportExchanges } from './choose-exchange.ts';
import type { TableContent } from './file-content.ts';
import { BadFileError } from './file-rows.ts';
import type { FileReader, ReadSeries } from './formats/file-reader.ts';
import { checkEvents } from './funding.ts';
import {
  ccxtMarket,
  exchangeFor,
  isNotOfBinance,
  type NamedSymbol,
  pairInName,
  statedMode,
  symbolOfName,
  tardisMarket,
} from './market-symbols.ts';
import type { Hints } from './recognizer.ts';
import type { Market } from './series-table.ts';
import { type ImportResult, type ReadySeries, readyCandles, readyFunding } from './store-series.ts';
import { TIMES_FOR_TIMEFRAME, timeframeOf } from './timeframe-of.ts';

/** Reasons that are listed individually for a file. */
const REASONS_LISTED = 10;

export interface TableOptions {
  readonly store: ImportStore;
  readonly reader: FileReader;
  readonly clock: Clock;
  readonly exchanges: ImportExchanges;
  readonly hints: Hints;
  /** The file is the only one with candles: a symbol that the user gives is that of its only series. */
  readonly isAlone: boolean;
}

/**
 * Imports all series of a file that names them. They are checked before any row is stored: one invalid row rejects the whole file.
 * Series without a known symbol, timeframe or exchange are skipped with the reason.
 * @throws BadFileError
 */
export async function importTable(
  path: string,
  content: TableContent,
  options: TableOptions,
): Promise<ImportResult[]> {
  const { table, names, next, checksum } = content;
  const all = await options.reader.readTable({
    path,
    table,
    names,
    hints: tableHints(options.hints, content),
    ...(next && { next }),
    ...(checksum && { checksum }),
  });
  const exportedAt = content.mayEndOpen ? (await stat(path)).mtimeMs : undefined;
  const ready: ReadySeries[] = [];
  const reasons: string[] = [];
  const taken = new Map<string, string>();
  for (const series of all) {
    const target = targetOf(series, content, { ...options, isOnly: options.isAlone && all.length === 1 });
    if ('reason' in target) {
      reasons.push(target.reason);
      continue;
    }
    const name = `${target.symbol} ${target.timeframe ?? 'funding'}`;
    const key = `${target.exchange} ${name}`;
    const other = taken.get(key);
    if (other !== undefined)
      throw new BadFileError(`${other} and ${series.symbol} are both ${name}: import one`);
    taken.set(key, String(series.symbol));
    ready.push(
      checked(path, series, target, all.length > 1, {
        ...options,
        ...(exportedAt !== undefined && { exportedAt }),
        ...(content.period && { period: content.period }),
      }),
    );
  }
  for (const { write } of ready) await write();
  const skipped = summarized(reasons).map((reason) => ({ outcome: 'skipped', file: path, reason }) as const);
  return [...ready.map(({ result }) => result), ...skipped];
}

interface Target {
  readonly symbol: string;
  readonly exchange: string;
  /** null: funding. */
  readonly timeframe: string | null;
  readonly notes: readonly string[];
}

/** Exchange of pairs of which nothing names one, and which the usual one does not have. */
const NO_EXCHANGE = 'imported';

/** What a reader needs to know of the user's statements. */
function tableHints(
  { symbols = [], columns, timeZone, skipInvalid, ...stated }: Hints,
  content: TableContent,
) {
  const [only] = symbols;
  const symbol = symbols.length === 1 ? only?.slice(only.lastIndexOf('=') + 1) : undefined;
  const mode = content.mode ?? statedMode(stated);
  return {
    ...(columns && { columns }),
    ...(timeZone && { timeZone }),
    ...(skipInvalid && { skipInvalid }),
    ...(symbol && { symbol }),
    ...(mode && { mode }),
  };
}

/** Rows that tell a timeframe better than a name does. */
const MIN_ROWS = 10;

/** Tables whose timeframe may be found from the distances between their candles. */
const INFERRED: ReadonlySet<string> = new Set(['csv', 'json', 'feather', 'parquet']);

/** Stored series of a series in a file, or the reason why it is not imported. */
function targetOf(
  series: ReadSeries,
  content: TableContent,
  { exchanges, hints, isOnly }: TableOptions & { readonly isOnly: boolean },
): Target | { readonly reason: string } {
  const { symbol: name, exchange: named, kind } = series;
  const market = { ...content, ...marketOf(content, named) };
  const found = symbolOf(series, content, { market, hints, isOnly });
  if ('reason' in found) return found;
  const mode = tradingModeOf(found.symbol);
  if (kind === 'funding' && mode === 'spot') return { reason: `${name} is spot, which has no funding` };
  const theirs = market.exchange && exchangeFor(market.exchange, mode);
  const usual = exchangeOf(exchanges, theirs, mode, content.fixed === undefined ? found.symbol : '');
  if ('reason' in usual) return usual;
  const isNamed = theirs !== undefined || !exchanges.keepNamed || exchanges.named.size > 0;
  const isOther = !isNamed && usual.exchange === 'binance' && isNotOfBinance(found.symbol);
  const notes = isOther
    ? [`nothing names an exchange: stored as that of "${NO_EXCHANGE}". --exchange NAME stores it as another`]
    : [];
  const target = { symbol: found.symbol, exchange: isOther ? NO_EXCHANGE : usual.exchange, notes };
  if (kind === 'funding') return { ...target, timeframe: null };
  const timeframe = timeframeOfSeries(series, content, hints);
  if (!isTimeframe(timeframe)) {
    return { reason: `timeframe ${timeframe} is not one of ${ALL_TIMEFRAMES.join(', ')}` };
  }
  return { ...target, timeframe };
}

/**
 * The timeframe that the user states, else the file. The name of a file may say how many days it has instead: rows that are closer
 * together than it says count then.
 */
function timeframeOfSeries({ timeframe, rows }: ReadSeries, content: TableContent, hints: Hints): string {
  if (hints.timeframe !== undefined) return hints.timeframe;
  const isStated = content.fixed !== undefined || !INFERRED.has(content.table) || content.mayEndOpen;
  if (timeframe !== null && isStated) return timeframe;
  const times = rows.firstTimes(TIMES_FOR_TIMEFRAME);
  if (timeframe === null || !isTimeframe(timeframe)) return timeframeOf(times);
  if (times.length < MIN_ROWS) return timeframe;
  const found = timeframeOf(times);
  return TIMEFRAME_MS[found] < TIMEFRAME_MS[timeframe] ? found : timeframe;
}

function symbolOf(
  { symbol: name }: ReadSeries,
  { table, fixed }: TableContent,
  { market, hints, isOnly }: { readonly market: Market; readonly hints: Hints; readonly isOnly: boolean },
): NamedSymbol {
  const symbols = hints.symbols ?? [];
  const [only] = symbols;
  if (isOnly && symbols.length === 1 && only !== undefined && !only.includes('=')) return { symbol: only };
  if (fixed !== undefined) return { symbol: fixed };
  if (name === null) return NO_SYMBOL;
  // Names of Databento are not pairs: a share such as GBTC is not split into G/BTC.
  const namesPairs = table !== 'databento';
  const isUnnamed = market.exchange === undefined && hints.exchange === undefined;
  const mode = market.mode ?? statedMode(hints) ?? (isUnnamed ? pairInName(name)?.mode : undefined);
  return symbolOfName(name, namesPairs ? { ...market, ...(mode && { mode }) } : {}, symbols);
}

const NO_SYMBOL = {
  reason:
    'neither rows, folders nor the name of the file have a symbol. Import the file by itself with it, and with its exchange: --symbols AAPL/USD --exchange nasdaq, or --symbols BTC/USDT --exchange binance',
};

/** Market that the rows of a series name. */
function marketOf({ table }: TableContent, exchange: string | null): Market {
  if (exchange === null) return {};
  if (table.startsWith('tardis')) return tardisMarket(exchange);
  return INFERRED.has(table) ? ccxtMarket(exchange) : {};
}

/** @param several the file has other series: an error names its series */
function checked(
  path: string,
  series: ReadSeries,
  { symbol, exchange, timeframe, notes: more }: Target,
  several: boolean,
  options: TableOptions & { readonly exportedAt?: number; readonly period?: TableContent['period'] },
): ReadySeries {
  const { rows, kind } = series;
  const notes = [...series.notes, ...more];
  const { period } = options;
  const to = { ...options, exchange, ...(options.hints.skipInvalid && { skipInvalid: true }) };
  try {
    if (kind === 'funding') {
      const events = checkEvents(rows.load(), options.clock.now());
      return readyFunding(path, symbol, { ...events, notes: [...notes, ...events.notes] }, to);
    }
    if (!timeframe || !isTimeframe(timeframe)) throw new Error(`candles of ${symbol} without a timeframe`);
    return readyCandles(path, { symbol, timeframe, notes, ...(period && { period }) }, rows, to);
  } catch (error) {
    if (!several || !(error instanceof BadFileError)) throw error;
    throw new BadFileError(`${series.symbol}: ${error.message}`);
  }
}

/** A file may have thousands of series that are skipped, each for a reason with its name. */
function summarized(reasons: readonly string[]): string[] {
  const distinct = [...new Set(reasons)];
  if (distinct.length <= REASONS_LISTED) return distinct;
  const more = formatInteger(distinct.length - REASONS_LISTED);
  return [...distinct.slice(0, REASONS_LISTED), `${more} more series, for such reasons`];
}
