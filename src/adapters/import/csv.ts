import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CandleStore } from '#domain/ports.ts';
import { indexAtOrAfter } from '#engine/candles.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { CsvError, isoTime, readCsv } from './csv-rows.ts';
import { contentOf, type FileContent } from './file-name.ts';

/** What became of one file. Times are open times, ISO 8601. */
export type ImportResult =
  | {
      readonly outcome: 'imported';
      readonly file: string;
      readonly kind: 'candles';
      readonly symbol: string;
      readonly timeframe: Timeframe;
      readonly rows: number;
      /** Rows that repeated the time of the one before. */
      readonly duplicates: number;
      /** Candles missing between first and last. */
      readonly missing: number;
      readonly first: string;
      readonly last: string;
    }
  | {
      readonly outcome: 'imported';
      readonly file: string;
      readonly kind: 'funding';
      readonly symbol: string;
      readonly rows: number;
      /** Events left out because there is no mark price of their time. */
      readonly withoutMark: number;
      readonly first: string;
      readonly last: string;
    }
  /** Of no use here: another kind of file, a spot pair, an unsupported timeframe. */
  | { readonly outcome: 'skipped'; readonly file: string; readonly reason: string }
  /** Meant for us and wrong; nothing of it was stored. */
  | { readonly outcome: 'failed'; readonly file: string; readonly reason: string };

export interface ImportOptions {
  readonly store: CandleStore;
  /** Exchange that the candles are of, for example `binanceusdm`. */
  readonly exchange: string;
  readonly onFile?: (result: ImportResult) => void;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Funding events are stamped some milliseconds late; they belong to the minute. */
const MINUTE_MS = 60_000;

/**
 * Imports a CSV file, or every one in a folder and the folders in it, in the order of their paths. Candles that are
 * stored already are replaced. A file is checked whole before anything of it is stored, and a bad one does not keep the
 * others from being imported. Mark prices are read along with the funding rates of the same name.
 * Throws DATA005 when storage fails, and Node's error when `path` does not exist.
 */
export async function importFolder(path: string, options: ImportOptions): Promise<ImportResult[]> {
  const files = (await stat(path)).isDirectory() ? await filesIn(path) : [path];
  const known = new Set(files);
  const results: ImportResult[] = [];
  for (const [index, file] of files.entries()) {
    const result = await importFile(file, known, options);
    if (result) {
      results.push(result);
      options.onFile?.(result);
    }
    options.onProgress?.(index + 1, files.length);
  }
  return results;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Undefined for mark prices that belong to a file of funding rates. */
async function importFile(
  file: string,
  known: ReadonlySet<string>,
  options: ImportOptions,
): Promise<ImportResult | undefined> {
  const content = contentOf(basename(file));
  try {
    switch (content.kind) {
      case 'candles':
        return await importCandles(file, content, options);
      case 'funding':
        return await importFunding(file, content.symbol, options);
      case 'mark':
        if (namesOf(file, 'mark', 'funding_rate').some((name) => known.has(name))) return undefined;
        return { outcome: 'skipped', file, reason: 'mark prices without funding rates beside them' };
      case 'other':
        return { outcome: 'skipped', file, reason: content.reason };
    }
  } catch (error) {
    if (error instanceof CsvError) return { outcome: 'failed', file, reason: error.message };
    throw error;
  }
}

async function importCandles(
  file: string,
  { symbol, timeframe }: Extract<FileContent, { kind: 'candles' }>,
  { store, exchange }: ImportOptions,
): Promise<ImportResult> {
  const step = TIMEFRAME_MS[timeframe];
  const { rows, duplicates } = await readCsv(file, (row) => candleProblem(row, step, timeframe));
  await store.write({ exchange, symbol, timeframe }, rows);
  const [first, last] = [rows.timestamp[0]!, rows.timestamp.at(-1)!];
  const count = rows.timestamp.length;
  return {
    outcome: 'imported',
    file,
    kind: 'candles',
    symbol,
    timeframe,
    rows: count,
    duplicates,
    missing: (last - first) / step + 1 - count,
    first: isoTime(first),
    last: isoTime(last),
  };
}

/** Rates are in the `open` column; an event needs the mark price of its time. */
async function importFunding(
  file: string,
  symbol: string,
  { store, exchange }: ImportOptions,
): Promise<ImportResult> {
  const markFile = namesOf(file, 'funding_rate', 'mark').find((name) => existsSync(name));
  if (!markFile) return { outcome: 'skipped', file, reason: 'no mark prices (…-mark.csv) beside it' };
  const { rows: rates } = await readCsv(file, rateProblem);
  const { rows: marks } = await readCsv(markFile, (row) => candleProblem(row, 1, 'ms'));
  const kept: [time: number, rate: number, markPrice: number][] = [];
  for (const [row, stamp] of rates.timestamp.entries()) {
    const time = Math.floor(stamp / MINUTE_MS) * MINUTE_MS;
    const mark = indexAtOrAfter(marks.timestamp, time);
    if (!(marks.timestamp[mark]! < time + MINUTE_MS)) continue;
    if (kept.at(-1)?.[0] === time) kept.pop();
    kept.push([time, rates.open[row]!, marks.open[mark]!]);
  }
  if (kept.length === 0) throw new CsvError(file, null, `no event has a mark price in ${basename(markFile)}`);
  const column = (index: 0 | 1 | 2) => Float64Array.from(kept, (event) => event[index]);
  await store.writeFunding(exchange, symbol, { timestamp: column(0), rate: column(1), markPrice: column(2) });
  return {
    outcome: 'imported',
    file,
    kind: 'funding',
    symbol,
    rows: kept.length,
    withoutMark: rates.timestamp.length - kept.length,
    first: isoTime(kept[0]![0]),
    last: isoTime(kept.at(-1)![0]),
  };
}

/** What a file of the same name, but for its type, may be called: plain or gzip'd. */
function namesOf(file: string, type: string, otherType: string): string[] {
  const plain = basename(file).replace(new RegExp(`-${type}\\.csv(\\.gz)?$`), `-${otherType}.csv`);
  return [plain, `${plain}.gz`].map((name) => join(dirname(file), name));
}

function rateProblem([, rate]: readonly number[]): string | undefined {
  return Math.abs(rate!) < 1 ? undefined : `funding rate ${rate} is not a ratio`;
}

function candleProblem(row: readonly number[], step: number, timeframe: string): string | undefined {
  const [time, open, high, low, close, volume] = row as [number, number, number, number, number, number];
  if (time % step !== 0) return `${isoTime(time)} does not lie on the grid of ${timeframe}`;
  if (!(low > 0)) return `low ${low} is not above 0`;
  if (high < Math.max(open, close, low)) return `high ${high} is below open, low or close`;
  if (low > Math.min(open, close)) return `low ${low} is above open or close`;
  if (volume < 0) return `volume ${volume} is negative`;
  return undefined;
}
