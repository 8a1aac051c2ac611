import { basename, relative, resolve } from 'node:path';
import cliProgress from 'cli-progress';
import type { Found } from '#adapters/import/find.ts';
import { hintsOf, type ImportHints } from '#adapters/import/hints.ts';
import { nextCommands } from '#adapters/import/next-command.ts';
import type { PreviewStore } from '#adapters/import/preview-store.ts';
import { recognizedFiles } from '#adapters/import/recognized-files.ts';
import { runImport } from '#adapters/import/run-import.ts';
import type { Imported, ImportResult } from '#adapters/import/store-series.ts';
import type { ImportedSeries } from '#adapters/import/summary.ts';
import type { Calendar } from '#contract/values/calendars.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import { missingIn } from '#domain/data/gaps/explain-gaps.ts';
import type { SeriesStore } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import { UsageError } from '../options.ts';
import { duration, escapeControlChars, minute, number, table, wrap } from '../output.ts';
import type { StorageSession } from '../session.ts';
import { missingText } from './missing-text.ts';

/** Names shown per message and in a cell of a table. */
const NAMES_SHOWN = 3;
/** Characters per line of a cell. */
const CELL_WIDTH = 60;

export interface ImportCommandOptions extends ImportHints {
  readonly calendar?: Calendar;
  readonly json?: boolean;
  /** Nothing is stored. */
  readonly dryRun?: boolean;
}

/**
 * Imports a file or a folder into the platform's storage and prints files found, series and messages. Returns the exit code: 0 if
 * something was imported and no file failed.
 *
 * @throws Error for `sim` and for an unknown exchange
 */
export async function importCandles(
  platform: StorageSession,
  path: string,
  options: ImportCommandOptions,
): Promise<number> {
  let bar: ReturnType<typeof progressBar> | undefined;
  const started = performance.now();
  const run = await runImport(platform.storage, path, {
    hints: statedBy(options),
    calendar: options.calendar,
    dryRun: options.dryRun,
    platformExchange: platform.exchange,
    onFound: (files) => {
      if (!options.json) printFound(files, path);
      if (files.files.length > 0) bar = progressBar(files);
    },
    onProgress: (done) => bar?.update(done),
  }).finally(() => bar?.stop());
  const { found, results, series } = run;
  if (found.files.length === 0) {
    if (options.json) console.log(JSON.stringify({ recognized: [], files: [], series: [] }));
    return 1;
  }
  const imported = results.filter((result) => result.outcome === 'imported');
  const code = imported.length > 0 && results.every((result) => result.outcome !== 'failed') ? 0 : 1;
  const hasSpot = imported.some(isSpot);
  if (options.json) {
    const exchanges = { exchange: run.exchange, ...(hasSpot && { spot_exchange: run.spotExchange }) };
    const recognized = recognizedFiles(found);
    const dry = options.dryRun && { dry_run: run.previews };
    console.log(JSON.stringify({ ...exchanges, recognized, files: results, series, ...dry }));
    return code;
  }
  const nameOf = (file: string) => escapeControlChars(relative(resolve(path), file) || basename(file));
  if (series.length > 0) printSeries(series, nameOf);
  await printMissing(series, run.stored);
  if (options.dryRun) printPreview(run.previews);
  printNotes(results, nameOf);
  printRejected(results, found, nameOf);
  if (options.dryRun) {
    console.log('Nothing was stored. Repeat the command without --dry-run to import.');
    return code;
  }
  printSummary(results, imported, duration(performance.now() - started));
  for (const command of nextCommands(series)) console.log(`Next: ${command}`);
  return code;
}

const isSpot = ({ symbol }: { readonly symbol: string }) => tradingModeOf(symbol) === 'spot';

/** Exchanges of imported files, in alphabetical order: of perpetuals, and of spot. */
function exchangesOf(imported: readonly Imported[]) {
  const names = (some: readonly Imported[]) => [...new Set(some.map(({ exchange }) => exchange))].sort();
  return {
    perpetuals: names(imported.filter((each) => !isSpot(each))),
    spot: names(imported.filter(isSpot)),
  };
}

function printSummary(results: readonly ImportResult[], imported: readonly Imported[], taken: string): void {
  const { perpetuals, spot } = exchangesOf(imported);
  const names = [...perpetuals, ...spot.map((each) => `${each} (spot)`)];
  const filesOf = (some: readonly ImportResult[]) => new Set(some.map(({ file }) => file)).size;
  console.log(
    `${filesOf(imported)} of ${formatCount(filesOf(results), 'file')} imported${names.length > 0 ? ` as ${names.join(' and ')}` : ''} in ${taken}.`,
  );
}

/** Statements of the user on the files. Throws UsageError for a value that means nothing. */
function statedBy({ json: _, dryRun: __, calendar: ___, ...options }: ImportCommandOptions) {
  try {
    return hintsOf(options);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The first rows of each series as they would be stored. */
function printPreview(series: PreviewStore['series']): void {
  for (const { exchange, symbol, timeframe, rows } of series) {
    console.log(`First rows of ${exchange} ${symbol} ${timeframe}:`);
    const cells = rows.map(([time, ...values]) => [new Date(time!).toISOString(), ...values.map(String)]);
    console.log(table(['Time (UTC)', 'Open', 'High', 'Low', 'Close', 'Volume'], cells));
  }
}

/** What each kind of file holds, before it is read. */
function printFound(found: Found, path: string): void {
  console.log(`Found in ${escapeControlChars(path)}: ${formatCount(found.files.length, 'file')}`);
  const rows = recognizedFiles(found).map(({ symbols, timeframes, ...of }) => [
    of.recognizer || 'not recognized',
    of.content,
    of.market,
    inCell(symbols),
    inCell(timeframes, ALL_TIMEFRAMES.length),
    of.format,
    number(of.files, 0),
    number(of.bytes / 1e6),
  ]);
  if (rows.length === 0) return;
  const head = ['Recognized', 'Content', 'Market', 'Symbols', 'Timeframes', 'Format', 'Files', 'MB'];
  console.log(table(head, rows.sort()));
}

/** The first items and how many more there are, in lines of a table's cell. */
function inCell(items: readonly string[], shown = NAMES_SHOWN): string {
  return wrap(escapeControlChars(listNames(items, { shown })), CELL_WIDTH);
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
  const byMode = Map.groupBy(all, ({ symbol }) => tradingModeOf(symbol)).values();
  const isOne = [...byMode].every((of) => new Set(of.map(({ exchange }) => exchange)).size === 1);
  const nameOfSeries = ({ exchange, symbol, series }: ImportedSeries) =>
    [...(isOne ? [] : [exchange]), symbol, series].join(' ');
  const head = [
    ...(isOne ? [] : ['Exchange']),
    'Symbol',
    'Series',
    'Files',
    'Imported',
    'Stored',
    'First (UTC)',
    'Last (UTC)',
  ];
  console.log(
    table(
      [...head, 'Gaps', 'Missing', 'Closed', 'Duplicates'],
      all.map(({ gaps, ...imported }) => [
        ...(isOne ? [] : [imported.exchange]),
        imported.symbol,
        imported.series,
        imported.files.length,
        number(imported.rows, 0),
        number(imported.stored, 0),
        minute(imported.first),
        minute(imported.last),
        number(gaps?.count, 0),
        number(gaps?.missing, 0),
        number(gaps?.closed, 0),
        number(imported.duplicates, 0),
      ]),
    ),
  );
  for (const each of all) {
    const { gaps } = each;
    if (!gaps?.count) continue;
    const widest = gaps.widest.map(({ start, missing }) => `${minute(start)} (${number(missing, 0)})`);
    console.log(
      `gaps: ${nameOfSeries(each)}, candles missing from: ${listNames(widest, { count: gaps.count })}`,
    );
  }
  for (const each of all) {
    const { files, rows, stored } = each;
    if (files.length === 1 || rows <= stored) continue;
    console.log(
      `note: ${nameOfSeries(each)}: files overlap; rows in several files are from ${nameOf(files.at(-1)!)}`,
    );
  }
}

/** Why candles of the stored series are missing. */
async function printMissing(all: readonly ImportedSeries[], stored: Pick<SeriesStore, 'getMany'>) {
  for (const { exchange, symbol, series, gaps } of all) {
    if (series === 'funding' || !gaps || gaps.missing + gaps.closed === 0) continue;
    const key = { symbol, timeframe: series };
    const info = (await stored.getMany(exchange, [key])).get(`${symbol}#${series}`);
    if (info)
      console.log(`missing of all stored: ${exchange} ${symbol} ${series}: ${missingText(missingIn(info))}`);
  }
}

/** Corrections of imported files, grouped by message. */
function printNotes(results: readonly ImportResult[], nameOf: (file: string) => string): void {
  const notes = results.flatMap((result) => {
    const says = result.outcome === 'imported' ? result.notes.join('; ') : '';
    return says === '' ? [] : { file: result.file, says };
  });
  for (const [says, files] of Map.groupBy(notes, (note) => note.says)) {
    // A file may have many series with one note.
    const distinct = [...new Set(files.map(({ file }) => file))];
    const names = distinct.slice(0, NAMES_SHOWN).map(nameOf);
    console.log(`note: ${listNames(names, { count: distinct.length })}: ${escapeControlChars(says)}`);
  }
}

/** Skipped and failed files with the reason, one row for each reason. */
function printRejected(
  results: readonly ImportResult[],
  { files }: Found,
  nameOf: (file: string) => string,
): void {
  const bytesOf = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const rejected = results.filter((result) => result.outcome !== 'imported');
  const groups = Map.groupBy(rejected, ({ outcome, reason }) => JSON.stringify([outcome, reason]));
  const rows = [...groups].map(([group, of]) => {
    const [outcome, reason] = JSON.parse(group) as [string, string];
    const bytes = of.reduce((total, { file }) => total + bytesOf.get(file)!, 0);
    return [
      outcome,
      wrap(escapeControlChars(reason), CELL_WIDTH),
      number(of.length, 0),
      number(bytes / 1e6),
      listNames(
        of.slice(0, NAMES_SHOWN).map(({ file }) => nameOf(file)),
        { count: of.length, separator: '\n' },
      ),
    ];
  });
  if (rows.length > 0) console.log(table(['Result', 'Reason', 'Files', 'MB', 'Names'], rows.sort(byResult)));
}

/** Skipped files first, so that failed ones are at the end of the screen. */
const byResult = ([a]: readonly string[], [b]: readonly string[]) => (a === b ? 0 : a! > b! ? -1 : 1);
