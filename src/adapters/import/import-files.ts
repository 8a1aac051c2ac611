import { basename, dirname } from 'node:path';
import type { CandleStore, Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/validate.ts';
import { CANDLE_COLUMNS, type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { checkCandles, gapsBetween } from './candles.ts';
import { inOrder, rejectWrongRows, takeTimes, timeProblem } from './checks.ts';
import type { FileContent, Source } from './content.ts';
import type { FileReader } from './file-reader.ts';
import type { Found, FoundFile, FoundMarks } from './find.ts';
import { BadFileError, ColumnBuilder, FIRST_ROW, type FileRows, isoTime, type Layout } from './rows.ts';

const SIMULATED = 'sim';
/** Funding rates as freqtrade writes them since 2026.9, and before: as candles with the rate as the open. */
const RATE_LAYOUTS = [['timestamp', 'funding_rate'], CANDLE_COLUMNS];

const NO_MARKS =
  'no mark prices (...-mark) in the same folder, or of the same time (markPriceKlines) in the same download';
const NO_RATES =
  'no funding rates (...-funding_rate) in the same folder, or of the same time (fundingRate) in the same download';

/** Result of one file. Times are ISO 8601. */
export type ImportResult =
  | {
      readonly outcome: 'imported';
      readonly file: string;
      readonly kind: 'candles';
      readonly symbol: string;
      readonly timeframe: Timeframe;
      readonly rows: number;
      /** Rows that were merged into another row of the same time. */
      readonly duplicates: number;
      /** Candles missing between first and last. */
      readonly missing: number;
      /** Open times. */
      readonly first: string;
      readonly last: string;
      /** Corrections, one sentence each, for the user. */
      readonly notes: readonly string[];
    }
  | {
      readonly outcome: 'imported';
      readonly file: string;
      readonly kind: 'funding';
      readonly symbol: string;
      readonly rows: number;
      readonly first: string;
      readonly last: string;
      /** Corrections and omissions, one sentence each, for the user. */
      readonly notes: readonly string[];
    }
  /** Not importable: another kind of file, a spot pair, an unsupported timeframe. */
  | { readonly outcome: 'skipped'; readonly file: string; readonly reason: string }
  /** Invalid content; no row was stored. */
  | { readonly outcome: 'failed'; readonly file: string; readonly reason: string };

type ContentOf<Kind> = Extract<FileContent, { kind: Kind }>;

type Imported = Extract<ImportResult, { outcome: 'imported' }>;

export interface ImportOptions {
  readonly store: CandleStore;
  /** The caller closes it. */
  readonly reader: FileReader;
  /** Exchange of the candles, for example `binanceusdm`. */
  readonly exchange: string;
  /** Exchange of the candles of spot pairs. Default: `exchange`. */
  readonly spotExchange?: string;
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
  if ([options.exchange, options.spotExchange].includes(SIMULATED)) {
    throw new RangeError(`${SIMULATED} is the simulated market. Pass the exchange of the candles`);
  }
  const results: ImportResult[] = [];
  let bytes = 0;
  for (const [index, file] of found.files.entries()) {
    const result = await importFile(file, found, options);
    if (result) results.push(result);
    bytes += file.bytes;
    options.onProgress?.({ files: index + 1, bytes });
  }
  return results;
}

async function importFile(
  file: FoundFile,
  found: Found,
  { spotExchange, ...common }: ImportOptions,
): Promise<ImportResult | undefined> {
  const { path, content } = file;
  const skipped = (reason: string): ImportResult => ({ outcome: 'skipped', file: path, reason });
  if (content.kind === 'companion') return undefined;
  if (content.kind === 'other') return skipped(content.reason);
  if (content.kind === 'unreadable') return { outcome: 'failed', file: path, reason: content.reason };
  const exchange =
    tradingModeOf(content.symbol) === 'spot' ? (spotExchange ?? common.exchange) : common.exchange;
  const options = { ...common, exchange };
  const named = new Set([...found.exchanges, ...found.spotExchanges]);
  if (named.size > 1 && content.exchange && content.exchange !== exchange) {
    return skipped(`of ${content.exchange}, not of ${exchange}`);
  }
  try {
    switch (content.kind) {
      case 'candles':
        return await importCandles(path, content, options);
      case 'events':
        return await importEvents(path, content, options);
      case 'rates': {
        const marks = found.marks.filter((mark) => belongTogether(mark, file));
        if (marks.length === 0) return skipped(NO_MARKS);
        return await importRates(path, content, marks, options);
      }
      case 'marks':
        if (found.files.some((other) => other.content.kind === 'rates' && belongTogether(file, other))) {
          return undefined;
        }
        return skipped(NO_RATES);
    }
  } catch (error) {
    if (error instanceof BadFileError) return { outcome: 'failed', file: path, reason: error.message };
    throw error;
  }
}

async function importCandles(
  path: string,
  content: ContentOf<'candles'>,
  { store, exchange, clock, reader }: ImportOptions,
): Promise<Imported> {
  const { symbol, timeframe } = content;
  const step = TIMEFRAME_MS[timeframe];
  const rows = await reader.read(requestOf(path, content, [CANDLE_COLUMNS]));
  const { candles, ...checked } = checkCandles(rows, { step, timeframe, now: clock.now() });
  await store.write({ exchange, symbol, timeframe }, candles);
  const { missing } = gapsBetween(candles.timestamp, step);
  return {
    outcome: 'imported',
    file: path,
    kind: 'candles',
    symbol,
    timeframe,
    ...extent(candles),
    missing,
    ...checked,
  };
}

async function importEvents(
  path: string,
  content: ContentOf<'events'>,
  options: ImportOptions,
): Promise<Imported> {
  const rows = await options.reader.read(requestOf(path, content, [['timestamp', 'rate', 'mark_price']]));
  return storeFunding(path, content.symbol, checkEvents(rows, options.clock.now()), options);
}

async function importRates(
  path: string,
  content: ContentOf<'rates'>,
  markFiles: readonly FoundMarks[],
  options: ImportOptions,
): Promise<Imported> {
  const rates = await options.reader.read(requestOf(path, content, RATE_LAYOUTS));
  const marks = await readMarks(markFiles, options);
  return storeFunding(path, content.symbol, joinFunding(rates, marks, options.clock.now()), options);
}

async function storeFunding(
  path: string,
  symbol: string,
  { events, notes }: CheckedFunding,
  { store, exchange }: ImportOptions,
): Promise<Imported> {
  await store.writeFunding(exchange, symbol, events);
  return { outcome: 'imported', file: path, kind: 'funding', symbol, ...extent(events), notes };
}

/** Merges all files: freqtrade changed the timeframe of mark prices and keeps the older files, so each may have gaps. */
async function readMarks(files: readonly FoundMarks[], { reader, clock }: ImportOptions): Promise<Candles> {
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

function extent({ timestamp }: { readonly timestamp: Float64Array }) {
  return { rows: timestamp.length, first: isoTime(timestamp[0]!), last: isoTime(timestamp.at(-1)!) };
}

/** Exchanges record funding events some milliseconds late, so times are rounded down to the minute. */
const MINUTE_MS = 60_000;

interface CheckedFunding {
  /** At least one; ascending, each time once. */
  readonly events: FundingEvents;
  /** Corrections and omissions, one sentence each, for the user. */
  readonly notes: readonly string[];
}

/**
 * Funding events from rates and the mark prices of the same minutes. Only times in both files count, as in freqtrade.
 * @param rates `timestamp, rate, ...`; the last row of a minute counts
 * @throws BadFileError for an invalid row, or when no time is in both files
 */
function joinFunding(rates: FileRows, marks: Candles, now: number): CheckedFunding {
  const [stamps, values] = rates.columns;
  const taken = takeTimes(stamps!, now);
  rejectWrongRows(rates, (row) => timeProblem(stamps![row]!, taken.rules) ?? rateProblem(values![row]!));
  const { columns, sorted } = inOrder([stamps!, values!]);
  const times = columns[0]!.map((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const markPrices = times.map((time) => markAt(marks, time));
  const events = eventsOf(times, columns[1]!, markPrices);
  if (events.timestamp.length === 0) throw new BadFileError('no event has a mark price of the same minute');
  const left = markPrices.filter(Number.isNaN).length;
  const notes = left > 0 ? [`events without a mark price: ${left.toLocaleString('en-US')}, left out`] : [];
  return { events, notes: [...taken.notes, ...notes, ...orderNotes(sorted)] };
}

/**
 * Funding events as Touchstone stores them.
 * @param rows `timestamp, rate, mark_price`; the last row of a time counts
 * @throws BadFileError for an invalid row
 */
function checkEvents(rows: FileRows, now: number): CheckedFunding {
  const [stamps, rates, marks] = rows.columns;
  const taken = takeTimes(stamps!, now);
  rejectWrongRows(
    rows,
    (row) =>
      timeProblem(stamps![row]!, taken.rules) ??
      rateProblem(rates![row]!) ??
      (marks![row]! > 0 && marks![row]! < Infinity ? undefined : `mark price ${marks![row]} is not above 0`),
  );
  const { columns, sorted } = inOrder(rows.columns);
  return {
    events: eventsOf(columns[0]!, columns[1]!, columns[2]!),
    notes: [...taken.notes, ...orderNotes(sorted)],
  };
}

function rateProblem(rate: number): string | undefined {
  return Math.abs(rate) < 1 ? undefined : `funding rate ${rate} is not a ratio`;
}

const orderNotes = (sorted: boolean) => (sorted ? ['rows were not in time order: sorted'] : []);

/** NaN when no mark candle opens in the minute. */
function markAt(marks: Candles, minute: number): number {
  const row = indexAtOrAfter(marks.timestamp, minute);
  return marks.timestamp[row]! < minute + MINUTE_MS ? marks.open[row]! : Number.NaN;
}

/** The last event of each time that has a mark price. */
function eventsOf(times: Float64Array, rates: Float64Array, marks: Float64Array): FundingEvents {
  const kept: number[] = [];
  for (const [row, time] of times.entries()) {
    if (Number.isNaN(marks[row])) continue;
    if (kept.length > 0 && times[kept.at(-1)!] === time) kept.pop();
    kept.push(row);
  }
  const pick = (column: Float64Array) => Float64Array.from(kept, (row) => column[row]!);
  return { timestamp: pick(times), rate: pick(rates), markPrice: pick(marks) };
}
