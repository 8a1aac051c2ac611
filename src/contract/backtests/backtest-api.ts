import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { booleanParameter, integerParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { ListedLookAhead, LookAhead } from '../config/look-ahead.ts';
import { MlEngineRequest } from '../config/ml-engine.ts';
import { RobustnessRequest } from '../config/robustness.ts';
import { ACCOUNT_FIELDS, CollectMode, ExperimentName, MARKET_FIELDS, Seed } from '../config/run-fields.ts';
import { UniverseRequest } from '../config/universe.ts';
import { annotationView } from '../jobs/annotation-schemas.ts';

import { jobListFields, jobPage, listedJobFields } from '../jobs/job-list-api.ts';
import { BacktestLane, JobDurations, QueueState } from '../jobs/queue.ts';
import { retentionView } from '../jobs/retention-schemas.ts';
import { Deflation, SessionName, TrialRecord } from '../jobs/trial-ledger.ts';
import { BACKTEST_DEFAULTS, BACKTEST_LIMITS, FILL_MODELS, GAP_TOLERANCE } from '../values/backtest-limits.ts';
import { bounds } from '../values/bounds.ts';
import { HYPEROPT_JOB_ID, ON_DEMAND_PRIORITY, SPARKLINE_LENGTH } from '../values/job-limits.ts';
import { PROTECTION_LIMITS } from '../values/protection-limits.ts';
import { SIGNALS_ID, SIGNALS_STRATEGY } from '../values/signals-limits.ts';
import { TIMEFRAMES } from '../values/timeframes.ts';
import {
  BacktestResult,
  CollectionOutcome,
  FoundBy,
  JOB_STATUSES,
  JobTiming,
  RegisteredVersion,
  ResolvedBacktestConfig,
} from './backtest.ts';

/** Requests and responses of the backtest operations. */

const { minimal_roi: ROI, trailing: TRAILING } = BACKTEST_LIMITS;

const TrailingRequest = z.looseObject({
  positive: z
    .number()
    .optional()
    .meta({
      description: 'Trailing distance once the offset is reached. Default: |stoploss|',
      ...bounds(TRAILING.positive),
    }),
  offset: z
    .number()
    .optional()
    .meta({
      description: 'Profit ratio from which `positive` applies',
      default: BACKTEST_DEFAULTS.trailing.offset,
      ...bounds(TRAILING.offset),
    }),
  only_offset_is_reached: z.boolean().optional().meta({
    description: 'Do not trail before the offset is reached',
    default: BACKTEST_DEFAULTS.trailing.only_offset_is_reached,
  }),
});

export const BacktestConfigRequest = z
  .looseObject({
    strategy: z.string().meta({ description: 'Name of a strategy, see GET /api/v1/strategies' }),
    ...MARKET_FIELDS,
    date_range: z
      .looseObject({
        start: Timestamp.optional().meta({
          description: `Default: ${BACKTEST_DEFAULTS.date_range_days} days before \`end\``,
        }),
        end: Timestamp.optional().meta({
          description:
            'Exclusive: the run uses only candles that open before it. Default: the end of the newest stored candle, else now',
        }),
      })
      .optional()
      .meta({ description: 'ISO 8601; without an offset it is UTC. start must be before end' }),
    ...ACCOUNT_FIELDS,
    params: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Values of parameters of the strategy. The others keep their defaults' }),
    stoploss: z
      .number()
      .optional()
      .meta({
        description: 'Ratio of the stake. Default: the stop of the strategy',
        ...bounds(BACKTEST_LIMITS.stoploss),
      }),
    minimal_roi: z
      .record(z.string(), z.number().meta(bounds(ROI.ratio)))
      .optional()
      .meta({
        description: `Minutes since entry (integer, ${ROI.minutes.min} to ${ROI.minutes.max}) -> required profit ratio. Default: the table of the strategy`,
        maxProperties: ROI.steps,
      }),
    trailing: TrailingRequest.nullable()
      .optional()
      .meta({ description: 'Trailing stop. null disables the one of the strategy' }),
    protections: z
      .array(z.looseObject({ method: z.string() }))
      .optional()
      .meta({
        description:
          'Rules that lock pairs against entries after losses, with the names and defaults of freqtrade. Default: those of the strategy; an empty list disables them',
        maxItems: PROTECTION_LIMITS.count,
      }),
    universe: UniverseRequest.optional().meta({
      description:
        'Choose the pairs over time by their volume up to the day before, delisted pairs included. `pairs` are the candidates; without them all stored pairs of the exchange in the quote currency of the strategy are. Default: every pair is traded over the whole range',
    }),
    robustness: RobustnessRequest.optional(),
    timeframe_detail: z
      .string()
      .meta({ enum: [...TIMEFRAMES] })
      .nullable()
      .optional()
      .meta({
        description:
          'Shorter timeframe that decides the order of events inside a candle. null: none, also over a version that has one. Default: null',
      }),
    max_missing: z
      .number()
      .optional()
      .meta({
        description:
          'Ratio of candles of a series that may be lost in the range. Candles of closed times and without trades do not count',
        default: GAP_TOLERANCE,
        ...bounds(BACKTEST_LIMITS.max_missing),
      }),
    fill_model: z
      .string()
      .optional()
      .meta({
        description:
          '`conservative`: of two straight-line paths through each candle of a trade, open, high, low, close and open, low, high, close, the one that leaves the trade worth less at the close',
        default: BACKTEST_DEFAULTS.fill_model,
        enum: [...FILL_MODELS],
      }),
    seed: Seed.meta({ description: 'Seed of all random numbers' }),
    ml_engine: MlEngineRequest.optional().meta({
      description:
        'Models that predict each pair. Default: the models that the strategy declares. With `enabled`, any strategy can run with models: its entries then need the probability of `entry_threshold`',
    }),
  })
  .extend({
    signals: z
      .string()
      .optional()
      .meta({
        description: `ID of an uploaded file of signals, see POST /api/v1/signals. Only with strategy \`${SIGNALS_STRATEGY}\``,
        pattern: SIGNALS_ID.source,
      }),
    signals_digest: z.string().optional().meta({
      description: 'SHA-256 that the file must have, hex; jobs have it in their configuration',
    }),
  })
  .meta({
    id: 'BacktestConfig',
    description:
      'Only `strategy` is required. A key that misspells a known key which is not given is rejected with VAL005. Other unknown keys are ignored; the warnings of the job list them.',
  });

export type BacktestConfigRequest = Immutable<z.infer<typeof BacktestConfigRequest>>;

export const BacktestRequest = z
  .looseObject({
    config: BacktestConfigRequest,
    experiment_name: ExperimentName,
    priority: z
      .int()
      .optional()
      .meta({
        description: `Order in the queue. From ${ON_DEMAND_PRIORITY} the run uses on-demand capacity`,
        default: BACKTEST_DEFAULTS.priority,
        ...bounds(BACKTEST_LIMITS.priority),
      }),
    model_version: z.union([z.string(), z.int()]).optional().meta({
      description:
        'Registered version of the strategy to run: a number, `latest` or `champion`. Its configuration replaces the defaults. In AWS it runs in its registered image',
    }),
    hyperopt_job_id: z.string().optional().meta({
      description:
        'Completed hyperopt job of the strategy whose best parameters to run. Its configuration replaces the defaults. A version registered from the backtest records the number of trials',
      pattern: HYPEROPT_JOB_ID.source,
    }),
  })
  .meta({
    id: 'BacktestRequest',
    examples: [
      { config: { strategy: 'ema_crossover' } },
      {
        config: {
          strategy: 'ema_crossover',
          pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
          timeframe: '5m',
          date_range: { start: '2024-01-01T00:00:00Z', end: '2024-04-01T00:00:00Z' },
          stake_amount: 100,
          dry_run_wallet: 1000,
        },
        experiment_name: 'first-steps',
        priority: 5,
      },
    ],
  });
export type BacktestRequest = Immutable<z.infer<typeof BacktestRequest>>;

const JobId = z.string().meta({ description: 'Shape `bt-<id>`' });
const Status = z.enum(JOB_STATUSES);

export const BacktestSubmission = z
  .object({
    job_id: JobId,
    status: Status,
    created_at: Timestamp,
    warnings: z.array(z.string()).meta({ description: 'Ignored parts of the request, such as unknown keys' }),
  })
  .meta({ id: 'BacktestSubmission' });

const summary = {
  job_id: JobId,
  status: Status,
  result: BacktestResult.nullable().meta({ description: 'Present when completed' }),
  error: z.string().nullable().meta({ description: 'Present when failed' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  priority: z.int(),
  queue: QueueState.nullable().meta({
    description:
      'Place in the queue of a pending job, or of a running one that waits for another run; null for others',
  }),
  lane: BacktestLane,
  ...annotationView,
};

const progress = z
  .number()
  .nullable()
  .meta({ description: 'Completed share, 0 to 1; null for a failed or cancelled job' });

export const BacktestJobSummary = z
  .object({
    ...summary,
    ...listedJobFields,
    date_range: ResolvedBacktestConfig.shape.date_range,
    progress,
    sparkline: z.array(z.number()).length(SPARKLINE_LENGTH).nullable().meta({
      description:
        'Equity at even distances over the run, quote currency: the first value is the starting wallet, the last one the final equity. null until completed, and for jobs of earlier versions',
    }),
    params: ResolvedBacktestConfig.shape.params.meta({
      description: 'Values of all parameters of the strategy',
    }),
    look_ahead: ListedLookAhead,
    deflated_sharpe_ratio: Deflation.shape.deflated_sharpe_ratio.meta({
      description: 'That of `deflation`; null without one',
    }),
    deflation: Deflation.nullable().meta({
      description:
        "The Sharpe ratio deflated by the owner's trials of now, where `trials` of the job has those of its completion. null until completed, and for jobs of earlier versions",
    }),
  })
  .meta({ id: 'BacktestJobSummary' });

export const BacktestJob = z
  .object({
    ...summary,
    error_code: z.string().nullable(),
    registered: RegisteredVersion.nullable().meta({
      description: 'Registered version of the run; null without one',
    }),
    found_by: FoundBy.nullable().meta({
      description: 'Hyperopt job whose best parameters the run was made from; null without one',
    }),
    session: SessionName,
    progress,
    stalled: z.string().nullable().meta({
      description:
        'Local mode: position of a running job without progress for one minute, such as `no progress for 60 s in customExit of ETH/USDT:USDT`; else null',
    }),
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    attempt: z.int().meta({ description: 'Number of times a task has claimed the job' }),
    config: ResolvedBacktestConfig.extend({ collect: CollectMode }).meta({ id: 'BacktestJobConfig' }),
    warnings: z.array(z.string()),
    collection: CollectionOutcome.nullable().meta({
      description: 'Outcome of the data collection that preceded the run; null when none was needed',
    }),
    timing: JobTiming.nullable().meta({ description: 'Present when completed' }),
    durations: JobDurations,
    look_ahead: LookAhead.nullable().meta({ description: 'Present when completed' }),
    trials: TrialRecord.nullable().meta({
      description:
        'Trials of the owner when the job completed, and the Sharpe ratio deflated by them; null until then, and for jobs of earlier versions. Lists have it with the trials of now: `deflation`',
    }),
    ...retentionView,
  })
  .meta({ id: 'BacktestJob' });

export const BacktestJobList = jobPage(BacktestJobSummary).meta({ id: 'BacktestJobList' });

export const EquityData = z
  .object({
    dates: z.array(z.string().meta({ format: 'date' })),
    equity: z
      .array(z.number())
      .meta({ description: 'At the end of each day, open positions marked to market' }),
    drawdown: z
      .array(z.number())
      .meta({ description: 'Percent below the running maximum, zero or negative' }),
    monthly_returns: z.record(z.string(), z.number()).meta({
      description: 'YYYY-MM -> percent: change of the equity from the end of the month before',
    }),
  })
  .meta({ id: 'EquityData' });
export type EquityData = z.infer<typeof EquityData>;

export const BacktestParams = z.object({
  job_id: z
    .string()
    .regex(/^bt-[A-Za-z0-9]{1,64}$/)
    .meta({ description: 'Shape `bt-<id>`' }),
});

/** Stored metrics that a list can be sorted by. */
const SORTABLE_METRICS = BacktestResult.omit({
  trade_stats: true,
  short_run: true,
  undefined_metrics: true,
}).keyof().options;

export const BacktestListQuery = z.object({
  ...jobListFields(SORTABLE_METRICS),
  pinned: booleanParameter(
    'Only jobs that are pinned, or that are not. Covers the same jobs as `q`',
  ).optional(),
});
export type BacktestListQuery = z.output<typeof BacktestListQuery>;

export const BacktestReportQuery = z.object({
  page: integerParameter({ min: 1, max: 1_000_000, description: 'Page of the trades, 1,000 each' }).default(
    1,
  ),
  trades: booleanParameter('`false`: the report without trades, so `trades.items` is empty').default(true),
});
export type BacktestReportQuery = z.output<typeof BacktestReportQuery>;
