/** Pages of the columns of a backtest. */
export const COLUMNS_LIMITS = {
  /** Rows of a page. */
  rows: { min: 1, max: 5_000 },
  /** Values of a page, and of a Parquet file: a response of JSON stays below 5 MB, the file below 100 MB. */
  page_values: 200_000,
  file_values: 10_000_000,
  /** Columns that a request may name, and characters of a name. */
  names: 500,
  name_length: 300,
  /** Time for which computed columns are kept, minutes. */
  kept_minutes: 60,
} as const;

/** Columns of the candles, which keep their names: an indicator of the same name begins with {@link INDICATOR_PREFIX}. */
export const CANDLE_NAMES = ['open', 'high', 'low', 'close', 'volume'] as const;

/** Signals of the strategy, each with its name among the columns. */
export const SIGNAL_NAMES = {
  enterLong: 'signal:enter_long',
  exitLong: 'signal:exit_long',
  enterShort: 'signal:enter_short',
  exitShort: 'signal:exit_short',
  enterTag: 'signal:enter_tag',
  exitTag: 'signal:exit_tag',
} as const;

/** Begins the name of an indicator whose own name is that of another column. */
export const INDICATOR_PREFIX = 'columns:';
