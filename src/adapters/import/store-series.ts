import { formatInteger } from '#contract/values/format-count.ts';
import { gapsBetween } from '#domain/data/gaps/explain-gaps.ts';
import type { Clock } from '#domain/ports.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { ALL_TIMEFRAMES, isOnGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { ImportStore } from './batched-writes.ts';
import { checkCandles } from './candles.ts';
import type { Source } from './file-content.ts';
import { BadFileError, type FileRows, isoTime } from './file-rows.ts';
import type { CheckedFunding } from './funding.ts';

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
  rows: FileRows,
  { store, exchange, clock, exportedAt = Number.NaN, skipInvalid = false }: CandleOptions,
): ReadySeries {
  const step = TIMEFRAME_MS[timeframe];
  const all = checkCandles(rows, { step, timeframe, now: clock.now(), skipInvalid });
  const last = all.candles.timestamp.at(-1)!;
  const wasOpen = last <= exportedAt && exportedAt < last + step;
  const candles = wasOpen ? sliceCandles(all.candles, 0, all.candles.timestamp.length - 1) : all.candles;
  if (candles.timestamp.length === 0) throw new BadFileError('holds no closed candle');
  const result: Imported = {
    outcome: 'imported',
    file: path,
    kind: 'candles',
    exchange,
    symbol,
    timeframe,
    ...extent(candles),
    missing: gapsBetween(candles.timestamp, step).reduce((sum, [, count]) => sum + count, 0),
    duplicates: all.duplicates,
    notes: [
      ...(notes ?? []),
      ...all.notes,
      ...(wasOpen ? ['the last candle was open when the file was written: left out'] : []),
      ...doubtsAbout(candles, timeframe, period),
    ],
  };
  return {
    result,
    write: async () => {
      await store.write({ exchange, symbol, timeframe }, candles);
    },
  };
}

/** Fewer candles may be on the grid of a longer timeframe by chance. */
const MIN_ON_GRID = 10;

/** Signs that the file is not what its name says. */
function doubtsAbout({ timestamp }: Candles, timeframe: Timeframe, period: Source['period']): string[] {
  const longer = ALL_TIMEFRAMES.findLast((each) => {
    const step = TIMEFRAME_MS[each];
    return step > TIMEFRAME_MS[timeframe] && timestamp.every((time) => isOnGrid(time, step));
  });
  const outside = period && timestamp.filter((time) => time < period.from || time >= period.to).length;
  return [
    ...(longer && timestamp.length >= MIN_ON_GRID
      ? [`every candle is on the ${longer} grid: check that the file does not hold ${longer}`]
      : []),
    ...(outside ? [`candles outside the dates in the name: ${formatInteger(outside)}`] : []),
  ];
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
