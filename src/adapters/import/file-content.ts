import { checkSymbol, tradingModeOf } from '#domain/shared/validate.ts';
import { ALL_TIMEFRAMES, isTimeframe, type Timeframe } from '#engine/timeframe.ts';
import type { Layout, ReadOptions } from './file-rows.ts';
import type { Format } from './formats.ts';
import type { TableKind } from './read-table.ts';
import type { Market, SeriesNames } from './series-table.ts';

/** A series in a file, and how it is read. */
export interface Source {
  readonly symbol: string;
  /** Reader of the file. */
  readonly format: Format;
  /** Exchange from the names of the file's folders; undefined when they have none. */
  readonly exchange?: string;
  /** Columns of the file, time first. Default: those of Touchstone and freqtrade for this kind. */
  readonly layouts?: readonly Layout[];
  readonly options?: ReadOptions;
  /** Unix milliseconds of all rows, `to` exclusive, where the name states them. */
  readonly period?: { readonly from: number; readonly to: number };
  /** Rates and mark prices of one group and symbol belong together. Default: the folder of the file. */
  readonly group?: string;
}

/** A file that names its series in its rows: they are known when it has been read. */
export interface TableContent extends Market {
  readonly kind: 'table';
  readonly table: TableKind;
  readonly format: Format;
  /** Names of the series where the rows have none, as its name or folders write them. */
  readonly names: SeriesNames;
  /** Path of the file of the next day, which may hold the last trades of this one. */
  readonly next?: string;
  /** Its last candle may have been open when the file was written. */
  readonly mayEndOpen?: true;
  /** Symbol of its only series, where the name of the file states it. */
  readonly fixed?: string;
  readonly period?: Source['period'];
  /** Path of a file with the SHA-256 of this file. */
  readonly checksum?: string;
}

/** Content of a file as its recognizer found it, or the reason why it is not imported. */
export type FileContent =
  | (Source & { readonly kind: 'candles'; readonly timeframe: Timeframe })
  /** Funding rates only; another file of the group has the mark prices. */
  | (Source & { readonly kind: 'rates' })
  | (Source & { readonly kind: 'marks' })
  /** Funding events as Touchstone stores them: rates with mark prices. */
  | (Source & { readonly kind: 'events' })
  | TableContent
  /** Read with another file, such as a checksum. It has no result of its own. */
  | { readonly kind: 'companion' }
  | { readonly kind: 'other'; readonly reason: string };

export function other(reason: string): FileContent {
  return { kind: 'other', reason };
}

/** Candles of a timeframe, or the reason why the timeframe is not stored. */
export function candles(source: Source, timeframe: string): FileContent {
  if (!isTimeframe(timeframe))
    return other(`timeframe ${timeframe} is not one of ${ALL_TIMEFRAMES.join(', ')}`);
  return { kind: 'candles', timeframe, ...source };
}

export function isSymbol(text: string): boolean {
  try {
    checkSymbol(text, 'symbol', tradingModeOf(text));
    return true;
  } catch {
    return false;
  }
}

export function notASymbol(text: string): FileContent {
  return other(
    `${text} is not a valid symbol: expected BASE/QUOTE or BASE/QUOTE:SETTLE in capital letters and digits`,
  );
}
