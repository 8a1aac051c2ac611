import { explainGaps, gapRulesOf, gapsBetween } from '#domain/data/gaps/explain-gaps.ts';
import type { MissingCandles } from '#domain/data/gaps/sessions.ts';
import type { CandleStore, Gap, SeriesStore } from '#domain/ports.ts';
import { isoTime } from '#domain/shared/iso-time.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { Imported, ImportResult } from './store-series.ts';

/** Gaps that are listed individually. */
const GAPS_LISTED = 10;

/** Gaps in which a market was not closed. */
interface Gaps {
  readonly count: number;
  /** Candles missing in all of them. */
  readonly missing: number;
  /** Candles of closed times, which are not among the missing ones. */
  readonly closed: number;
  /** Up to ten, widest first, then oldest first. `start`: open time of the first missing candle, ISO 8601. */
  readonly widest: readonly { readonly start: string; readonly missing: number }[];
}

/** Candles read at once, 13 MB: half a year of 1m. */
const READ_CANDLES = 2 ** 18;

/** Import summary of one series. Times are open times, ISO 8601. */
export interface ImportedSeries {
  readonly exchange: string;
  readonly symbol: string;
  readonly series: Timeframe | 'funding';
  /** Paths in import order: if several files contain a time, the last one counts. */
  readonly files: readonly string[];
  /** Rows imported from all files; a time in several files counts once per file. */
  readonly rows: number;
  /** Rows stored now between first and last. */
  readonly stored: number;
  /** Rows that were merged into another row of the same time; null for funding. */
  readonly duplicates: number | null;
  readonly first: string;
  readonly last: string;
  /** Gaps in the stored series between first and last; null for funding. */
  readonly gaps: Gaps | null;
}

/**
 * Imported files by series, ascending. The candles are read back, because several files may fill each other's gaps. Corrupt
 * stored files count as missing.
 */
export async function summarizeImport(
  results: readonly ImportResult[],
  store: CandleStore,
  infos: Pick<SeriesStore, 'getMany'>,
): Promise<ImportedSeries[]> {
  const imported = results.filter((result) => result.outcome === 'imported');
  const groups = Map.groupBy(imported, (result) =>
    [result.symbol, placeOf(result), result.exchange].join(' '),
  );
  const series: ImportedSeries[] = [];
  for (const [, files] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    series.push(await summarize(files, store, infos));
  }
  return series;
}

async function summarize(
  files: readonly Imported[],
  store: CandleStore,
  infos: Pick<SeriesStore, 'getMany'>,
): Promise<ImportedSeries> {
  const { exchange, symbol } = files[0]!;
  const series = seriesOf(files[0]!);
  // ISO 8601 sorts by time.
  const first = files.map((file) => file.first).sort()[0]!;
  const last = files
    .map((file) => file.last)
    .sort()
    .at(-1)!;
  const rows = sum(files.map((file) => file.rows));
  const all = { exchange, symbol, series, files: files.map(({ file }) => file), rows, first, last };
  const [start, end] = [Date.parse(first), Date.parse(last)];
  const ignoreCorrupt = () => {};
  if (series === 'funding') {
    const { timestamp } = await store.readFunding(exchange, symbol, start, end, ignoreCorrupt);
    return { ...all, stored: timestamp.length, duplicates: null, gaps: null };
  }
  const step = TIMEFRAME_MS[series];
  const duplicates = sum(files.map((file) => (file.kind === 'candles' ? file.duplicates : 0)));
  const [file] = files;
  // The only file has all candles between its first and its last one.
  if (files.length === 1 && file!.kind === 'candles' && file!.missing === 0) {
    return { ...all, stored: rows, duplicates, gaps: NO_GAPS };
  }
  const info = (await infos.getMany(exchange, [{ symbol, timeframe: series }])).get(`${symbol}#${series}`);
  const found: Gap[] = [];
  let stored = 0;
  let before: number | undefined;
  for (let from = start; from <= end; from += READ_CANDLES * step) {
    const to = Math.min(end + step, from + READ_CANDLES * step);
    const { timestamp } = await store.read({ exchange, symbol, timeframe: series }, from, to, ignoreCorrupt);
    if (timestamp.length === 0) continue;
    const between = before === undefined ? [] : gapsBetween(Float64Array.of(before, timestamp[0]!), step);
    for (const gap of [...between, ...gapsBetween(timestamp, step)]) found.push(gap);
    before = timestamp.at(-1)!;
    stored += timestamp.length;
  }
  const described = describeGaps(found, info ?? { exchange, timeframe: series });
  const isWhole = info?.missing && info.count === stored && info.first === first && info.last === last;
  const gaps = isWhole ? { ...described, ...countsOf(info.missing!) } : described;
  return { ...all, stored, duplicates, gaps };
}

const NO_GAPS: Gaps = { count: 0, missing: 0, closed: 0, widest: [] };

const countsOf = ({ damage, no_trades, closed }: MissingCandles) => ({ missing: damage + no_trades, closed });

function describeGaps(found: readonly Gap[], series: Parameters<typeof gapRulesOf>[0]): Gaps {
  const explained = explainGaps(found, gapRulesOf(series));
  const gaps = [...explained.damaged, ...explained.quiet];
  const widest = gaps.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, GAPS_LISTED);
  return {
    count: gaps.length,
    ...countsOf(explained),
    widest: widest.map(([start, missing]) => ({ start: isoTime(start), missing })),
  };
}

/** Candles by the length of their timeframe, then funding, as text of one length. */
function placeOf(result: Imported): string {
  return result.kind === 'candles' ? String(TIMEFRAME_MS[result.timeframe]).padStart(10, '0') : 'funding';
}

function seriesOf(result: Imported): Timeframe | 'funding' {
  return result.kind === 'candles' ? result.timeframe : 'funding';
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
