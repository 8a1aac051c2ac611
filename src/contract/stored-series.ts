import * as z from 'zod';

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
});

/**
 * Months of a series in the Series table. `months` is stored as one string, since nested values determine the cost of
 * reading an item. At most 0.6 KB per month; test/contract pins the hash of this shape.
 */
export const StoredSeriesMonths = z.object({
  schema_version: z.literal(2),
  /** Grows with every write: each is conditional on the one before. */
  revision: z.int(),
  months: z.array(StoredSeriesMonth),
  complete_from: z.iso.datetime().optional(),
});
export type StoredSeriesMonths = z.infer<typeof StoredSeriesMonths>;

/**
 * A series in the Series table, one JSON text per timeframe in the item of its symbol: the freshness of a symbol is
 * one small item. At most 1.5 KB; test/contract pins the hash of this shape.
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
  updated_at: z.iso.datetime(),
});
export type StoredSeries = z.infer<typeof StoredSeries>;
