export const MAX_SYMBOL_LENGTH = 50;

/** `sim`, or the key of an exchange in ccxt. */
export const EXCHANGE_KEY = /^[a-z0-9]{1,40}$/;

export const COLLECTION_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

export const COLLECTION_LIMITS = {
  symbols: { min: 1, max: 200 },
  /** Maximum of waiting and running collections. They run one at a time, because exchanges count requests per address. */
  unfinished: 20,
  /** Collections read for a page that is filtered by status. */
  read: 500,
} as const;

/**
 * Maximum stored gaps of a month and of a series; the longest are kept. Of a month all are kept up to `whole`: a market that closes
 * twice a day has 45. A gap takes 20 bytes: thirty years of such months take 325 KB. The limit of an item is 400 KB.
 */
export const GAP_LIMITS = { month: 20, whole: 45, series: 40 } as const;

/** Exchanges that serve only the newest candles of a timeframe, whatever start is asked for, and how many. */
export const SERVES_NEWEST_ONLY: ReadonlyMap<string, number> = new Map([['kraken', 720]]);

/** Exchanges that serve a flat candle for a time without trades: a candle that is missing there is lost. */
export const SERVES_CANDLES_WITHOUT_TRADES: readonly string[] = [
  'binance',
  'binanceusdm',
  'binancecoinm',
  'bitget',
  'bybit',
  'gate',
  'okx',
];

export const OHLCV_LIMITS = { limit: { min: 1, max: 10_000, integer: true } } as const;
export const OHLCV_DEFAULTS = { limit: 1000 } as const;
/** Stored candles read for a page of computed ones: 25 MB in memory. */
export const MAX_CANDLES_READ = 500_000;

/** Symbols of a page of coverage. */
export const COVERAGE_LIMITS = { min: 1, max: 200, default: 50 } as const;
/** Months of a page of coverage: 2 MB of JSON. A function behind API Gateway responds with up to 6 MB. */
export const MAX_COVERAGE_MONTHS = 20_000;

/** Days of a page of a series' condition: a year of 1m is 527,040 candles, 25 MB in memory. */
export const SERIES_LIMITS = { days: { min: 1, max: 366, default: 92 } } as const;
