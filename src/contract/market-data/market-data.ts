import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { paginated } from '../common/page.ts';
import { integerParameter, listParameter, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { BACKTEST_DEFAULTS } from '../values/backtest-limits.ts';
import { formatInteger } from '../values/format-count.ts';
import {
  COLLECTION_LIMITS,
  COLLECTION_STATUSES,
  EXCHANGE_KEY,
  GAP_LIMITS,
  MAX_CANDLES_READ,
  MAX_SYMBOL_LENGTH,
  OHLCV_DEFAULTS,
  OHLCV_LIMITS,
} from '../values/market-data-limits.ts';
import { TIMEFRAMES } from '../values/timeframes.ts';
import { SYMBOL, TRADING_MODES } from '../values/trading-modes.ts';
import { InstrumentRecord } from './stored-market-data.ts';

/** Resources and requests of the data collection service. */

const Candle = z
  .object({
    timestamp: Timestamp.meta({ description: 'Open time, ISO 8601, UTC' }),
    open: z.number(),
    high: z.number(),
    low: z.number(),
    close: z.number(),
    volume: z.number().meta({ description: 'Base currency' }),
  })
  .meta({ id: 'Candle' });

/** Candles that are not stored, by the reason. */
export const MissingCandles = z
  .object({
    closed: z.int().meta({ description: 'The market was closed: by its week, for a holiday, or early' }),
    no_trades: z.int().meta({ description: 'Nothing was traded: read as flat candles with volume 0' }),
    damage: z.int().meta({ description: 'All others. Only these count against `max_missing` of a run' }),
  })
  .meta({ id: 'MissingCandles', description: 'Candles that are not stored, by the reason' });

export const Ohlcv = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    timeframe: z.string(),
    data: z.array(Candle).meta({ description: 'Closed candles, ascending by time' }),
    count: z.int(),
  })
  .meta({ id: 'Ohlcv' });
export type Ohlcv = z.output<typeof Ohlcv>;

const column = (description: string) => z.array(z.number()).meta({ description });

export const CandleColumns = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    timeframe: z.string(),
    source_timeframe: z.string().meta({
      description: 'Timeframe of the stored candles; shorter than `timeframe` when the candles were computed',
    }),
    count: z.int().meta({ description: 'Candles: the length of each column' }),
    times: z.array(z.int()).meta({ description: 'Open times, Unix seconds, ascending' }),
    open: column('First price of each candle'),
    high: column('Highest prices'),
    low: column('Lowest prices'),
    close: column('Last price of each candle'),
    volume: column('Traded amounts, base currency'),
    next_from: Timestamp.nullable().meta({
      description: 'Send it as `from` for the following page; null at the end, and without `from`',
    }),
    next_to: Timestamp.nullable().meta({
      description: 'Send it as `to` for the preceding page; null at the beginning, and with `from`',
    }),
    incomplete_from: Timestamp.nullable().meta({
      description:
        'Open time of a computed candle at the end of the range that is left out, because not all of its time is stored; null when none is',
    }),
  })
  .meta({ id: 'CandleColumns', description: 'Closed candles as columns of equal length' });
export type CandleColumns = z.output<typeof CandleColumns>;

export const Symbols = z
  .object({ exchange: z.string(), symbols: z.array(z.string()), count: z.int() })
  .meta({ id: 'Symbols', description: 'Symbols with stored candles' });
export type Symbols = z.output<typeof Symbols>;

const Series = z
  .object({
    symbol: z.string(),
    timeframe: z.string(),
    first: Timestamp.meta({ description: 'Open time of the first candle' }),
    last: Timestamp.meta({ description: 'Open time of the last closed candle' }),
    count: z.int(),
    gap_count: z.int().meta({ description: 'Number of gaps between the first and the last candle' }),
    gaps: z
      .array(
        z.object({
          start: Timestamp.meta({ description: 'Open time of the first missing candle' }),
          missing: z.int().meta({ description: 'Candles missing' }),
        }),
      )
      .meta({
        description: `The longest gaps, by time: at most ${GAP_LIMITS.month} of a month, at most ${GAP_LIMITS.series} in all`,
      }),
    complete_from: Timestamp.nullable().meta({
      description: 'The exchange has no candles between this time and `first`; null when unknown',
    }),
    corrupt: z.array(z.string()).meta({
      description: 'Months (`YYYY-MM`) with a corrupt file, to be collected again',
    }),
    updated_at: Timestamp,
  })
  .meta({ id: 'Series' });

export const DataStatus = z
  .object({
    exchange: z.string(),
    series: z.array(Series),
    count: z.int().meta({ description: 'Series' }),
    candles: z.int().meta({ description: 'Candles of all series together' }),
    newest: Timestamp.nullable().meta({
      description: 'Open time of the newest candle; null when none is stored',
    }),
  })
  .meta({ id: 'DataStatus', description: 'Stored candle series of an exchange' });
export type DataStatus = z.output<typeof DataStatus>;

export const Freshness = z
  .object({
    all_fresh: z.boolean().meta({ description: 'True when no symbol is stale' }),
    stale_symbols: z.array(z.string()),
    missing_candles: z.int().optional().meta({
      description:
        'Candles in the range that are not stored, of all symbols and timeframes, without those of closed times; absent without timeframe, start and end',
    }),
    missing: MissingCandles.optional().meta({
      description:
        'The same by the reason; those before the first and after the last stored candle are damage',
    }),
    exchange: z.string(),
    stale_threshold_hours: z.int(),
    symbols: z.array(
      z.object({
        symbol: z.string(),
        timeframe: z
          .string()
          .nullable()
          .meta({ description: 'The series examined; null when none is stored' }),
        first: Timestamp.nullable(),
        last: Timestamp.nullable(),
        age_hours: z
          .number()
          .nullable()
          .meta({ description: 'Hours since the last closed candle ended; null when none is stored' }),
        fresh: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Freshness' });
export type Freshness = z.output<typeof Freshness>;

export const CollectionRequest = z
  .looseObject({
    symbols: z.array(z.string().meta({ pattern: SYMBOL.source, maxLength: MAX_SYMBOL_LENGTH })).meta({
      description: '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`',
      minItems: COLLECTION_LIMITS.symbols.min,
      maxItems: COLLECTION_LIMITS.symbols.max,
    }),
    timeframe: z.string().meta({ enum: [...TIMEFRAMES] }),
    start: Timestamp.optional().meta({
      description: `First candle, not in the future. Default: ${BACKTEST_DEFAULTS.date_range_days} days before \`end\` or now, whichever is earlier`,
    }),
    end: Timestamp.optional().meta({ description: 'Exclusive. Default: now' }),
    exchange: z.string().optional().meta({
      description:
        '`sim`, or the ccxt key of an exchange with perpetual futures (with spot in that trading mode). Default: the configured exchange',
      pattern: EXCHANGE_KEY.source,
    }),
    trading_mode: z
      .string()
      .optional()
      .meta({
        description: '`spot`: symbols are `BASE/QUOTE` and have no funding rates',
        enum: [...TRADING_MODES],
        default: BACKTEST_DEFAULTS.trading_mode,
      }),
  })
  .meta({
    id: 'CollectionRequest',
    examples: [{ symbols: ['BASE/QUOTE:SETTLE'], timeframe: '5m' }],
  });
export type CollectionRequest = Immutable<z.output<typeof CollectionRequest>>;

const CollectionStatus = z.enum(COLLECTION_STATUSES);

export const Collection = z
  .object({
    collection_id: z.string(),
    status: CollectionStatus,
    exchange: z.string(),
    symbols: z.array(z.string()),
    timeframe: z.string(),
    start: Timestamp,
    end: Timestamp,
    progress: z.number().meta({ description: 'Completed share, 0 to 1' }),
    candles: z.int().meta({
      description: 'New candles stored so far; those of a crashed process may be missing from the count',
    }),
    error: z.string().nullable().meta({
      description:
        'Failed symbols and reasons; for a pending collection the reason of the delay, for a completed one what was left out or moved to the grid',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Collection' });
export type Collection = z.output<typeof Collection>;

export const CollectionList = paginated(Collection).meta({ id: 'CollectionList' });

export const CollectionsQuery = z.object({
  status: CollectionStatus.optional().meta({ description: 'Only collections in this status' }),
  ...PAGE_FIELDS,
});

const exchange = z
  .string()
  .regex(EXCHANGE_KEY)
  .meta({ description: 'Exchange key. Default: the configured exchange' })
  .optional();
export const TradingModeParameter = z.enum(TRADING_MODES).optional().meta({
  description: '`spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`',
  default: BACKTEST_DEFAULTS.trading_mode,
});
const start = stringParameter(40, 'ISO 8601; without an offset it is UTC').optional();
const end = stringParameter(40, 'ISO 8601, exclusive; without an offset it is UTC').optional();

export const OhlcvQuery = z.object({
  symbol: stringParameter(MAX_SYMBOL_LENGTH, '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`'),
  trading_mode: TradingModeParameter,
  timeframe: stringParameter(10, `One of ${TIMEFRAMES.join(', ')}`),
  limit: integerParameter({
    ...OHLCV_LIMITS.limit,
    description: 'Maximum number of candles: the newest of the range without `start`, else the first',
  }).default(OHLCV_DEFAULTS.limit),
  start,
  end,
  exchange,
});

export type OhlcvQuery = z.output<typeof OhlcvQuery>;

export const CandlesQuery = OhlcvQuery.omit({ start: true, end: true }).extend({
  from: stringParameter(
    40,
    'Open time of the first candle, ISO 8601; without an offset it is UTC',
  ).optional(),
  to: stringParameter(40, 'Open times before it, ISO 8601; without an offset it is UTC').optional(),
  limit: integerParameter({
    ...OHLCV_LIMITS.limit,
    description: `Maximum number of candles: the newest of the range without \`from\`, else the first. A page of computed candles reads up to ${formatInteger(MAX_CANDLES_READ)} stored ones and may be shorter`,
  }).default(OHLCV_DEFAULTS.limit),
});
export type CandlesQuery = z.output<typeof CandlesQuery>;

export const ExchangeQuery = z.object({ exchange });
export type ExchangeQuery = z.output<typeof ExchangeQuery>;

export const FreshnessQuery = z.object({
  symbols: listParameter({
    maxItems: 1000,
    maxLength: MAX_SYMBOL_LENGTH,
    description:
      '`BASE/QUOTE:SETTLE`, repeated or separated by commas; `BASE/QUOTE` with trading_mode `spot`',
  }),
  trading_mode: TradingModeParameter,
  timeframe: stringParameter(
    30,
    'One or more, comma separated: each must be fresh. Default: the newest stored series of each symbol',
  ).optional(),
  stale_threshold_hours: integerParameter({
    min: 1,
    max: 87_600,
    description: 'Age from which a symbol is stale, hours',
  }).default(24),
  start,
  end,
  exchange,
});

export type FreshnessQuery = Immutable<z.output<typeof FreshnessQuery>>;

/** Query of the backend: fewer symbols per request; a malformed symbol is VAL002. */
export const DataFreshnessQuery = FreshnessQuery.pick({
  stale_threshold_hours: true,
  timeframe: true,
  exchange: true,
  trading_mode: true,
}).extend({
  symbols: listParameter({
    maxItems: 500,
    description:
      '`BASE/QUOTE:SETTLE`, repeated or separated by commas; `BASE/QUOTE` with trading_mode `spot`. With commas and unescaped `/` and `:`, 500 symbols fit the 10 KB limit of the gateway',
  }),
});
export type DataFreshnessQuery = Immutable<z.output<typeof DataFreshnessQuery>>;

export const CollectionParams = z.object({
  collection_id: z
    .string()
    .regex(/^co-[A-Za-z0-9]{1,64}$/)
    .meta({ description: 'Shape `co-<id>`' }),
});

export const Instruments = z
  .object({
    exchange: z.string(),
    instruments: z.array(
      InstrumentRecord.extend({ symbol: z.string() }).meta({
        id: 'Instrument',
        description: 'Rules of one market',
      }),
    ),
    count: z.int(),
  })
  .meta({ id: 'Instruments', description: 'Instruments collected from an exchange' });
export type Instruments = z.output<typeof Instruments>;

export const InstrumentsQuery = ExchangeQuery.extend({
  at: stringParameter(
    40,
    'Rules that were valid at this time, ISO 8601; symbols whose rules were collected later are left out. Default: the current ones',
  ).optional(),
});
export type InstrumentsQuery = z.output<typeof InstrumentsQuery>;

export const InstrumentHistory = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    items: z
      .array(
        InstrumentRecord.extend({
          valid_from: Timestamp.meta({ description: 'Time at which these rules were collected first' }),
        }).meta({ id: 'DatedInstrument', description: 'Rules of one market, valid until the next ones' }),
      )
      .meta({ description: 'Ascending by time' }),
  })
  .meta({ id: 'InstrumentHistory' });
export type InstrumentHistory = z.output<typeof InstrumentHistory>;

export const InstrumentHistoryQuery = ExchangeQuery.extend({
  symbol: stringParameter(MAX_SYMBOL_LENGTH, '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot'),
});
export type InstrumentHistoryQuery = z.output<typeof InstrumentHistoryQuery>;
