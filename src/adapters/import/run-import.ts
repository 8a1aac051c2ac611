import type { Calendar } from '#contract/values/calendars.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { ulids } from '../ids.ts';
import { type MarketStorageEnv, type MarketStores, openMarketStores } from '../open-market-stores.ts';
import { keepingReplaced } from './batched-writes.ts';
import { chooseExchange } from './choose-exchange.ts';
import { type Found, findFiles } from './find.ts';
import { FileReader } from './formats/file-reader.ts';
import { importFiles } from './import-files.ts';
import { PreviewStore } from './preview-store.ts';
import type { Hints } from './recognizer.ts';
import type { ImportResult } from './store-series.ts';
import { type ImportedSeries, summarizeImport } from './summary.ts';

/** Exchange of candles when neither option, folder nor platform names a real one: the default of deployed stages. */
const REAL_EXCHANGE = 'binanceusdm';

export interface ImportRunOptions {
  /** Statements of the user. */
  readonly hints: Hints;
  readonly calendar?: Calendar | undefined;
  /** Nothing is stored. */
  readonly dryRun?: boolean | undefined;
  /** Exchange of the platform: of candles for which nothing names another one, unless it is `sim`. */
  readonly platformExchange: string;
  /** Called before the files are read. */
  readonly onFound?: (found: Found) => void;
  readonly onProgress?: (done: { readonly files: number; readonly bytes: number }) => void;
}

export interface ImportRun {
  readonly found: Found;
  /** Exchange of files that name none; null when the others name several. */
  readonly exchange: string | null;
  readonly spotExchange: string | null;
  readonly results: readonly ImportResult[];
  /** Stored series; empty for a dry run. */
  readonly series: readonly ImportedSeries[];
  /** First rows of each series, of a dry run. */
  readonly previews: PreviewStore['series'];
  /** Series store of the platform. */
  readonly stored: MarketStores['series'];
}

/**
 * Imports a file or a folder into a platform's storage, with or without a running platform.
 *
 * @throws Error for `sim`, for an unknown exchange, and when the path cannot be read
 */
export async function runImport(
  storage: MarketStorageEnv,
  path: string,
  options: ImportRunOptions,
): Promise<ImportRun> {
  const { hints, dryRun = false } = options;
  const found = await findFiles(path, hints);
  options.onFound?.(found);
  const { candles, series: stored } = openMarketStores(storage);
  const none = { found, exchange: null, spotExchange: null, results: [], series: [], previews: [], stored };
  if (found.files.length === 0) return none;
  const fallback = options.platformExchange === SIMULATED ? REAL_EXCHANGE : options.platformExchange;
  const exchange = chooseExchange(found, hints.exchange, fallback);
  const spotExchange = chooseExchange(found, hints.exchange, fallback, 'spot');
  const preview = new PreviewStore(candles);
  const reader = new FileReader();
  const results = await importFiles(found, {
    store: dryRun ? preview : keepingReplaced(candles, ulids.ulid(), options.calendar),
    reader,
    exchange,
    spotExchange,
    keepNamed: hints.exchange === undefined,
    clock: Date,
    ...(options.onProgress && { onProgress: options.onProgress }),
  }).finally(() => reader.close());
  const isStored = !dryRun && results.some(({ outcome }) => outcome === 'imported');
  const series = isStored ? await summarizeImport(results, candles, stored) : [];
  return { found, exchange, spotExchange, results, series, previews: preview.series, stored };
}
