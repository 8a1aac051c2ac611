import * as z from 'zod';
import { Grant } from '../common/sharing-schemas.ts';
import { ValidationCheck } from '../common/validation-check.ts';
import { RESOLVED_ACCOUNT_OPTIONS } from '../config/account.ts';
import { LookAhead } from '../config/look-ahead.ts';
import { ResolvedMlEngine } from '../config/ml-engine.ts';
import { Protection } from '../config/protections.ts';
import { RobustnessTests } from '../config/robustness.ts';
import { CollectMode } from '../config/run-fields.ts';
import { SlippageModel } from '../config/slippage-model.ts';
import { Universe } from '../config/universe.ts';
import { annotatedJobFields } from '../jobs/annotation-schemas.ts';
import { queuedJobFields } from '../jobs/queue.ts';
import { retainedJobFields } from '../jobs/retention-schemas.ts';
import { TrialRecord, triedJobFields } from '../jobs/trial-ledger.ts';
import { FILL_MODELS, GAP_TOLERANCE, PRECISIONS } from '../values/backtest-limits.ts';
import type { JobStatus } from '../values/job-limits.ts';
import { ALL_TIMEFRAMES, TIMEFRAMES } from '../values/timeframes.ts';
import {
  MIN_CAGR_DAYS,
  SHORT_RUN_DAYS,
  UNDEFINED_REASONS,
  type UndefinedReason,
} from '../values/undefined-metrics.ts';
import { ColumnsJob, ColumnsOf } from './backtest-columns.ts';

/** Shapes of backtest jobs as stored and as returned. A stored shape carries `schema_version`; test/contract pins its hash. */

export { BACKTEST_ID_PREFIX, JOB_STATUSES, type JobStatus } from '../values/job-limits.ts';

/** True when no further transition is possible. */
export function isTerminal(status: JobStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });

const undefinedIsNull = (description: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${description}; null when undefined` });

export const UndefinedMetrics = z
  .record(z.string(), z.enum(Object.keys(UNDEFINED_REASONS) as [UndefinedReason, ...UndefinedReason[]]))
  .meta({
    id: 'UndefinedMetrics',
    description:
      'Metrics without a value, and why. They satisfy no threshold and come last in every order; a profit factor without losses over 30 trades or more counts as infinite there',
  });

export const BacktestResult = z
  .looseObject({
    total_trades: z.int(),
    winning_trades: z.int().meta({ description: 'Trades with a profit above 0; draws count in neither' }),
    losing_trades: z.int(),
    total_profit: z.number().meta({ description: 'Quote currency, after fees and funding' }),
    total_profit_pct: z.number().meta({ description: 'Percent of the starting wallet' }),
    sharpe_ratio: z.number().meta({
      description:
        'Mean / population standard deviation of the daily equity returns (open positions marked to market), times sqrt(365); 0 when undefined, see `undefined_metrics`',
    }),
    profit_factor: z
      .number()
      .meta({ description: 'Sum of wins over sum of losses; 999 without losses, 0 without wins and losses' }),
    win_rate: z.number().meta({ description: 'Percent of all trades' }),
    max_drawdown_pct: z.number().meta({
      description:
        'Percent, zero or positive: the largest fall of the daily equity below its running maximum',
    }),
    draws: z.int(),
    final_balance: z.number(),
    sortino_ratio: undefinedIsNull('Mean / downside deviation of the daily equity returns, times sqrt(365)'),
    calmar_ratio: undefinedIsNull('cagr_pct / max_drawdown_pct'),
    cagr_pct: undefinedIsNull(
      `Compound annual growth rate, percent: the final balance over the wallet, to the power of 365 / backtest_days. Under ${MIN_CAGR_DAYS} days it is`,
    ),
    expectancy: undefinedIsNull('Mean profit per trade, quote currency'),
    sqn: undefinedIsNull('System quality number'),
    exposure_pct: undefinedIsNull('Percentage of candles that end with an open trade'),
    market_change_pct: undefinedIsNull('Mean change of the price of the pairs, percent'),
    fees: z.number().meta({ description: 'Paid, quote currency' }),
    funding: z.number().meta({ description: 'Positive: received, quote currency' }),
    trade_stats: z
      .object({
        n: z.int(),
        mean: z.number().nullable(),
        variance: z.number().nullable().meta({ description: 'Sample variance, divisor n - 1' }),
      })
      .meta({ description: 'Moments of profit_pct over all trades' }),
    backtest_days: z.number().optional().meta({
      description:
        'From the open of the first traded candle to the close of the last, a fraction; absent in results of earlier versions, like the two below',
    }),
    short_run: z
      .boolean()
      .optional()
      .meta({
        description: `The run has less than ${SHORT_RUN_DAYS} days: cagr_pct and calmar_ratio extrapolate it`,
      }),
    undefined_metrics: UndefinedMetrics.optional(),
  })
  .meta({
    id: 'BacktestResult',
    description: 'The first nine numbers are always finite. `definitions` of the report holds the formulas',
  });
export type BacktestResult = z.infer<typeof BacktestResult>;

export const RoiTable = z
  .record(z.string(), z.number())
  .meta({ description: 'Minutes since entry -> required profit ratio; -1 closes at any profit' });

export type RoiTable = z.infer<typeof RoiTable>;

export const TrailingStop = z.object({
  positive: z.number().optional(),
  offset: z.number().optional(),
  only_offset_is_reached: z.boolean().optional(),
});
export type TrailingStop = z.infer<typeof TrailingStop>;

/** A backtest's configuration with every default filled in: what the task runs. */
export const ResolvedBacktestConfig = z
  .object({
    strategy: z.string(),
    exchange: z.string(),
    trading_mode: z.literal('spot').optional().meta({ description: 'Absent: futures' }),
    pairs: z.array(z.string()).meta({
      description:
        'With `universe`: every pair that was ever in; until the run has ended, and where it failed, the candidates',
    }),
    universe: Universe.optional().meta({ description: 'Absent: all pairs are traded over the whole range' }),
    timeframe: z.enum(ALL_TIMEFRAMES),
    date_range: z.object({
      start: timestamp,
      end: timestamp.meta({ description: 'Exclusive: the run uses only candles that open before it' }),
    }),
    stake_amount: z.union([z.number(), z.literal('unlimited')]),
    dry_run_wallet: z.number(),
    max_open_trades: z.int(),
    fee: z.number(),
    slippage: z.number(),
    slippage_model: SlippageModel.optional().meta({ description: 'Absent: only `slippage`' }),
    leverage: z.number(),
    ...RESOLVED_ACCOUNT_OPTIONS,
    params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
    stoploss: z.number(),
    minimal_roi: RoiTable,
    trailing: TrailingStop.nullable(),
    protections: z.array(Protection).optional().meta({ description: 'Absent without any' }),
    timeframe_detail: z.enum(TIMEFRAMES).nullable(),
    max_missing: z
      .number()
      .optional()
      .meta({
        description: `Ratio of candles of a series that may be lost. Absent: ${GAP_TOLERANCE}`,
      }),
    fill_model: z.enum(FILL_MODELS),
    seed: z.int(),
    precision: z.enum(PRECISIONS).default('none').meta({
      description:
        '`exchange`: prices and amounts follow the steps and limits of the instruments; `none`: no rounding and no minimum order',
    }),
    robustness: RobustnessTests.optional().meta({ description: 'Further tests; absent without any' }),
    ml_engine: ResolvedMlEngine.optional().meta({ description: 'Absent in a run without machine learning' }),
    signals: z.string().optional().meta({ description: 'Uploaded file of signals; absent without one' }),
    signals_digest: z.string().optional().meta({ description: 'SHA-256 of the file of `signals`, hex' }),
  })
  .meta({ id: 'ResolvedBacktestConfig' });
export type ResolvedBacktestConfig = z.infer<typeof ResolvedBacktestConfig>;

/**
 * Jobs of the backtest state machine. Lists of backtests exclude the other kinds:
 * - A `validation` runs the staging checks of a registered version. Its ID begins with `va-` instead of `bt-`.
 * - A `canary` is the backtest by which the platform tests itself. It is deleted after a day.
 * - A `columns` job runs a completed backtest again, for its columns. Its ID begins with `bc-`, and it is deleted after an hour.
 */
export const JOB_KINDS = ['backtest', 'validation', 'canary', 'columns'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const VALIDATION_ID_PREFIX = 'va-';
export const COLUMNS_ID_PREFIX = 'bc-';
/** No other id begins like this: after `bt-` they have a digit or K. */
export const CANARY_ID_PREFIX = 'bt-CANARY';

/** Fields of a state machine's input for a run that reads more than the candles of its own timeframe and pairs. */
export const informativeReads = {
  informative: z
    .array(z.object({ symbol: z.string(), timeframe: z.enum(ALL_TIMEFRAMES), start: timestamp }))
    .optional()
    .meta({ description: 'Other series that the run reads, as stored; absent without any' }),
  informative_stale: z
    .literal(true)
    .optional()
    .meta({ description: 'Some of `informative` are not stored: they are collected; absent: all are' }),
};

/** Input of the backtest state machine: small, no config, no results. */
export const BacktestExecutionInput = z.object({
  job_id: z.string(),
  kind: z.enum(JOB_KINDS).default('backtest'),
  list: z
    .string()
    .meta({ description: 'Partition of the job lists; the state machine marks a failed job there' }),
  image: z.string().nullable().default(null).meta({
    description: 'Container image to run, `name@sha256:…`; null: the image of the platform',
  }),
  correlation_id: z.string(),
  on_demand: z.boolean(),
  exchange: z.string(),
  trading_mode: z.literal('spot').optional().meta({ description: 'Absent: futures' }),
  symbols: z.array(z.string()),
  timeframe: z.string().meta({ description: 'Timeframe; with a detail timeframe both, comma separated' }),
  start: timestamp,
  end: timestamp,
  collect: CollectMode.optional().meta({ description: 'Absent: if_stale' }),
  ...informativeReads,
});
export type BacktestExecutionInput = z.infer<typeof BacktestExecutionInput>;

/** Outcome of the collection that preceded a backtest; a failed one does not fail the job. */
export const CollectionOutcome = z.object({
  status: z.enum(['completed', 'failed']),
  message: z.string(),
  unlisted: z
    .array(z.string())
    .optional()
    .meta({ description: 'Symbols that the exchange does not list; absent when it lists all' }),
  at: timestamp,
});
export type CollectionOutcome = z.infer<typeof CollectionOutcome>;

/** A registered version that a job runs, and what it was registered with. */
export const RegisteredVersion = z.object({
  model_name: z.string(),
  version: z.string(),
  container_image_uri: z.string(),
  image_digest: z.string().nullable(),
  strategy_digest: z.string(),
});
export type RegisteredVersion = z.infer<typeof RegisteredVersion>;

/** Hyperopt job that found the parameters of a backtest: selection among many trials inflates the result. */
export const FoundBy = z
  .object({
    hyperopt_job_id: z.string(),
    trial: z.int(),
    trials: z.int().meta({ description: 'Tried by the hyperopt job' }),
  })
  .meta({ id: 'FoundBy' });
export type FoundBy = z.infer<typeof FoundBy>;

const jobBase = {
  schema_version: z.literal(2),
  kind: z.enum(JOB_KINDS),
  ...queuedJobFields,
  ...triedJobFields,
  ...retainedJobFields,
  ...annotatedJobFields,
  /** Registered version of the run; absent: a backtest of a configuration. */
  registered: RegisteredVersion.optional(),
  /** Hyperopt job whose best parameters the run was made from; absent without one. */
  found_by: FoundBy.optional(),
  job_id: z.string(),
  owner: z.string(),
  /** Absent: never shared. */
  shared_with: z.array(Grant).optional(),
  revision: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
  experiment_name: z.string().nullable(),
  priority: z.int(),
  config: ResolvedBacktestConfig,
  /** Source of the strategy that the submission was resolved with; absent in jobs of earlier versions. */
  strategy_digest: z.string().optional(),
  warnings: z.array(z.string()),
  execution_input: BacktestExecutionInput,
  /** Digest of the request body: distinguishes a repeated request from a reused Idempotency-Key. */
  request_digest: z.string(),
  /** Number of times a task has claimed the job. Only the latest attempt may write. */
  attempt: z.int(),
  collection: CollectionOutcome.nullable(),
  /** Latest computation of the columns of this backtest; absent without one. */
  columns_job: ColumnsJob.optional(),
  /** Only of a `columns` job. */
  columns_of: ColumnsOf.optional(),
};

const started = {
  started_at: timestamp,
  progress_at: timestamp.optional().meta({ description: 'Latest progress; absent before the first' }),
  task: z.string().meta({ description: 'ARN of the task; in local mode its process' }),
  progress: z.number(),
  stalled: z.string().nullable().optional().meta({
    description: 'Position of the task without progress for one minute; absent or null: it makes progress',
  }),
};

/** One attempt's results in object storage: immutable, addressed by attempt. */
export const ResultsLocation = z.object({
  prefix: z.string(),
  digest: z.string().meta({ description: 'sha-256 over the result files, hex' }),
  trade_pages: z.int(),
});
export type ResultsLocation = z.infer<typeof ResultsLocation>;

export const JobTiming = z.object({
  load_ms: z.number(),
  indicators_ms: z.number(),
  simulate_ms: z.number(),
  report_ms: z.number(),
  write_ms: z.number(),
  total_ms: z.number(),
  candles: z.int(),
  peak_memory_mb: z.number(),
  processor_ms: z
    .object({
      total: z.number(),
      robustness: z.number(),
      look_ahead: z.number(),
    })
    .optional()
    .meta({
      description:
        'Processor time of the task up to its last write, with the parts that checked the result; absent in jobs of earlier versions',
    }),
});
export type JobTiming = z.infer<typeof JobTiming>;

const running = z.object({ ...jobBase, ...started, status: z.literal('running') });

/** Fields of a claimed job that its task reads. */
export const JobRun = running
  .pick({
    job_id: true,
    kind: true,
    attempt: true,
    started_at: true,
    config: true,
    strategy_digest: true,
    registered: true,
    collection: true,
    columns_of: true,
  })
  .extend({
    execution_input: BacktestExecutionInput.pick({ start: true, collect: true, informative: true }).extend({
      timeframe: z.string().optional(),
    }),
  });
export type JobRun = z.infer<typeof JobRun>;

/** A backtest job as stored: one shape per status, each with exactly its own fields. */
export const StoredBacktestJob = z.discriminatedUnion('status', [
  z.object({ ...jobBase, status: z.literal('pending') }),
  running,
  z.object({
    ...jobBase,
    ...started,
    status: z.literal('completed'),
    finished_at: timestamp,
    result: BacktestResult,
    results: ResultsLocation,
    timing: JobTiming,
    checks: z.array(ValidationCheck).optional().meta({ description: 'Result of a validation' }),
    sparkline: z.array(z.number()).optional().meta({
      description: 'Equity at even distances, from the starting wallet; absent in jobs of earlier versions',
    }),
    /** Absent for validations, whose checks contain it. */
    look_ahead: LookAhead.optional(),
    /** Not `trials`, which the list indexes copy. Absent for validations, and in jobs of earlier versions. */
    trial_record: TrialRecord.optional(),
  }),
  z.object({
    ...jobBase,
    status: z.literal('failed'),
    started_at: timestamp.optional(),
    task: z.string().optional(),
    finished_at: timestamp,
    error: z.string(),
    error_code: z.string(),
  }),
  z.object({
    ...jobBase,
    status: z.literal('cancelled'),
    started_at: timestamp.optional(),
    task: z.string().optional(),
    finished_at: timestamp,
    /** Absent: cancelled in an earlier version. */
    cancelled_by: z.string().optional(),
  }),
]);
export type StoredBacktestJob = z.infer<typeof StoredBacktestJob>;
export type JobIn<S extends JobStatus> = Extract<StoredBacktestJob, { status: S }>;
