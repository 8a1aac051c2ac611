import * as z from 'zod';

/** What the Series table stores of one month's file: times are open times in ms; a count of 0 means that it is damaged. */
export const StoredSeriesMonth = z.object({
  month: z.string(),
  first: z.int(),
  last: z.int(),
  count: z.int(),
  gapCount: z.int(),
  gaps: z.array(z.tuple([z.int(), z.int()])),
});

/** What the Series table tells of a series; test/contract pins the hash of this shape. */
export const StoredSeries = z.object({
  schema_version: z.literal(1),
  exchange: z.string(),
  symbol: z.string(),
  timeframe: z.enum(['1m', '5m', '15m', '1h', '4h', '1d']),
  first: z.iso.datetime(),
  last: z.iso.datetime(),
  count: z.int(),
  gap_count: z.int(),
  gaps: z.array(z.object({ start: z.iso.datetime(), missing: z.int() })),
  complete_from: z.iso.datetime().optional(),
  damaged: z.array(z.string()).optional(),
  updated_at: z.iso.datetime(),
});
export type StoredSeries = z.infer<typeof StoredSeries>;
