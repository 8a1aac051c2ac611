import { formatInteger } from '#contract/values/format-count.ts';
import type { TradingMode } from '#contract/values/trading-modes.ts';
import {
  BadFileError,
  ColumnBuilder,
  type FileRows,
  MAX_ROWS,
  type Spill,
  type SpilledRows,
} from './file-rows.ts';

/** One series of a file that names its series in its rows, its name or its folders. Names are as the file writes them. */
export interface FileSeries extends SeriesNames {
  /** `candles`: `timestamp, open, high, low, close, volume`. `funding`: `timestamp, rate, mark_price`. */
  readonly kind: 'candles' | 'funding';
  readonly rows: SpilledRows;
  /** Corrections and omissions, one sentence each, for the user. */
  readonly notes: readonly string[];
}

export interface SeriesNames {
  /** null: neither the rows nor the name of the file have one. */
  readonly symbol: string | null;
  readonly exchange: string | null;
  readonly timeframe: string | null;
}

/** Market of a file: its exchange as a key of ccxt, and the trading mode if the file states it. */
export interface Market {
  readonly exchange?: string;
  readonly mode?: TradingMode;
}

/** Series per file. More are a column of values taken for a column of symbols, which must not fill the memory. */
const MAX_SERIES = 65_536;
/** Rows of a new series: a file may have many short ones. */
const FIRST_ROWS = 16;

interface OpenSeries {
  readonly names: SeriesNames;
  readonly builder: ColumnBuilder;
  readonly notes: string[];
}

/** Rows of a file by series, with the line or row number of each. */
export class SeriesTable {
  readonly #width: number;
  readonly #word: FileRows['first']['word'];
  readonly #series = new Map<string, OpenSeries>();
  readonly #spill: Spill | undefined;
  /** A row with its line or row number. */
  readonly #values: Float64Array;
  #last: OpenSeries | undefined;
  #rows = 0;

  constructor(width: number, word: FileRows['first']['word'], spill?: Spill) {
    this.#width = width;
    this.#word = word;
    this.#spill = spill;
    this.#values = new Float64Array(width + 1);
  }

  get rows(): number {
    return this.#rows;
  }

  /** @throws BadFileError beyond the limits on rows and series */
  add(names: SeriesNames, values: ArrayLike<number>, position: number): void {
    if (++this.#rows > MAX_ROWS) {
      throw new BadFileError(
        `holds more than ${formatInteger(MAX_ROWS)} rows: split it by symbol or by time`,
      );
    }
    this.#values.set(values);
    this.#values[this.#width] = position;
    this.#of(names).builder.addRow(this.#values);
  }

  /** Adds a sentence for the user to a series. */
  note(names: SeriesNames, sentence: string): void {
    this.#of(names).notes.push(sentence);
  }

  /** @throws BadFileError for a file without rows */
  finish(kind: FileSeries['kind']): FileSeries[] {
    if (this.#series.size === 0) throw new BadFileError('holds no rows');
    return [...this.#series.values()].map(({ names, builder, notes }) => {
      const columns = builder.finish();
      const numbers = columns.pop()!;
      const first = { word: this.#word, number: 1 } as const;
      return { kind, ...names, rows: { columns, first, numbers, spilled: builder.spilled }, notes };
    });
  }

  #of(names: SeriesNames): OpenSeries {
    // Rows of one series usually follow each other.
    if (this.#last && sameNames(this.#last.names, names)) return this.#last;
    const key = `${names.exchange}\0${names.symbol}\0${names.timeframe}`;
    const known = this.#series.get(key);
    if (known) {
      this.#last = known;
      return known;
    }
    if (this.#series.size === MAX_SERIES) {
      throw new BadFileError(`holds more than ${formatInteger(MAX_SERIES)} series`);
    }
    const series = { names, builder: new ColumnBuilder(this.#width + 1, FIRST_ROWS, this.#spill), notes: [] };
    this.#series.set(key, series);
    this.#last = series;
    return series;
  }
}

function sameNames(a: SeriesNames, b: SeriesNames): boolean {
  return a.symbol === b.symbol && a.timeframe === b.timeframe && a.exchange === b.exchange;
}
