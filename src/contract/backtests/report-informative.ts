import * as z from 'zod';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });
const digest = z.string().meta({ description: 'sha-256, hex' });

/** A series that the signals of a run read in addition to the candles that it traded. */
export const ReportInformative = z
  .object({
    pair: z.string(),
    timeframe: z.enum(ALL_TIMEFRAMES),
    origin: z.enum(['stored', 'computed']).meta({
      description: '`computed`: from stored candles of `source_timeframe`',
    }),
    source_timeframe: z.enum(ALL_TIMEFRAMES),
    candles: z.int().meta({ description: 'Candles read, filled ones included' }),
    filled_candles: z.int(),
    first: timestamp.nullable().meta({ description: 'null: no candle' }),
    last: timestamp.nullable(),
    read_by: z.array(z.string()).meta({ description: 'Traded pairs whose signals read the series' }),
    digest: digest.meta({ description: 'Over the candles read; sha-256, hex' }),
  })
  .meta({ id: 'ReportInformative' });
export type ReportInformative = z.infer<typeof ReportInformative>;
