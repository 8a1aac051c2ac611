import { basename, relative } from 'node:path';
import type { ImportReport } from '#contract/market-data/imports.ts';
import { IMPORT_REPORT_LIMITS as LIMITS } from '#contract/values/import-limits.ts';
import { nextCommands } from './next-command.ts';
import { recognizedFiles } from './recognized-files.ts';
import type { ImportRun } from './run-import.ts';
import type { Imported, ImportResult } from './store-series.ts';

/** Names per kind, note and reason. */
const NAMES_SHOWN = 3;

/**
 * An import as the API returns it: grouped and bounded, because it may have thousands of files and series. `touchstone import` prints the
 * same groups.
 *
 * @param root folder of the files; names are relative to it
 */
export function importReport(run: ImportRun, root: string, isDryRun: boolean): ImportReport {
  const { results, found } = run;
  const nameOf = (file: string) => relative(root, file) || basename(file);
  const series = isDryRun ? seriesIn(results) : run.series.map(storedSeries);
  const filesOf = (some: readonly ImportResult[]) => new Set(some.map(({ file }) => file)).size;
  return {
    dry_run: isDryRun,
    exchange: run.exchange,
    spot_exchange: run.spotExchange,
    files: filesOf(results),
    imported_files: filesOf(results.filter(isImported)),
    recognized: recognizedFiles(found)
      .slice(0, LIMITS.kinds)
      .map(({ symbols, timeframes, ...kind }) => ({
        ...kind,
        symbols: symbols.slice(0, NAMES_SHOWN),
        symbol_count: symbols.length,
        timeframes: [...timeframes],
      })),
    series: series.slice(0, LIMITS.series),
    series_count: series.length,
    previews: run.previews
      .slice(0, LIMITS.previews)
      .map(({ rows, ...key }) => ({ ...key, rows: rows.map((row) => [...row]) })),
    notes: notesIn(results, nameOf),
    rejected: rejectedIn(run, nameOf),
    next: nextCommands(run.series),
  };
}

type Series = ImportReport['series'][number];

const isImported = (result: ImportResult): result is Imported => result.outcome === 'imported';

function storedSeries({ files, gaps, ...series }: ImportRun['series'][number]): Series {
  return { ...series, files: files.length, gaps: gaps?.count ?? null, missing: gaps?.missing ?? null };
}

/** Series of files that were only read. */
function seriesIn(results: readonly ImportResult[]): Series[] {
  const groups = Map.groupBy(results.filter(isImported), (result) =>
    [result.symbol, seriesOf(result), result.exchange].join(' '),
  );
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => readSeries(of));
}

function readSeries(of: readonly Imported[]): Series {
  const [one] = of as readonly [Imported, ...Imported[]];
  const duplicates = of.map((each) => (each.kind === 'candles' ? each.duplicates : 0));
  return {
    exchange: one.exchange,
    symbol: one.symbol,
    series: seriesOf(one),
    files: of.length,
    rows: sum(of.map(({ rows }) => rows)),
    stored: null,
    // ISO 8601 sorts by time.
    first: of.map(({ first }) => first).sort()[0]!,
    last: of
      .map(({ last }) => last)
      .sort()
      .at(-1)!,
    gaps: null,
    missing: null,
    duplicates: one.kind === 'candles' ? sum(duplicates) : null,
  };
}

function seriesOf(result: Imported): string {
  return result.kind === 'candles' ? result.timeframe : 'funding';
}

function notesIn(results: readonly ImportResult[], nameOf: (file: string) => string): ImportReport['notes'] {
  const notes = results
    .filter(isImported)
    .flatMap(({ file, notes: of }) => of.map((note) => ({ file, note })));
  return [...Map.groupBy(notes, ({ note }) => note)].slice(0, LIMITS.notes).map(([note, of]) => ({
    note,
    ...namesOf(of, nameOf),
  }));
}

/** Files that were not imported, by reason; failed ones first. */
function rejectedIn(
  { results, found }: ImportRun,
  nameOf: (file: string) => string,
): ImportReport['rejected'] {
  const bytesOf = new Map(found.files.map(({ path, bytes }) => [path, bytes]));
  const rejected = results.filter((result) => !isImported(result));
  const groups = Map.groupBy(rejected, ({ outcome, reason }) => `${outcome} ${reason}`);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, LIMITS.rejected)
    .map(([, of]) => ({
      outcome: of[0]!.outcome,
      reason: of[0]!.reason,
      ...namesOf(of, nameOf),
      bytes: sum(of.map(({ file }) => bytesOf.get(file) ?? 0)),
    }));
}

/** Number of distinct files, since a file may have many series, and the first names. */
function namesOf(of: readonly { readonly file: string }[], nameOf: (file: string) => string) {
  const files = [...new Set(of.map(({ file }) => file))];
  return { files: files.length, names: files.slice(0, NAMES_SHOWN).map(nameOf) };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
