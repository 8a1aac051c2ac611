import { stat } from 'node:fs/promises';
import { formatInteger } from '#contract/values/format-count.ts';
import type { Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { ALL_TIMEFRAMES, isTimeframe } from '#engine/timeframe.ts';
import type { ImportStore } from './batched-writes.ts';
import { exchangeOf, type ImportExchanges } from './choose-exchange.ts';
import type { TableContent } from './file-content.ts';
import { BadFileError } from './file-rows.ts';
import type { FileReader } from './formats/file-reader.ts';
import { checkEvents } from './funding.ts';
import { ccxtMarket, exchangeFor, type NamedSymbol, symbolOfName, tardisMarket } from './market-symbols.ts';
import type { Hints } from './recognizer.ts';
import type { FileSeries, Market } from './series-table.ts';
import { type ImportResult, type ReadySeries, readyCandles, readyFunding } from './store-series.ts';

/** Reasons that are listed individually for a file. */
const REASONS_LISTED = 10;

export interface TableOptions {
  readonly store: ImportStore;
  readonly reader: FileReader;
  readonly clock: Clock;
  readonly exchanges: ImportExchanges;
  readonly hints: Hints;
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
  const { table, names, next } = content;
  const all = await options.reader.readTable({ path, table, names, ...(next && { next }) });
  const exportedAt = table === 'trading-view' ? (await stat(path)).mtimeMs : undefined;
  const ready: ReadySeries[] = [];
  const reasons: string[] = [];
  const taken = new Map<string, string>();
  for (const series of all) {
    const target = targetOf(series, content, options);
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
}

/** Stored series of a series in a file, or the reason why it is not imported. */
function targetOf(
  { symbol: name, exchange: named, timeframe: stated, kind }: FileSeries,
  content: TableContent,
  { exchanges, hints }: TableOptions,
): Target | { readonly reason: string } {
  const market = { ...content, ...marketOf(content, named) };
  // Names of Databento are not pairs: a share such as GBTC is not split into G/BTC.
  const namesPairs = content.table !== 'databento';
  const found = name ? symbolOfName(name, namesPairs ? market : {}, hints.symbols ?? []) : onlySymbol(hints);
  if ('reason' in found) return found;
  const mode = tradingModeOf(found.symbol);
  if (kind === 'funding' && mode === 'spot') return { reason: `${name} is spot, which has no funding` };
  const theirs = market.exchange && exchangeFor(market.exchange, mode);
  const target = exchangeOf(exchanges, theirs, mode, found.symbol);
  if ('reason' in target) return target;
  const timeframe = kind === 'funding' ? null : (stated ?? hints.timeframe);
  if (timeframe === undefined) {
    return { reason: 'the file does not state the timeframe: pass it, such as --timeframe 1h' };
  }
  if (timeframe !== null && !isTimeframe(timeframe)) {
    return { reason: `timeframe ${timeframe} is not one of ${ALL_TIMEFRAMES.join(', ')}` };
  }
  return { symbol: found.symbol, ...target, timeframe };
}

/** Symbol of a file that names none: the only one that the user gave. */
function onlySymbol({ symbols = [] }: Hints): NamedSymbol {
  const [only] = symbols;
  if (only !== undefined && symbols.length === 1 && !only.includes('=')) return { symbol: only };
  return {
    reason:
      'neither rows, folders nor the name of the file have a symbol. Import the file by itself with it: --symbols BTC/USDT',
  };
}

/** Market that the rows of a series name. */
function marketOf({ table }: TableContent, exchange: string | null): Market {
  if (exchange === null) return {};
  if (table.startsWith('tardis')) return tardisMarket(exchange);
  return table === 'parquet' ? ccxtMarket(exchange) : {};
}

/** @param several the file has other series: an error names its series */
function checked(
  path: string,
  series: FileSeries,
  { symbol, exchange, timeframe }: Target,
  several: boolean,
  options: TableOptions & { readonly exportedAt?: number },
): ReadySeries {
  const { rows, notes, kind } = series;
  const to = { ...options, exchange };
  try {
    if (kind === 'funding') {
      const events = checkEvents(rows, options.clock.now());
      return readyFunding(path, symbol, { ...events, notes: [...notes, ...events.notes] }, to);
    }
    if (!timeframe || !isTimeframe(timeframe)) throw new Error(`candles of ${symbol} without a timeframe`);
    return readyCandles(path, { symbol, timeframe, notes }, rows, to);
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
