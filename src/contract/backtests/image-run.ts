import * as z from 'zod';
import { ValidationCheck } from '../common/validation-check.ts';
import { LookAhead } from '../config/look-ahead.ts';
import { InstrumentRecord, StoredSeries, StoredSeriesMonths } from '../market-data/stored-market-data.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { BacktestResult, JobRun, JobTiming } from './backtest.ts';
import { IMAGE_RUN_LIMITS } from './image-run-keys.ts';

/**
 * What the platform and the task of a registered image exchange. The task has no table: it reads its input under a random key
 * and writes below its own prefix. Everything below that prefix is written by code of others.
 */

const seriesKey = { symbol: z.string(), timeframe: z.enum(ALL_TIMEFRAMES) };

/** Job and market data as the platform has them when the run is prepared. The candles are in their own bucket. */
export const ImageRunInput = z.object({
  schema_version: z.literal(1),
  job: JobRun,
  /** Series of the job's pairs in every timeframe that is stored. */
  series: z.array(StoredSeries.omit({ schema_version: true }).extend({ exchange: z.string(), ...seriesKey })),
  /** Months of the series that the job reads. */
  months: z.array(z.object({ ...seriesKey, months: StoredSeriesMonths.shape.months })),
  /** Instruments by symbol; empty for a run without precision. */
  instruments: z.record(z.string(), InstrumentRecord),
});
export type ImageRunInput = z.infer<typeof ImageRunInput>;

/** Largest time that a Date holds, ms. */
const MAX_TIME = 8.64e15;
const orderTime = z.int().min(-MAX_TIME).max(MAX_TIME);

/** Orders of an adjusted trade, as stored. */
export const ImageRunOrders = z
  .array(
    z.strictObject({
      side: z.enum(['entry', 'exit']),
      placedAt: orderTime,
      filledAt: orderTime,
      price: z.number(),
      amount: z.number(),
      fee: z.number(),
      funding: z.number(),
      tag: z.string().max(IMAGE_RUN_LIMITS.text_length).nullable(),
    }),
  )
  .min(3);

const base = { schema_version: z.literal(1), job_id: z.string() };

/** Last object that the task writes. */
export const ImageRunOutcome = z.discriminatedUnion('status', [
  z.object({
    ...base,
    status: z.literal('completed'),
    /** Digest and number of pages as the task computed them. */
    digest: z.string().regex(/^[0-9a-f]{64}$/),
    trade_pages: z.int().min(0).max(IMAGE_RUN_LIMITS.trade_pages),
    timing: JobTiming,
    warnings: z.array(z.string()),
    look_ahead: LookAhead.optional(),
    checks: z.array(ValidationCheck).optional(),
  }),
  z.object({
    ...base,
    status: z.literal('failed'),
    error: z.object({
      code: z.enum(['DATA001', 'DATA002', 'DATA003', 'DATA005', 'RES002', 'VAL005', 'VAL006']),
      message: z.string().min(1).max(IMAGE_RUN_LIMITS.error_length),
    }),
    /** File of candles that the task found corrupt. */
    corrupt: z.object({ ...seriesKey, month: z.string().regex(/^\d{4}-\d{2}$/) }).optional(),
  }),
]);
export type ImageRunOutcome = z.infer<typeof ImageRunOutcome>;

/** Metrics of a run. Metrics that this release does not know are plain numbers, because the job's item holds them. */
export const ImageRunResult = BacktestResult.catchall(z.number().nullable());
