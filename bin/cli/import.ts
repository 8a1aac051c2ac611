import { basename, relative, resolve } from 'node:path';
import cliProgress from 'cli-progress';
import { chooseExchange } from '#adapters/import/choose-exchange.ts';
import { FileReader } from '#adapters/import/file-reader.ts';
import { type Found, type FoundFile, findFiles } from '#adapters/import/find.ts';
import { type ImportResult, importFiles } from '#adapters/import/import-files.ts';
import { type ImportedSeries, summarizeImport } from '#adapters/import/summary.ts';
import { openMarketStores } from '#adapters/open-stores.ts';
import { TOUCHSTONE } from '#contract/names.ts';
import { tradingModeOf } from '#domain/validate.ts';
import type { PlatformInfo } from '../../src/local/platform-info.ts';
import { duration, escapeControlChars, minute, number, table } from './output.ts';

/** Exchange of candles when neither option, folder nor platform names a real one: the default of deployed stages. */
const REAL_EXCHANGE = 'binanceusdm';
const SIMULATED = 'sim';
/** File names shown per message. */
const NAMES_SHOWN = 20;

const KINDS: Readonly<Record<FoundFile['content']['kind'], string>> = {
  candles: 'candles',
  rates: 'funding rates',
  events: 'funding rates with mark prices',
  marks: 'mark prices',
  other: 'not for import',
  unreadable: 'not readable',
};

/**
 * Imports a file or a folder into the platform's storage and prints files found, series and messages. Returns the exit code: 0 if
 * something was imported and no file failed.
 *
 * @throws Error for `sim` and for an unknown exchange
 */
export async function importCandles(
  platform: PlatformInfo,
  path: string,
  options: { readonly exchange?: string; readonly json?: boolean },
): Promise<number> {
  const found = await findFiles(path);
  if (!options.json) printFound(found, path);
  if (found.files.length === 0) {
    if (options.json) console.log(JSON.stringify({ files: [], series: [] }));
    return 1;
  }
  const fallback = platform.exchange === SIMULATED ? REAL_EXCHANGE : platform.exchange;
  const exchange = chooseExchange(found, options.exchange, fallback);
  const spotExchange = chooseExchange(found, options.exchange, fallback, 'spot');
  const { candles: store } = openMarketStores(platform.storage);
  const started = performance.now();
  const bar = progressBar(found);
  const reader = new FileReader();
  const results = await importFiles(found, {
    store,
    reader,
    exchange,
    spotExchange,
    clock: Date,
    onProgress: bar.update,
  }).finally(() => {
    reader.close();
    bar.stop();
  });
  const imported = results.filter((result) => result.outcome === 'imported');
  const code = imported.length > 0 && results.every((result) => result.outcome !== 'failed') ? 0 : 1;
  const series = imported.length > 0 ? await summarizeImport(results, exchange, store, spotExchange) : [];
  const isSpot = ({ symbol }: { readonly symbol: string }) => tradingModeOf(symbol) === 'spot';
  const hasSpot = imported.some(isSpot);
  if (options.json) {
    console.log(
      JSON.stringify({ exchange, ...(hasSpot && { spot_exchange: spotExchange }), files: results, series }),
    );
    return code;
  }
  const taken = duration(performance.now() - started);
  const nameOf = (file: string) => escapeControlChars(relative(resolve(path), file) || basename(file));
  if (imported.length > 0) printSeries(series, nameOf);
  printMessages(results, nameOf);
  const hasPerpetuals = imported.some((result) => !isSpot(result));
  const names = [
    ...(hasPerpetuals || !hasSpot ? [exchange] : []),
    ...(hasSpot ? [`${spotExchange} (spot)`] : []),
  ];
  console.log(
    `${imported.length} of ${results.length} files imported as ${names.join(' and ')} in ${taken}.`,
  );
  if (exchange !== platform.exchange && hasPerpetuals) {
    console.log(`Next: ${TOUCHSTONE} backtest <strategy> --exchange ${exchange}`);
  }
  if (hasSpot) {
    const pairs = [...new Set(imported.filter(isSpot).map(({ symbol }) => symbol))].slice(0, 3).join(',');
    console.log(
      `Next: ${TOUCHSTONE} backtest <strategy> --trading-mode spot --exchange ${spotExchange} --pairs ${pairs}`,
    );
  }
  return code;
}

function printFound({ files }: Found, path: string): void {
  console.log(`Found in ${escapeControlChars(path)}: ${number(files.length, 0)} files`);
  const groups = Map.groupBy(files, ({ content }) =>
    [KINDS[content.kind], 'format' in content ? content.format : ''].join(),
  );
  const rows = [...groups].map(([group, of]) => {
    const bytes = of.reduce((total, file) => total + file.bytes, 0);
    return [...group.split(','), number(of.length, 0), number(bytes / 1e6)];
  });
  if (rows.length > 0) console.log(table(['Content', 'Format', 'Files', 'MB'], rows.sort()));
}

function progressBar({ files }: Found) {
  const bar = new cliProgress.SingleBar(
    {
      format: 'Importing [{bar}] {percentage} % {files}/{of} files',
      // With gracefulExit the bar swallows the first Ctrl-C.
      gracefulExit: false,
      linewrap: true,
    },
    cliProgress.Presets.shades_classic,
  );
  // By size: a file may contain a day or a decade. One more per file, because files may be empty.
  const total = files.reduce((sum, file) => sum + file.bytes, files.length);
  bar.start(total, 0, { files: 0, of: files.length });
  return {
    update: (done: { readonly files: number; readonly bytes: number }) =>
      bar.update(done.files + done.bytes, { files: done.files }),
    stop: () => bar.stop(),
  };
}

function printSeries(all: readonly ImportedSeries[], nameOf: (file: string) => string): void {
  const head = ['Symbol', 'Series', 'Files', 'Imported', 'Stored', 'First (UTC)', 'Last (UTC)'];
  console.log(
    table(
      [...head, 'Gaps', 'Missing', 'Duplicates'],
      all.map(({ gaps, ...imported }) => [
        imported.symbol,
        imported.series,
        imported.files.length,
        number(imported.rows, 0),
        number(imported.stored, 0),
        minute(imported.first),
        minute(imported.last),
        number(gaps?.count, 0),
        number(gaps?.missing, 0),
        number(imported.duplicates, 0),
      ]),
    ),
  );
  for (const { symbol, series, gaps } of all) {
    if (!gaps?.count) continue;
    const widest = gaps.widest.map(({ start, missing }) => `${minute(start)} (${number(missing, 0)})`);
    console.log(`gaps: ${symbol} ${series}, candles missing from: ${listed(widest, gaps.count)}`);
  }
  for (const { symbol, series, files, rows, stored } of all) {
    if (files.length === 1 || rows <= stored) continue;
    console.log(
      `note: ${symbol} ${series}: files overlap; rows in several files are from ${nameOf(files.at(-1)!)}`,
    );
  }
}

/** Notes, skipped and failed files, grouped by message. */
function printMessages(results: readonly ImportResult[], nameOf: (file: string) => string): void {
  const remarks = results.flatMap((result) => {
    if (result.outcome !== 'imported') return { ...result, says: result.reason };
    const says = result.notes.join('; ');
    return says === '' ? [] : { outcome: 'note', file: result.file, says };
  });
  for (const outcome of ['note', 'skipped', 'failed']) {
    const of = remarks.filter((remark) => remark.outcome === outcome);
    for (const [says, files] of Map.groupBy(of, (remark) => remark.says)) {
      const names = files.slice(0, NAMES_SHOWN).map(({ file }) => nameOf(file));
      console.log(`${outcome}: ${listed(names, files.length)}: ${escapeControlChars(says)}`);
    }
  }
}

/** The first items of `count`, and how many more there are. */
function listed(first: readonly string[], count: number): string {
  const more = count - first.length;
  return more > 0 ? `${first.join(', ')} and ${number(more, 0)} more` : first.join(', ');
}
