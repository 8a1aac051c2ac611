import * as z from 'zod';
import { CALENDAR_NAMES } from '../values/calendars.ts';
import { COLLECTION_STATUSES } from '../values/market-data-limits.ts';
import { TIMEFRAMES } from '../values/timeframes.ts';

/** Stored forms of market data: series, instruments and collections. test/contract pins the hash of each shape. */

export type CollectionStatus = (typeof COLLECTION_STATUSES)[number];

export const StoredCollection = z.object({
  schema_version: z.literal(2),
  /** Grows with every write: each is conditional on the one before. */
  revision: z.int(),
  /** sha-256 of the request's body: an Idempotency-Key belongs to one. */
  request_digest: z.string(),
  collection_id: z.string(),
  status: z.enum(COLLECTION_STATUSES),
  exchange: z.string(),
  symbols: z.array(z.string()),
  timeframe: z.enum(TIMEFRAMES),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  progress: z.number(),
  candles: z.int(),
  error: z.string().nullable(),
  /** Attempts since the last progress. */
  attempts: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type StoredCollection = z.infer<typeof StoredCollection>;

/** Unfinished collections, and the process that runs them. */
export const CollectionQueue = z.object({
  schema_version: z.literal(2),
  revision: z.int(),
  /** In the order in which they are run. */
  ids: z.array(z.string()),
  /** The process that works on the first, as long as it renews its lease; null when none does. */
  lease_owner: z.string().nullable(),
  /** Unix milliseconds. */
  lease_expires_at: z.int(),
});
export type CollectionQueue = z.infer<typeof CollectionQueue>;

/** A gap: [open time of the first missing candle in ms, candles missing]. */
const Gap = z.tuple([z.int(), z.int()]);

/** Content of one month's file. Times are open times in ms; a count of 0 means a corrupt file. */
const StoredSeriesMonth = z.object({
  month: z.string(),
  first: z.int(),
  last: z.int(),
  count: z.int(),
  gap_count: z.int(),
  gaps: z.array(Gap),
  longest_omitted_gap: z.int(),
  gaps_refetched_at: z.int().optional(),
  /**
   * Days of the month by their last change: [first day, last day, time of the change in ms, 1 if stored candles were replaced at any
   * time, else 0]. Ascending; days of earlier releases are in none.
   */
  changes: z.array(z.tuple([z.int(), z.int(), z.int(), z.int()])).optional(),
});

/** What an import states of a series. */
const SeriesOrigin = z.object({
  /** Files hold candles of it. */
  imported: z.literal(true).optional(),
  calendar: z.enum(CALENDAR_NAMES).optional(),
});

/** The last import that changed a series: what is needed to undo it, together with the candles that it replaced. */
const KeptImport = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  /** Months that had no file before, with the open times of the first and last imported candle, ms. */
  created: z.array(z.object({ month: z.string(), first: z.int(), last: z.int() })),
  /** What was stated of the series before it; absent in records of earlier releases. */
  before: SeriesOrigin.optional(),
});

/**
 * Months of a series in the Series table. `months` and `kept_import` are strings, since nested values determine the cost of
 * reading an item. At most 1.2 KB per month. A deleted series keeps its item, without months.
 */
export const StoredSeriesMonths = z.object({
  schema_version: z.literal(2),
  /** Grows with every write: each is conditional on the one before. */
  revision: z.int(),
  months: z.array(StoredSeriesMonth),
  complete_from: z.iso.datetime().optional(),
  /** Grows with each change that removes candles. A write that began before such a change begins again. */
  generation: z.int().optional(),
  /** Change of several files that has begun: the next write or change of the series finishes it, and undoes a copy. */
  pending: z.enum(['delete', 'copy', 'undo']).optional(),
  kept_import: KeptImport.optional(),
  ...SeriesOrigin.shape,
});
export type StoredSeriesMonths = z.infer<typeof StoredSeriesMonths>;

/**
 * A series in the Series table, one JSON string per timeframe in the item of its symbol: the freshness of a symbol
 * is one small item. At most 1.5 KB.
 */
export const StoredSeries = z.object({
  schema_version: z.literal(3),
  first: z.iso.datetime(),
  last: z.iso.datetime(),
  count: z.int(),
  gap_count: z.int(),
  gaps: z.array(Gap),
  longest_omitted_gap: z.int(),
  complete_from: z.iso.datetime().optional(),
  corrupt: z.array(z.string()).optional(),
  ...SeriesOrigin.shape,
  /** Times of the week at which its market is closed: [first minute of the week, minutes], from Monday, 00:00. */
  sessions: z
    .object({ clock: z.enum(['utc', 'us', 'eu']), closed: z.array(z.tuple([z.int(), z.int()])) })
    .optional(),
  missing: z.object({ closed: z.int(), no_trades: z.int(), damage: z.int() }).optional(),
  updated_at: z.iso.datetime(),
});
export type StoredSeries = z.infer<typeof StoredSeries>;

const positive = (description: string) => z.number().positive().meta({ description });
const known = (description: string) =>
  positive(description)
    .nullable()
    .meta({ description: `${description}; null where the exchange names none` });

/** Order limits and price steps of a symbol on an exchange. */
export const InstrumentRecord = z.object({
  amount_step: known('Amounts are integer multiples of it, contracts'),
  min_amount: known('Minimum amount of an order, contracts'),
  max_amount: known('Maximum amount of an order, contracts'),
  min_cost: known('Minimum of amount times price of an order, contracts times quote currency'),
  max_cost: known('Maximum of amount times price of an order, contracts times quote currency'),
  contract_size: positive('Base currency of one contract; 1 where amounts are in base currency'),
  price_tick: known('Prices are integer multiples of it, quote currency'),
  collected_at: z.iso.datetime().meta({ description: 'Time of the request to the exchange, ISO 8601, UTC' }),
  leverage_tiers: z
    .object({
      source: z.enum(['exchange', 'import']),
      at: z.iso.datetime().meta({ description: 'Time of the request or the import, ISO 8601, UTC' }),
      tiers: z.array(
        z.object({
          min_notional: z
            .number()
            .meta({ description: 'Value of a position from which it applies, quote currency' }),
          max_notional: z.number(),
          max_leverage: z.number(),
          maintenance_rate: z.number().meta({ description: 'Maintenance margin as a ratio of the value' }),
          maintenance_amount: z
            .number()
            .meta({ description: 'Taken off the maintenance margin, quote currency' }),
        }),
      ),
    })
    .optional()
    .meta({
      description: 'Ranges of the value of a position with their margin; absent where they are not known',
    }),
});
export type InstrumentRecord = z.infer<typeof InstrumentRecord>;

/** Instrument of a symbol in the Series table, as one JSON string. */
export const StoredInstrument = InstrumentRecord.extend({ schema_version: z.literal(1) });
export type StoredInstrument = z.infer<typeof StoredInstrument>;
