import * as z from 'zod';
import { integerParameter, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { CALENDAR_NAMES } from '../values/calendars.ts';
import { EXCHANGE_KEY, MAX_SYMBOL_LENGTH, SERIES_LIMITS } from '../values/market-data-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { SYMBOL } from '../values/trading-modes.ts';
import { ExchangeQuery, MissingCandles } from './market-data.ts';

/** Stored series as things: listed, shown, deleted, renamed, copied, and an import taken back. */

const StoredSeriesItem = z
  .object({
    exchange: z.string(),
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
    updated_at: Timestamp.meta({ description: 'Time of the last change' }),
  })
  .meta({ id: 'StoredSeriesItem' });

export const SeriesList = z
  .object({
    items: z.array(StoredSeriesItem).meta({ description: 'Ascending by exchange, symbol and timeframe' }),
    count: z.int(),
  })
  .meta({ id: 'SeriesList' });
export type SeriesList = z.output<typeof SeriesList>;

export const SeriesListQuery = z.object({
  exchange: ExchangeQuery.shape.exchange.meta({
    description: 'Only series of this exchange. Default: of all with stored candles',
  }),
});

const SeriesUse = z
  .object({
    kind: z.enum(['backtest', 'hyperopt', 'version', 'collection']),
    id: z.string().nullable().meta({
      description: 'ID of the job or collection, or `model/version`; null when it belongs to another user',
    }),
    status: z.string().meta({ description: 'Status of the job or collection, or stage of the version' }),
  })
  .meta({ id: 'SeriesUse', description: 'Something that reads the candles of a symbol, or collects them' });
export type SeriesUse = z.output<typeof SeriesUse>;

const KeptImport = z
  .object({ id: z.string(), at: Timestamp })
  .meta({ id: 'KeptImport', description: 'The last import that changed the series: it can be undone' });

export const SeriesDetails = StoredSeriesItem.extend({
  kept_import: KeptImport.nullable(),
  funding: z.boolean().meta({ description: 'True when funding rates of the symbol are stored' }),
  used_by: z.array(SeriesUse).meta({
    description:
      'Pending and running jobs, unfinished collections, and versions in Staging and Production, of the symbol on the exchange, of any timeframe',
  }),
}).meta({ id: 'SeriesDetails' });
export type SeriesDetails = z.output<typeof SeriesDetails>;

export const SeriesQuery = z.object({
  symbol: stringParameter(MAX_SYMBOL_LENGTH, '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot'),
  timeframe: stringParameter(10, `One of ${ALL_TIMEFRAMES.join(', ')}`),
  exchange: ExchangeQuery.shape.exchange,
});
export type SeriesQuery = z.output<typeof SeriesQuery>;

const CONDITIONS = ['complete', 'gap', 'closed', 'revised'] as const;

const DayCondition = z
  .object({
    date: z.string().meta({ description: '`YYYY-MM-DD`, UTC' }),
    condition: z.enum(CONDITIONS).meta({
      description:
        '`complete`: no candle is missing. `revised`: none is missing, and stored candles were replaced with other values. `closed`: the market was closed all day. `gap`: candles are missing, or the file is corrupt',
    }),
    candles: z.int().meta({ description: 'Stored candles that open on the day' }),
    expected: z.int().meta({ description: 'Candles that the day has, up to now' }),
    revised: z
      .boolean()
      .meta({ description: 'True when stored candles were replaced, also on a day with gaps' }),
    changed_at: Timestamp.nullable().meta({
      description: 'Time of the last change; null for changes before this was recorded',
    }),
  })
  .meta({ id: 'DayCondition' });
export type DayCondition = z.output<typeof DayCondition>;

export const SeriesCondition = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    timeframe: z.string(),
    items: z.array(DayCondition).meta({ description: 'Ascending, without days on which no candle opens' }),
    next_from: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `from` for the following page; null at the end' }),
  })
  .meta({ id: 'SeriesCondition', description: 'Condition of a series by day' });
export type SeriesCondition = z.output<typeof SeriesCondition>;

export const ConditionQuery = SeriesQuery.extend({
  from: stringParameter(40, 'First day, ISO 8601, UTC. Default: the first of the series').optional(),
  to: stringParameter(40, 'Days before it, ISO 8601, UTC. Default: the end of the series').optional(),
  limit: integerParameter({ ...SERIES_LIMITS.days, description: 'Maximum number of days' }).default(
    SERIES_LIMITS.days.default,
  ),
});
export type ConditionQuery = z.output<typeof ConditionQuery>;

const exchangeField = (description: string) =>
  z.string().optional().meta({ description, pattern: EXCHANGE_KEY.source });
const symbolField = { maxLength: MAX_SYMBOL_LENGTH, pattern: SYMBOL.source };

/** Series that a change is about. */
const SeriesSelection = z.looseObject({
  symbol: z.string().meta({ description: '`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot', ...symbolField }),
  timeframe: z
    .string()
    .optional()
    .meta({
      description: 'Only the series of this timeframe. Default: all of the symbol, with its funding rates',
      enum: [...ALL_TIMEFRAMES],
    }),
  exchange: exchangeField('Exchange of the series. Default: the configured exchange'),
});

const force = z
  .boolean()
  .optional()
  .meta({ description: 'True: also while something uses the series', default: false });

export const SeriesDeletion = SeriesSelection.extend({ force }).meta({ id: 'SeriesDeletion' });
export type SeriesDeletion = z.output<typeof SeriesDeletion>;

const target = {
  to_exchange: exchangeField('Exchange of the result. Default: that of the series'),
  to_symbol: z
    .string()
    .optional()
    .meta({ description: 'Symbol of the result. Default: that of the series', ...symbolField }),
};

export const SeriesRenaming = SeriesSelection.extend({ ...target, force }).meta({ id: 'SeriesRenaming' });
export type SeriesRenaming = z.output<typeof SeriesRenaming>;

export const SeriesCopying = SeriesSelection.extend(target).meta({ id: 'SeriesCopying' });
export type SeriesCopying = z.output<typeof SeriesCopying>;

export const ImportUndo = SeriesSelection.extend({
  timeframe: SeriesSelection.shape.timeframe.meta({
    description:
      'Only the series of this timeframe. Default: those that the last import of the symbol changed',
    enum: [...ALL_TIMEFRAMES],
  }),
}).meta({ id: 'ImportUndo' });
export type ImportUndo = z.output<typeof ImportUndo>;

export const ChangedSeries = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    timeframes: z.array(z.string()).meta({ description: 'Series that the call changed, shortest first' }),
    funding: z.boolean().meta({ description: 'True when funding rates were changed too' }),
  })
  .meta({ id: 'ChangedSeries', description: 'Result of a change: where the series are, or were' });
export type ChangedSeries = z.output<typeof ChangedSeries>;

export const UndoneImports = z
  .object({
    exchange: z.string(),
    symbol: z.string(),
    items: z.array(
      z.object({
        timeframe: z.string(),
        import: KeptImport,
        count: z.int().meta({ description: 'Stored candles now; 0: the series is not stored any more' }),
      }),
    ),
  })
  .meta({ id: 'UndoneImports' });
export type UndoneImports = z.output<typeof UndoneImports>;
