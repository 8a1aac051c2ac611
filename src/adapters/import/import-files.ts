import { basename, dirname } from 'node:path';
import { MINUTE_MS } from '#contract/values/durations.ts';
import { SIMULATED } from '#contract/values/names.ts';
import type { Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import { BatchedWrites, type ImportStore } from './batched-writes.ts';
import { checkCandles } from './candles.ts';
import { exchangeOf, type ImportExchanges } from './choose-exchange.ts';
import type { FileContent, Source } from './file-content.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type Layout } from './file-rows.ts';
import type { Found, FoundFile, FoundMarks } from './find.ts';
import type { FileReader } from './formats/file-reader.ts';
import { checkEvents, joinFunding } from './funding.ts';
import { importTable } from './import-table.ts';
import { type Imported, type ImportResult, readyCandles, readyFunding, storeReady } from './store-series.ts';

/** Funding rates as freqtrade writes them since 2026.9, and before: as candles with the rate as the open. */
const RATE_LAYOUTS = [['timestamp', 'funding_rate'], CANDLE_COLUMNS];

const NO_MARKS =
  'no mark prices (...-mark) in the same folder, or of the same time (markPriceKlines) in the same download';
const NO_RATES =
  'no funding rates (...-funding_rate) in the same folder, or of the same time (fundingRate) in the same download';

interface FileOptions extends Pick<ImportOptions, 'store' | 'reader' | 'clock'> {
  /** Exchange of the file's series. */
  readonly exchange: string;
}

type ContentOf<Kind> = Extract<FileContent, { kind: Kind }>;

export interface ImportOptions {
  readonly store: ImportStore;
  /** The caller closes it. */
  readonly reader: FileReader;
  /** Exchange of the candles, for example `binanceusdm`; null when the files name several. */
  readonly exchange: string | null;
  /** Exchange of the candles of spot pairs. Default: `exchange`. */
  readonly spotExchange?: string | null;
  /** Series that name an exchange are imported as those of it, whatever `exchange` is. Default: false. */
  readonly keepNamed?: boolean;
  readonly clock: Clock;
  /** Called after each file. */
  readonly onProgress?: (done: { readonly files: number; readonly bytes: number }) => void;
}

/**
 * Imports files one after the other and replaces stored candles. A file is checked completely before any row is stored. An
 * invalid file does not stop the others. Mark prices are read with their funding rates and have no separate result.
 * @throws RangeError for the exchange `sim`: its collection would fill the gaps of real candles with simulated ones
 * @throws CodedError DATA005 when storage fails
 */
export async function importFiles(found: Found, options: ImportOptions): Promise<ImportResult[]> {
  const { exchange, spotExchange = exchange, keepNamed = false } = options;
  if ([exchange, spotExchange].includes(SIMULATED)) {
    throw new RangeError(`${SIMULATED} is the simulated market. Pass the exchange of the candles`);
  }
  const exchanges = {
    exchanges: { futures: exchange, spot: spotExchange },
    named: new Set([...found.exchanges, ...found.spotExchanges]),
    keepNamed,
  };
  const store = new BatchedWrites(options.store);
  const results: ImportResult[] = [];
  let bytes = 0;
  for (const [index, file] of found.files.entries()) {
    results.push(...(await importFile(file, found, exchanges, { ...options, store })));
    bytes += file.bytes;
    options.onProgress?.({ files: index + 1, bytes });
  }
  await store.flush();
  return results;
}

async function importFile(
  file: FoundFile,
  found: Found,
  exchanges: ImportExchanges,
  common: Pick<ImportOptions, 'store' | 'reader' | 'clock'>,
): Promise<readonly ImportResult[]> {
  const { path, content } = file;
  const skipped = (reason: string): ImportResult[] => [{ outcome: 'skipped', file: path, reason }];
  try {
    switch (content.kind) {
      case 'companion':
        return [];
      case 'other':
        return skipped(content.reason);
      case 'unreadable':
        return [{ outcome: 'failed', file: path, reason: content.reason }];
      case 'table':
        return await importTable(path, content, { ...common, exchanges, hints: found.hints ?? {} });
    }
    const target = exchangeOf(exchanges, content.exchange, tradingModeOf(content.symbol));
    if ('reason' in target) return skipped(target.reason);
    const options = { ...common, ...target };
    switch (content.kind) {
      case 'candles':
        return [await importCandles(path, content, options)];
      case 'events':
        return [await importEvents(path, content, options)];
      case 'rates': {
        const marks = found.marks.filter((mark) => belongTogether(mark, file));
        if (marks.length === 0) return skipped(NO_MARKS);
        return [await importRates(path, content, marks, options)];
      }
      case 'marks':
        if (found.files.some((other) => other.content.kind === 'rates' && belongTogether(file, other))) {
          return [];
        }
        return skipped(NO_RATES);
    }
  } catch (error) {
    if (error instanceof BadFileError) return [{ outcome: 'failed', file: path, reason: error.message }];
    throw error;
  }
}

async function importCandles(
  path: string,
  content: ContentOf<'candles'>,
  options: FileOptions,
): Promise<Imported> {
  const rows = await options.reader.read(requestOf(path, content, [CANDLE_COLUMNS]));
  return storeReady(readyCandles(path, content, rows, options));
}

async function importEvents(
  path: string,
  content: ContentOf<'events'>,
  options: FileOptions,
): Promise<Imported> {
  const rows = await options.reader.read(requestOf(path, content, [['timestamp', 'rate', 'mark_price']]));
  return storeReady(readyFunding(path, content.symbol, checkEvents(rows, options.clock.now()), options));
}

async function importRates(
  path: string,
  content: ContentOf<'rates'>,
  markFiles: readonly FoundMarks[],
  options: FileOptions,
): Promise<Imported> {
  const rates = await options.reader.read(requestOf(path, content, RATE_LAYOUTS));
  const marks = await readMarks(markFiles, options);
  const joined = joinFunding(rates, marks, options.clock.now());
  return storeReady(readyFunding(path, content.symbol, joined, options));
}

/** Merges all files: freqtrade changed the timeframe of mark prices and keeps the older files, so each may have gaps. */
async function readMarks(files: readonly FoundMarks[], { reader, clock }: FileOptions): Promise<Candles> {
  const rules = { step: MINUTE_MS, timeframe: '1m', now: clock.now() };
  const builder = new ColumnBuilder(CANDLE_COLUMNS.length);
  for (const { path, content } of files) {
    try {
      const rows = await reader.read(requestOf(path, content, [CANDLE_COLUMNS]));
      const { candles } = checkCandles(rows, rules);
      builder.addBlock(CANDLE_COLUMNS.map((name) => candles[name]));
    } catch (error) {
      if (!(error instanceof BadFileError)) throw error;
      throw new BadFileError(`mark prices in ${basename(path)}: ${error.message}`);
    }
  }
  return checkCandles({ columns: builder.finish(), first: FIRST_ROW }, rules).candles;
}

/** Rates and mark prices of one group and symbol, of periods that overlap; their timeframes and formats may differ. */
function belongTogether(one: FoundFile, other: FoundFile): boolean {
  const [a, b] = [one.content, other.content];
  if (!('symbol' in a && 'symbol' in b) || a.symbol !== b.symbol) return false;
  if ((a.group ?? dirname(one.path)) !== (b.group ?? dirname(other.path))) return false;
  return !a.period || !b.period || (a.period.from < b.period.to && b.period.from < a.period.to);
}

/** @param layouts those of files that state none */
function requestOf(path: string, { format, layouts: stated, options }: Source, layouts: readonly Layout[]) {
  return { path, format, layouts: stated ?? layouts, ...(options && { options }) };
}
