import { basename, relative, resolve } from 'node:path';
import cliProgress from 'cli-progress';
import { chooseExchange } from '#adapters/import/choose-exchange.ts';
import { type Found, type FoundFile, findFiles } from '#adapters/import/find.ts';
import { type ImportResult, importFiles } from '#adapters/import/import-files.ts';
import { type ImportedSeries, summariseImport } from '#adapters/import/summarise.ts';
import { openMarketStores } from '#adapters/open-stores.ts';
import type { PlatformInfo } from '../../src/local/platform.ts';
import { duration, minute, number, table } from './format.ts';

/** Whose candles a file holds when nobody says: what the deployed platform collects by default. */
const REAL_EXCHANGE = 'binanceusdm';
const SIMULATED = 'sim';
/** Names shown of the files that were skipped for one reason. */
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
 * Imports a file or a folder into the platform's storage: prints what was found, then what became of it. Answers the exit
 * code: 0 when something was imported and nothing failed. Throws an Error for `sim` and for what is no exchange.
 */
export async function importCandles(
  platform: PlatformInfo,
  path: string,
  options: { readonly exchange?: string },
): Promise<number> {
  const found = await findFiles(path);
  printFound(found, path);
  const fallback = platform.exchange === SIMULATED ? REAL_EXCHANGE : platform.exchange;
  const exchange = chooseExchange(found, options.exchange, fallback);
  const { candles: store } = openMarketStores(platform.storage);
  const started = performance.now();
  const bar = progressBar(found);
  const results = await importFiles(found, { store, exchange, clock: Date, onProgress: bar.update }).finally(
    bar.stop,
  );
  const taken = duration(performance.now() - started);
  const imported = results.filter((result) => result.outcome === 'imported');
  if (imported.length > 0) printSeries(await summariseImport(results, exchange, store));
  printRemarks(results, (file) => printable(relative(resolve(path), file) || basename(file)));
  console.log(`${imported.length} of ${results.length} files imported as ${exchange} in ${taken}.`);
  if (exchange !== platform.exchange && imported.length > 0) {
    console.log(`Trade on them with: npx touchstone backtest <strategy> --exchange ${exchange}`);
  }
  return imported.length > 0 && results.every((result) => result.outcome !== 'failed') ? 0 : 1;
}

function printFound({ files }: Found, path: string): void {
  console.log(`Found in ${printable(path)}: ${number(files.length, 0)} files`);
  const groups = Map.groupBy(files, ({ content }) =>
    [KINDS[content.kind], 'format' in content ? content.format : ''].join(),
  );
  const rows = [...groups].map(([group, of]) => {
    const bytes = of.reduce((total, file) => total + file.bytes, 0);
    return [...group.split(','), number(of.length, 0), number(bytes / 1e6)];
  });
  if (rows.length > 0) console.log(table(['Holds', 'Format', 'Files', 'MB'], rows.sort()));
}

function progressBar({ files }: Found) {
  const bar = new cliProgress.SingleBar(
    { format: 'Importing [{bar}] {percentage} % {files}/{of} files', hideCursor: true },
    cliProgress.Presets.shades_classic,
  );
  // By size, for a file may be a day or a decade. Empty files count a little, so that the bar can end.
  const total = files.reduce((sum, file) => sum + file.bytes, 1);
  bar.start(total, 0, { files: 0, of: files.length });
  return {
    update: (done: { readonly files: number; readonly bytes: number }) =>
      bar.update(done.bytes, { files: done.files }),
    stop: () => bar.stop(),
  };
}

function printSeries(series: readonly ImportedSeries[]): void {
  const head = ['Symbol', 'Series', 'Files', 'Rows', 'First (UTC)', 'Last (UTC)'];
  console.log(
    table(
      [...head, 'Gaps', 'Missing', 'Widest gap', 'Duplicates'],
      series.map(({ gaps, ...imported }) => [
        imported.symbol,
        imported.series,
        imported.files,
        number(imported.rows, 0),
        minute(imported.first),
        minute(imported.last),
        number(gaps?.count, 0),
        number(gaps?.missing, 0),
        gaps?.widest ? `${number(gaps.widest.missing, 0)} from ${minute(gaps.widest.start)}` : '-',
        number(imported.duplicates, 0),
      ]),
    ),
  );
}

function printRemarks(results: readonly ImportResult[], nameOf: (file: string) => string): void {
  for (const result of results) {
    if (result.outcome !== 'imported' || result.notes.length === 0) continue;
    console.log(`note: ${nameOf(result.file)}: ${result.notes.join('; ')}`);
  }
  const skipped = results.filter((result) => result.outcome === 'skipped');
  for (const [reason, of] of Map.groupBy(skipped, (result) => result.reason)) {
    const names = of.slice(0, NAMES_SHOWN).map((result) => nameOf(result.file));
    if (of.length > NAMES_SHOWN) names.push(`and ${number(of.length - NAMES_SHOWN, 0)} more`);
    console.log(`skipped: ${names.join(', ')}: ${printable(reason)}`);
  }
  for (const result of results) {
    if (result.outcome === 'failed')
      console.log(`failed: ${nameOf(result.file)}: ${printable(result.reason)}`);
  }
}

/** File names come from anywhere: none may steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
