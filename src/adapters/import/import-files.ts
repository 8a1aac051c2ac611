import { basename, dirname } from 'node:path';
import { HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { SIMULATED } from '#contract/values/names.ts';
import type { Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { CANDLE_COLUMNS, type Candles, createCandles } from '#engine/candles.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { BatchedWrites, type ImportStore } from './batched-writes.ts';
import { checkCandles } from './candles.ts';
import { exchangeOf, type ImportExchanges } from './choose-exchange.ts';
import type { FileContent, Source, TableContent } from './file-content.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type Layout } from './file-rows.ts';
import type { Found, FoundFile, FoundMarks } from './find.ts';
import type { FileReader } from './formats/file-reader.ts';
import { checkEvents, joinFunding } from './funding.ts';
import { importTable } from './import-table.ts';
import { type Imported, type ImportResult, readyFunding, storeReady } from './store-series.ts';

/** Funding rates as freqtrade writes them since 2026.9, and before: as candles with the rate as the open. */
const RATE_LAYOUTS = [['timestamp', 'funding_rate'], CANDLE_COLUMNS];

const NO_PRICES =
  'no mark prices (...-mark) in the same folder, or of the same time (markPriceKlines) in the same download, and no candles of the symbol are stored at these times';
const NO_PRICE_THEN =
  'no event has a mark price of its hour, and no candles of the symbol are stored at these times';
/** Timeframes whose candles may begin with the hour of a funding event, in the order in which they are asked. */
const PRICED_BY: readonly Timeframe[] = ['1h', '30m', '15m', '5m', '3m', '1m', '2h', '4h', '8h'];
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
  const results = new Map<FoundFile, readonly ImportResult[]>(found.files.map((file) => [file, []]));
  let files = 0;
  let bytes = 0;
  for (const file of candlesFirst(found.files)) {
    results.set(file, await importFile(file, found, exchanges, { ...options, store }));
    bytes += file.bytes;
    options.onProgress?.({ files: ++files, bytes });
  }
  await store.flush();
  return [...results.values()].flat();
}

/** Funding rates without mark prices take the prices of candles, which the same import may bring. */
function candlesFirst(files: readonly FoundFile[]): FoundFile[] {
  const isRates = ({ content }: FoundFile) => content.kind === 'rates';
  return [...files.filter((file) => !isRates(file)), ...files.filter(isRates)];
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
      case 'candles':
      case 'table': {
        const table = content.kind === 'table' ? content : tableOf(content);
        const isAlone = found.files.filter((each) => isCandles(each)).length === 1;
        return await importTable(path, table, { ...common, exchanges, hints: found.hints ?? {}, isAlone });
      }
    }
    const target = exchangeOf(exchanges, content.exchange, tradingModeOf(content.symbol));
    if ('reason' in target) return skipped(target.reason);
    const options = { ...common, ...target };
    switch (content.kind) {
      case 'events':
        return [await importEvents(path, content, options)];
      case 'rates': {
        const marks = found.marks.filter((mark) => belongTogether(mark, file));
        const imported = await importRates(path, content, marks, options);
        return imported ? [imported] : skipped(NO_PRICES);
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

const isCandles = ({ content: { kind } }: FoundFile) => kind === 'candles' || kind === 'table';

const TABLES = { CSV: 'csv', JSON: 'json', Feather: 'feather', Parquet: 'parquet' } as const;

/** A file that names its only series, as one of any layout. */
function tableOf({
  symbol,
  timeframe,
  format,
  exchange,
  period,
  options,
}: ContentOf<'candles'>): TableContent {
  return {
    kind: 'table',
    table: TABLES[format],
    format,
    names: { symbol, timeframe, exchange: exchange ?? null },
    fixed: symbol,
    ...(exchange && { exchange }),
    ...(period && { period }),
    ...(options?.checksum && { checksum: options.checksum }),
  };
}

async function importEvents(
  path: string,
  content: ContentOf<'events'>,
  options: FileOptions,
): Promise<Imported> {
  const rows = await options.reader.read(requestOf(path, content, [['timestamp', 'rate', 'mark_price']]));
  return storeReady(readyFunding(path, content.symbol, checkEvents(rows, options.clock.now()), options));
}

/** Undefined when no rate has a price. */
async function importRates(
  path: string,
  content: ContentOf<'rates'>,
  markFiles: readonly FoundMarks[],
  options: FileOptions,
): Promise<Imported | undefined> {
  const rates = await options.reader.read(requestOf(path, content, RATE_LAYOUTS));
  const marks = markFiles.length > 0 ? await readMarks(markFiles, options) : createCandles(0);
  const joined = await joinFunding(rates, marks, options.clock.now(), (hours) =>
    storedOpens(content.symbol, hours, options),
  );
  if (joined) return storeReady(readyFunding(path, content.symbol, joined, options));
  if (markFiles.length > 0) throw new BadFileError(NO_PRICE_THEN);
  return undefined;
}

/** Opens of the stored candles that begin with these hours since the epoch; hourly candles count before others. */
async function storedOpens(
  symbol: string,
  hours: readonly number[],
  { store, exchange }: FileOptions,
): Promise<ReadonlyMap<number, number>> {
  const wanted = new Set(hours);
  const prices = new Map<number, number>();
  const range = [Math.min(...hours) * HOUR_MS, (Math.max(...hours) + 1) * HOUR_MS] as const;
  for (const timeframe of PRICED_BY) {
    // A corrupt month has no prices: its rates take those of another timeframe, or are left out.
    const ignored = () => {};
    const { timestamp, open } = await store.read({ exchange, symbol, timeframe }, ...range, ignored);
    for (let row = 0, { length } = timestamp; row < length; row++) {
      const hour = timestamp[row]! / HOUR_MS;
      if (wanted.delete(hour)) prices.set(hour, open[row]!);
    }
    if (wanted.size === 0) break;
  }
  return prices;
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
