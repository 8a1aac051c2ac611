import * as z from 'zod';
import { JOB_STATUSES } from '../backtests/backtest.ts';
import { Timestamp } from '../common/time.ts';
import { ListedLookAhead } from '../config/look-ahead.ts';
import { JobCounted } from '../jobs/job-list-api.ts';
import { Freshness } from '../market-data/market-data.ts';
import { Approval } from '../registry/approval-api.ts';
import { CatalogStrategy } from '../registry/catalog-api.ts';
import { Challenge } from '../registry/challenge-api.ts';
import { OVERVIEW_LIMITS } from '../values/job-limits.ts';

/** Response of the overview, and what it shares with the event stream of jobs. */

const JOB_KINDS = ['backtest', 'hyperopt', 'collection'] as const;

/** State of a job of any kind. */
export const jobState = {
  kind: z.enum(JOB_KINDS),
  id: z.string().meta({ description: '`job_id` or `collection_id`' }),
  status: z.enum(JOB_STATUSES),
  progress: z
    .number()
    .nullable()
    .meta({ description: 'Completed share, 0 to 1; null for a failed or cancelled job' }),
};

const time = (description: string) => z.string().nullable().meta({ format: 'date-time', description });

const OverviewJob = z
  .object({
    ...jobState,
    name: z.string().meta({ description: 'Strategy; for a collection its symbols' }),
    experiment_name: z.string().nullable(),
    exchange: z.string(),
    created_at: Timestamp,
    started_at: time('null: not started; for a collection always null'),
    finished_at: time('null: not finished'),
    total_profit_pct: z
      .number()
      .nullable()
      .meta({ description: 'Percent of the starting wallet; null unless a completed backtest' }),
    best_value: z
      .number()
      .nullable()
      .meta({ description: 'Best value of a hyperopt job so far; null without one' }),
    look_ahead: ListedLookAhead,
    new_candles: z
      .int()
      .nullable()
      .meta({ description: 'New candles that a collection has stored so far; null for other jobs' }),
    error: z.string().nullable().meta({ description: 'Begin of the message of a failed job' }),
  })
  .meta({ id: 'OverviewJob' });
export type OverviewJob = z.infer<typeof OverviewJob>;

const LiveFigures = z
  .object({
    challenge_id: z.string(),
    trades: z.int().meta({ description: 'Closed trades that count' }),
    mean_profit_pct: z.number().nullable().meta({ description: 'Mean profit of these; null without any' }),
  })
  .meta({ id: 'LiveFigures', description: 'What traders reported of a version in its active challenge.' });

const JobCounts = z
  .object({
    pending: JobCounted,
    running: JobCounted,
    completed: JobCounted,
    failed: JobCounted,
    cancelled: JobCounted,
  })
  .meta({ id: 'JobCounts', description: 'Jobs by status.' });
export type JobCounts = z.infer<typeof JobCounts>;

export const OVERVIEW_PARTS = [
  'backtests',
  'hyperopt',
  'collections',
  'production',
  'challenges',
  'waiting',
  'freshness',
] as const;
export type OverviewPart = (typeof OVERVIEW_PARTS)[number];

/** Items of a list and whether there are more. */
const some = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    more: z.boolean().meta({ description: 'true: the list of this resource has more' }),
  });

export const Overview = z
  .object({
    evaluated_at: Timestamp,
    missing: z.array(z.enum(OVERVIEW_PARTS)).meta({
      description: 'Parts that could not be read in time: their fields are null, their jobs are absent',
    }),
    counts: z
      .object({
        backtests: JobCounts.nullable(),
        hyperopt: JobCounts.nullable(),
        collections: JobCounts.nullable(),
      })
      .meta({
        description: `Pending and running jobs are counted up to ${OVERVIEW_LIMITS.unfinished}, ended ones up to 1,000, collections among the newest ${OVERVIEW_LIMITS.collections}`,
      }),
    moving: z.array(OverviewJob).meta({
      description: `Unfinished jobs, the running ones first, at most ${OVERVIEW_LIMITS.moving}`,
    }),
    ended: z.array(OverviewJob).meta({
      description: `Ended jobs, the last one first: ${OVERVIEW_LIMITS.ended} of those submitted last`,
    }),
    production: some(
      CatalogStrategy.omit({ same_run_as: true })
        .extend({
          live: LiveFigures.nullable().meta({ description: 'null without an active challenge' }),
        })
        .meta({ id: 'ProductionStrategy' }),
    )
      .nullable()
      .meta({
        description: `Versions in Production by name, at most ${OVERVIEW_LIMITS.production}`,
      }),
    challenges: some(Challenge)
      .nullable()
      .meta({
        description: `Challenges that are active or whose winner awaits its promotion, newest first, at most ${OVERVIEW_LIMITS.challenges}`,
      }),
    waiting: z
      .object({
        count: z.int().meta({ description: 'Length of both lists' }),
        approvals: z.array(Approval).meta({
          description: `Open requests that the caller may approve, newest first, at most ${OVERVIEW_LIMITS.waiting}`,
        }),
        challenges: z.array(Challenge).meta({
          description: 'Of `challenges`, those held for an approval, and winners that await their promotion',
        }),
        more: z.boolean().meta({ description: 'true: more than these may wait' }),
      })
      .nullable()
      .meta({ description: 'What waits for a decision that the caller may make' }),
    freshness: z
      .object({
        exchange: z.string(),
        stale_threshold_hours: z.int(),
        series: z.int().meta({ description: 'Number of stored series of the exchange' }),
        complete: z.boolean().meta({ description: 'false: only the first 500 symbols were read' }),
        stale: z.int().meta({ description: 'Number of series that are older than the threshold or corrupt' }),
        worst: z.array(Freshness.shape.symbols.element).meta({
          description: `Oldest series, at most ${OVERVIEW_LIMITS.worst}`,
        }),
      })
      .nullable()
      .meta({ description: 'Age of the stored candles of the default exchange' }),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;
