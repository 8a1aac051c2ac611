import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { integerParameter, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { CALENDAR_NAMES } from '../values/calendars.ts';
import { COVERAGE_LIMITS, MAX_SYMBOL_LENGTH } from '../values/market-data-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { ExchangeQuery, MissingCandles, TradingModeParameter } from './market-data.ts';

/** Coverage of the stored series by month, on the data collection service. */

const CoverageMonth = z
  .object({
    month: z.string().meta({ description: '`YYYY-MM`, UTC' }),
    candles: z.int().meta({ description: 'Stored candles; 0 when the file is corrupt' }),
    expected: z.int().meta({
      description:
        'Candles that the month has, up to now; without those of closed times, and those before the exchange listed the symbol, as far as that is known',
    }),
    gap_count: z.int().meta({
      description: 'Gaps between the first and the last candle of the series that touch the month',
    }),
    missing: MissingCandles.meta({
      description:
        'Candles of the month between the first and the last one of the series that are not stored',
    }),
    corrupt: z.boolean().meta({ description: 'The file of the month is corrupt and is collected again' }),
  })
  .meta({ id: 'CoverageMonth' });
export type CoverageMonth = z.output<typeof CoverageMonth>;

const MarketSessions = z
  .object({
    clock: z.enum(['utc', 'us', 'eu']).meta({
      description: 'UTC, or UTC with an hour added in the summer of the United States or of Europe',
    }),
    closed: z.array(z.tuple([z.int(), z.int()])).meta({
      description: '`[first minute of the week, minutes]`, from Monday, 00:00 by the clock',
    }),
  })
  .meta({
    id: 'MarketSessions',
    description: 'Times of the week at which the market is closed, by its calendar or its candles',
  });

const CoverageSeries = z
  .object({
    symbol: z.string(),
    timeframe: z.string(),
    first: Timestamp.meta({ description: 'Open time of the first candle' }),
    last: Timestamp.meta({ description: 'Open time of the last closed candle' }),
    count: z.int().meta({ description: 'Stored candles' }),
    gap_count: z.int().meta({ description: 'Number of gaps between the first and the last candle' }),
    missing_candles: z.int().meta({
      description:
        'Candles between the first and the last one that are not stored, without those of closed times',
    }),
    missing: MissingCandles,
    imported: z.boolean().meta({ description: 'Files hold candles of the series' }),
    calendar: z.enum(CALENDAR_NAMES).nullable().meta({ description: 'Calendar that an import named' }),
    sessions: MarketSessions.nullable(),
    complete_from: Timestamp.nullable().meta({
      description: 'The exchange has no candles between this time and `first`; null when unknown',
    }),
    updated_at: Timestamp,
    months: z.array(CoverageMonth).meta({
      description:
        'Every month from that of `first` to that of `last`, ascending; also those without a candle',
    }),
  })
  .meta({ id: 'CoverageSeries' });
export type CoverageSeries = z.output<typeof CoverageSeries>;

export const Coverage = z
  .object({ exchange: z.string(), ...paginated(CoverageSeries).shape })
  .meta({ id: 'Coverage', description: 'Stored series of an exchange by month, ascending by symbol' });
export type Coverage = z.output<typeof Coverage>;

export const CoverageQuery = z.object({
  ...ExchangeQuery.shape,
  symbol: stringParameter(
    MAX_SYMBOL_LENGTH,
    '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`. Default: all stored ones of both',
  ).optional(),
  trading_mode: TradingModeParameter,
  timeframe: stringParameter(10, `One of ${ALL_TIMEFRAMES.join(', ')}. Default: all stored ones`).optional(),
  limit: integerParameter({ ...COVERAGE_LIMITS, description: 'Maximum number of symbols on a page' }).default(
    COVERAGE_LIMITS.default,
  ),
  cursor: PAGE_FIELDS.cursor,
});
export type CoverageQuery = z.output<typeof CoverageQuery>;
