import { formatInteger } from '#contract/values/format-count.ts';
import type { Clock } from '#domain/ports.ts';
import { ALL_TIMEFRAMES, floorToGrid, isOnGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { ImportStore } from './batched-writes.ts';
import { type CheckedSeries, checkSeries, withoutLast } from './check-series.ts';
import type { Source } from './file-content.ts';
import { BadFileError, isoTime } from './file-rows.ts';
import type { CheckedFunding } from './funding.ts';
import type { SharedRows } from './shared-rows.ts';

/** Result of one file. Times are ISO 8601. */
export type ImportResult =
  | {
      readonly outcome: 'imported';
      readonly file: string;
      readonly kind: 'candles';
      readonly exchange: string;
      readonly symbol: string;
      readonly timeframe: Timeframe;
      readonly rows: number;
      /** Rows that were merged into another row of the same time. */
      readonly duplicates: number;
      /** Candles that the file lacks between first and last, those of closed times included. */
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
      readonly exchange: string;
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

export type Imported = Extract<ImportResult, { outcome: 'imported' }>;

/** A series that is checked and can be stored. */
export interface ReadySeries {
  readonly result: Imported;
  write(): Promise<void>;
}

interface StoreOptions {
  readonly store: ImportStore;
  readonly exchange: string;
}

interface CandleOptions extends StoreOptions {
  readonly clock: Clock;
  /** Time at which the file was written, Unix milliseconds: a last candle that was open then is left out. */
  readonly exportedAt?: number;
  readonly skipInvalid?: boolean;
}

interface CandleSource {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** Times that the name of the file states. */
  readonly period?: Source['period'];
  /** Of the reader. */
  readonly notes?: readonly string[];
}

/** Checks all candles of a series. Throws BadFileError for an invalid row. */
export function readyCandles(
  path: string,
  { symbol, timeframe, period, notes }: CandleSource,
  rows: SharedRows,
  { store, exchange, clock, exportedAt = Number.NaN, skipInvalid = false }: CandleOptions,
): ReadySeries {
  const step = TIMEFRAME_MS[timeframe];
  const all = checkSeries(rows, { step, timeframe, now: clock.now(), skipInvalid });
  const wasOpen = all.last <= exportedAt && exportedAt < all.last + step;
  if (wasOpen && all.rows === 1) throw new BadFileError('holds no closed candle');
  const series = wasOpen ? withoutLast(all) : all;
  const { first, doubts } = lookAt(series, timeframe, period);
  const { last } = series;
  const slots = (floorToGrid(last, step) - floorToGrid(first, step)) / step + 1;
  const result: Imported = {
    outcome: 'imported',
    file: path,
    kind: 'candles',
    exchange,
    symbol,
    timeframe,
    rows: series.rows,
    first: isoTime(first),
    last: isoTime(last),
    missing: slots - series.rows,
    duplicates: all.duplicates,
    notes: [
      ...(notes ?? []),
      ...all.notes,
      ...(wasOpen ? ['the last candle was open when the file was written: left out'] : []),
      ...doubts,
    ],
  };
  return {
    result,
    write: async () => {
      for (const candles of series.parts()) await store.write({ exchange, symbol, timeframe }, candles);
    },
  };
}

/** Fewer candles may be on the grid of a longer timeframe by chance. */
const MIN_ON_GRID = 10;

/** The first time, and signs that the file is not what its name says. */
function lookAt(series: CheckedSeries, timeframe: Timeframe, period: Source['period']) {
  let first = Number.NaN;
  let outside = 0;
  let longer = ALL_TIMEFRAMES.filter((each) => TIMEFRAME_MS[each] > TIMEFRAME_MS[timeframe]);
  for (const times of series.times()) {
    if (Number.isNaN(first)) first = times[0]!;
    longer = longer.filter((each) => times.every((time) => isOnGrid(time, TIMEFRAME_MS[each])));
    if (period) outside += times.filter((time) => time < period.from || time >= period.to).length;
  }
  const longest = longer.at(-1);
  const doubts = [
    ...(longest && series.rows >= MIN_ON_GRID
      ? [`every candle is on the ${longest} grid: check that the file does not hold ${longest}`]
      : []),
    ...(outside > 0 ? [`candles outside the dates in the name: ${formatInteger(outside)}`] : []),
  ];
  return { first, doubts };
}

export function readyFunding(
  path: string,
  symbol: string,
  { events, notes }: CheckedFunding,
  { store, exchange }: StoreOptions,
): ReadySeries {
  const result: Imported = {
    outcome: 'imported',
    file: path,
    kind: 'funding',
    exchange,
    symbol,
    ...extent(events),
    notes,
  };
  return { result, write: () => store.writeFunding(exchange, symbol, events) };
}

/** Stores a series. Returns its result. */
export async function storeReady({ result, write }: ReadySeries): Promise<Imported> {
  await write();
  return result;
}

function extent({ timestamp }: { readonly timestamp: Float64Array }) {
  return { rows: timestamp.length, first: isoTime(timestamp[0]!), last: isoTime(timestamp.at(-1)!) };
}
