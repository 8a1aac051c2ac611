import type { Calendar } from '#contract/values/calendars.ts';
import type { Candles } from '#engine/candles.ts';
import type { KeptImport, SeriesInfo, SeriesKey } from '../ports.ts';

/** Series as things: each change takes several writes, and after a crash the next change of the series finishes it. */
export interface SeriesKeeper {
  /** Exchanges with stored candles, ascending. Some may have none any more. */
  exchanges(): Promise<readonly string[]>;
  /**
   * Writes candles as the candle store does, and keeps what they replace until another import changes the series.
   * @param importId of the import, for all its candles
   * @param calendar of the market; absent: that of an earlier import stays
   */
  import(series: SeriesKey, candles: Candles, importId: string, calendar?: Calendar): Promise<SeriesInfo>;
  /**
   * Takes the last import of a series back. Candles that were collected since stay, except in gaps of the import in months that it
   * began. Undefined when no import is kept. Throws CorruptFileError, before anything changes, if what it replaced is corrupt.
   */
  undoImport(series: SeriesKey): Promise<UndoneImport | undefined>;
  /** Deletes the candles of a series, with what its last import replaced. False: it is not stored. */
  remove(series: SeriesKey): Promise<boolean>;
  /** Copies the candles of a series, or moves them. The copy keeps no import that could be undone. */
  copy(from: SeriesKey, to: SeriesKey, options: { readonly move: boolean }): Promise<CopyOutcome>;
  /** True when funding rates of the symbol are stored. */
  hasFunding(exchange: string, symbol: string): Promise<boolean>;
  removeFunding(exchange: string, symbol: string): Promise<void>;
  /** Adds the funding rates of one symbol to those of another. False: both have one of the same time with other values. */
  copyFunding(from: SymbolKey, to: SymbolKey): Promise<boolean>;
}

export type SymbolKey = Pick<SeriesKey, 'exchange' | 'symbol'>;

export interface UndoneImport {
  readonly import: KeptImport;
  /** Undefined when the series had no candles before. */
  readonly info: SeriesInfo | undefined;
}

/** `absent`: the series is not stored. `exists`: the target has candles. */
export type CopyOutcome = 'done' | 'absent' | 'exists';
