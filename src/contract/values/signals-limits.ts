/** Bounds and names of given signals, without a schema library: clients, engine and tasks read them. */

/** Strategy that trades an uploaded file of signals. Other strategies cannot have the name. */
export const SIGNALS_STRATEGY = 'signals';

/** ID of an uploaded file: `sg-` and a ULID, or `K` and a digest of an Idempotency-Key. */
export const SIGNALS_ID = /^sg-[0-9A-Z]{26}$/;
export const SIGNALS_ID_PREFIX = 'sg-';

export const SIGNALS_FORMATS = ['csv', 'parquet'] as const;
export type SignalsFormat = (typeof SIGNALS_FORMATS)[number];

/** Content type of an upload in each format. */
export const SIGNALS_CONTENT_TYPES: Readonly<Record<SignalsFormat, string>> = {
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};

export const SIGNALS_LIMITS = {
  /** Size of a file: 32 MiB. */
  bytes: { min: 1, max: 32 * 2 ** 20, integer: true },
  /** Rows of a file: two years of 1m candles of one pair have a million. */
  rows: 2_000_000,
  /** Different tags of a file: a signal stores the number of its tag in a byte. */
  tags: 255,
  /** Characters of a tag. */
  tag_length: 255,
  stake_ratio: { min: 0, aboveMin: true, max: 100 },
  /** Characters of the name of a file. */
  name: 200,
  /** Files of one owner. */
  perOwner: 500,
  /** Row numbers that a message names for each kind of problem. */
  reportedRows: 20,
} as const;

/** Columns that hold a signal, in the order of the documentation. At least one is needed. */
export const SIGNAL_FLAGS = ['enter_long', 'exit_long', 'enter_short', 'exit_short'] as const;
/** All columns of a file. */
export const SIGNALS_COLUMNS = [
  'timestamp',
  'pair',
  ...SIGNAL_FLAGS,
  'enter_tag',
  'exit_tag',
  'stake_ratio',
] as const;

/** A file that no backtest has used is deleted after so many days. */
export const UNUSED_SIGNALS_DAYS = 30;

/** Look-ahead check of a run with given signals: they were computed elsewhere, from candles that nobody can cut. */
export const SIGNALS_NOT_CHECKED = 'not_checked (signals were given)';
