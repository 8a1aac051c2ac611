import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { integerParameter, listParameter, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { Plot } from '../config/plot.ts';
import { COLUMNS_LIMITS } from '../values/columns-limits.ts';
import { MAX_SYMBOL_LENGTH } from '../values/market-data-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';

/** Requests, responses and stored shapes of the columns of a backtest. */

export const BacktestColumnsQuery = z.object({
  pair: stringParameter(MAX_SYMBOL_LENGTH, 'Pair of the run; required where the run has several').optional(),
  from: stringParameter(
    40,
    'ISO 8601, inclusive; without an offset it is UTC. Default: the first candle of the run',
  ).optional(),
  to: stringParameter(40, 'ISO 8601, exclusive; without an offset it is UTC. Default: the end').optional(),
  names: listParameter({
    maxItems: COLUMNS_LIMITS.names,
    maxLength: COLUMNS_LIMITS.name_length,
    description: 'Names of columns. Default: all',
  }).optional(),
  limit: integerParameter({
    ...COLUMNS_LIMITS.rows,
    description: `Rows of a page. A page with many columns has fewer: it has at most ${COLUMNS_LIMITS.page_values.toLocaleString('en-US')} values`,
  }).default(COLUMNS_LIMITS.rows.max),
  cursor: stringParameter(4_096, '`next_cursor` of the previous page, with the same filters').optional(),
  format: z.enum(['json', 'parquet']).default('json').meta({
    description: '`json`: a page. `parquet`: all rows as a file, which is offered at an address',
  }),
});
export type BacktestColumnsQuery = Immutable<z.output<typeof BacktestColumnsQuery>>;

export const ChangedCandles = z
  .object({
    pair: z.string(),
    timeframe: z.enum(ALL_TIMEFRAMES),
    first: Timestamp.meta({ description: 'Open time of the first candle that may have changed' }),
    last: Timestamp.meta({ description: 'Open time of the last one' }),
  })
  .meta({
    id: 'ChangedCandles',
    description: 'Candles that the backtest read and that were replaced or added since',
  });
export type ChangedCandles = z.infer<typeof ChangedCandles>;

/** Status of a computation that has not ended. */
export const ColumnsStatus = z
  .object({ status: z.enum(['pending', 'running']) })
  .meta({ id: 'ColumnsStatus', description: 'The columns are being computed: repeat the request' });
export type ColumnsStatus = z.infer<typeof ColumnsStatus>;

export const BacktestColumns = z
  .object({
    pair: z.string(),
    timeframe: z.enum(ALL_TIMEFRAMES),
    times: z.array(z.int()).meta({ description: 'Open times of the candles of this page, Unix seconds' }),
    columns: z.record(z.string(), z.array(z.union([z.number(), z.string()]).nullable())).meta({
      description:
        'A value for each time. null: NaN, or no tag. Signals are 0 or 1, as the strategy returned them; a signal acts at the open of the next candle',
    }),
    rows: z.int().meta({ description: 'Rows of the range, over all pages' }),
    next_cursor: z.string().nullable(),
    changed_candles: z.array(ChangedCandles).meta({
      description: 'Empty: the backtest has read the same candles',
    }),
    plot: Plot.nullable().meta({
      description: 'How the strategy wants them drawn; null: as the chart chooses',
    }),
  })
  .meta({ id: 'BacktestColumns', description: 'Columns of equal length' });
export type BacktestColumns = Immutable<z.infer<typeof BacktestColumns>>;

/** Backtest whose columns a job computes, and the facts with which the job compares its own. */
export const ColumnsOf = z.object({
  job_id: z.string(),
  /** Time at which the backtest read its candles, ISO 8601. */
  read_at: z.string(),
  engine_version: z.string(),
  strategy_digest: z.string(),
  pairs: z.array(z.object({ pair: z.string(), digest: z.string() })),
  informative: z.array(z.object({ pair: z.string(), timeframe: z.string(), digest: z.string() })),
});
export type ColumnsOf = z.infer<typeof ColumnsOf>;

/** Latest computation of a backtest's columns. */
export const ColumnsJob = z.object({ job_id: z.string(), requested_at: z.string() });
export type ColumnsJob = z.infer<typeof ColumnsJob>;

/** File with the shape of computed columns. Their values are in files of rows. */
export const ColumnsManifest = z.object({
  schema_version: z.literal(1),
  changed_candles: z.array(ChangedCandles),
  pairs: z.array(
    z.object({
      pair: z.string(),
      timeframe: z.enum(ALL_TIMEFRAMES),
      /** Open time of the first row, ms. */
      first: z.number(),
      /** Distance of two rows, ms. */
      step: z.number(),
      rows: z.int(),
      /** Rows of a file. */
      file_rows: z.int(),
      names: z.array(z.string()),
      /** Strings of the tags; a value of a tag column is an index, 0 without a tag. */
      tags: z.array(z.string()),
    }),
  ),
});
export type ColumnsManifest = z.infer<typeof ColumnsManifest>;
export type ColumnsPair = ColumnsManifest['pairs'][number];
