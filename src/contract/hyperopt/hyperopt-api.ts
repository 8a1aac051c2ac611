import * as z from 'zod';
import { CollectionOutcome, JOB_STATUSES, ResolvedBacktestConfig } from '../backtests/backtest.ts';
import { EquityData } from '../backtests/backtest-api.ts';
import { paginated } from '../common/page.ts';
import { integerParameter, PAGE_FIELDS } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { RESOLVED_ACCOUNT_OPTIONS } from '../config/account.ts';
import { ListedLookAhead, LookAhead } from '../config/look-ahead.ts';
import { CollectMode } from '../config/run-fields.ts';
import { jobListFields, jobPage, listedJobFields } from '../jobs/job-list-api.ts';
import { QueueState } from '../jobs/queue.ts';
import { retentionView } from '../jobs/retention-schemas.ts';
import { SessionName } from '../jobs/trial-ledger.ts';
import { PRECISIONS } from '../values/backtest-limits.ts';
import { SPARKLINE_LENGTH } from '../values/job-limits.ts';

import { LAST_EVENT_ID } from '../values/names.ts';
import {
  HyperoptJobConfig,
  OverfittingReport,
  ParameterValue,
  SearchPermutations,
  TRIAL_STATES,
} from './hyperopt.ts';
import { HYPEROPT_LIMITS } from './hyperopt-request.ts';

/** Responses and parameters of the hyperopt operations. */

const JobId = z.string().meta({ description: 'Shape `ho-<id>`' });
const Status = z.enum(JOB_STATUSES);

const { minimal_roi: RoiTable, trailing: Trailing } = ResolvedBacktestConfig.shape;

/** Account and costs that apply to every trial. */
export const HyperoptAccount = ResolvedBacktestConfig.pick({
  stake_amount: true,
  dry_run_wallet: true,
  max_open_trades: true,
  fee: true,
  slippage: true,
  slippage_model: true,
  leverage: true,
}).extend(RESOLVED_ACCOUNT_OPTIONS);

/** Parameters of a trial, in the form of a backtest's configuration. */
export const FoundParams = z
  .object({
    model_type: z.string().meta({ description: 'As in the request; `none` when no models are trained' }),
    n_estimators: z.int().optional().meta({ description: 'Absent when no models are trained' }),
    learning_rate: z.number().optional().meta({ description: 'Absent when no models are trained' }),
  })
  .catchall(z.union([ParameterValue, RoiTable, Trailing.unwrap()]))
  .meta({
    id: 'HyperoptTrialParams',
    description:
      'Model settings for `config.ml_engine` of a backtest, searched strategy parameters for `config.params`, and searched `stoploss`, `minimal_roi` and `trailing` for `config`',
  });
export type FoundParams = z.infer<typeof FoundParams>;

export const HyperoptStart = z
  .object({
    job_id: JobId,
    status: Status,
    message: z.string(),
    n_trials: z.int(),
    strategy: z.string(),
    warnings: z.array(z.string()).meta({ description: 'Ignored parts of the request, such as unknown keys' }),
  })
  .meta({ id: 'HyperoptStart' });

const progress = {
  job_id: JobId,
  status: Status,
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  progress: z
    .int()
    .meta({ description: 'Percentage of finished trials, with those of permuted searches, 0 to 100' }),
  current_trial: z.int().meta({ description: 'Number of finished trials' }),
  total_trials: z.int(),
  permutations: z.object({ ended: z.int(), total: z.int() }).nullable().meta({
    description: 'Progress of the searches on permuted candles, which follow the trials; null without any',
  }),
  best_value: z.number().nullable().meta({ description: 'null before the first complete trial' }),
  best_trial: z.int().nullable(),
  feasible: z.boolean().nullable().meta({
    description:
      'false: no trial keeps the constraints yet, and the best one misses them least. null before the first complete trial',
  }),
  error: z.string().nullable().meta({ description: 'Present when failed' }),
  queue: QueueState.nullable().meta({
    description:
      'Place in the queue of a pending job, or of a running one that waits for another run; null for others',
  }),
};

export const HyperoptSummary = z
  .object({
    ...progress,
    ...listedJobFields,
    date_range: HyperoptJobConfig.shape.date_range,
    objective_metric: HyperoptJobConfig.shape.objective_metric,
    direction: HyperoptJobConfig.shape.direction,
    look_ahead: ListedLookAhead,
    params: FoundParams.nullable().meta({ description: 'The best parameters; null until completed' }),
    deflated_sharpe_ratio: OverfittingReport.shape.deflated_sharpe_ratio.meta({
      description: 'That of `overfitting` of the result; null until completed',
    }),
    sparkline: z.array(z.number()).length(SPARKLINE_LENGTH).nullable().meta({
      description:
        'Best value so far, at even distances over the finished trials from the first complete one. null before it, and for jobs of earlier versions',
    }),
  })
  .meta({ id: 'HyperoptSummary' });

export const HyperoptJob = z
  .object({
    ...progress,
    started_at: Timestamp.nullable().meta({ description: 'null until a worker has started' }),
    finished_at: Timestamp.nullable(),
    error_code: z.string().nullable(),
    stalled: z.string().nullable().meta({
      description:
        'Position of a running trial without progress for one minute, such as `no progress for 60 s in customExit of ETH/USDT:USDT (trial 3)`; else null',
    }),
    trials: z.object({ complete: z.int(), pruned: z.int(), failed: z.int() }),
    config: HyperoptJobConfig,
    pairs: z.array(z.string()),
    timeframe: z.string(),
    exchange: z.string(),
    collect: CollectMode,
    account: HyperoptAccount.meta({ description: 'Account and costs of every trial' }),
    precision: z.enum(PRECISIONS).meta({ description: 'Precision of every trial' }),
    trading_mode: z.literal('spot').optional().meta({ description: 'Absent: futures' }),
    look_ahead: LookAhead.nullable().meta({
      description:
        'Look-ahead bias check with the parameters of the best trial, which is that of all trials: they run the same code. Present when completed',
    }),
    warnings: z.array(z.string()),
    session: SessionName,
    resumed_from: JobId.nullable().meta({
      description: 'Job that this one resumes: its finished trials are not run again',
    }),
    collection: CollectionOutcome.nullable().meta({
      description: 'Outcome of the data collection that preceded the trials; null when none was needed',
    }),
    ...retentionView,
  })
  .meta({ id: 'HyperoptJob' });

export const HyperoptList = jobPage(HyperoptSummary).meta({ id: 'HyperoptList' });

export const HyperoptResult = z
  .object({
    job_id: JobId,
    best_params: FoundParams,
    best_value: z.number(),
    best_trial: z.int(),
    feasible: z.boolean().meta({
      description:
        'false: no trial keeps the constraints, and the best one misses them least; true without constraints',
    }),
    n_trials_completed: z.int().meta({ description: 'Complete trials; pruned ones are excluded' }),
    study_name: z.string(),
    best_trials: z.array(z.object({ number: z.int(), value: z.number(), params: FoundParams })).meta({
      description:
        'The ten best: feasible ones by value, then the others by violation; the earlier of equal ones first',
    }),
    overfitting: OverfittingReport,
    distinct_runs: z.int().nullable().meta({
      description:
        'Number of different runs among the complete trials: trials with different parameters can make exactly the same trades; null in jobs stored before this field existed',
    }),
    look_ahead: LookAhead.meta({
      description:
        '`look_ahead` of the job; with state `found` the values cannot be earned, and none is the best',
    }),
    permutations: SearchPermutations.nullable().meta({
      description: 'The best value among those of searches on permuted candles; null unless asked for',
    }),
    warnings: z
      .array(z.string())
      .meta({ description: 'Limitations of the result, such as parameters without effect' }),
    out_of_sample: EquityData.meta({
      description:
        'Equity of the best trial over its out-of-sample windows. Without models: over the date range that selected the parameters',
    }),
  })
  .meta({ id: 'HyperoptResult' });

const figure = (number: z.ZodNumber) =>
  number.nullable().meta({
    description:
      'As in the result of a backtest; null unless complete, where undefined, and in trials of earlier versions',
  });

export const HyperoptTrial = z
  .object({
    number: z.int().meta({ description: 'From 0, in the order of suggestion' }),
    state: z.enum(TRIAL_STATES),
    params: FoundParams,
    value: z.number().nullable().meta({ description: 'Objective value; null unless complete' }),
    total_trades: figure(z.int()),
    total_profit_pct: figure(z.number()),
    max_drawdown_pct: figure(z.number()),
    profit_factor: figure(z.number()),
    violation: z.number().nullable().meta({
      description: 'By how much the trial misses the constraints, 0: feasible; null unless complete',
    }),
    windows: z
      .array(z.number().nullable())
      .meta({ description: 'Objective value of each evaluated window; null when undefined' }),
    duplicate_of: z.int().nullable().meta({
      description: 'Earliest trial with the same parameters, whose result was reused without a run',
    }),
    same_as: z.int().nullable().meta({ description: 'The same number as `duplicate_of`' }),
    error: z.string().nullable().meta({ description: 'Present when failed' }),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
    attempt: z.int().meta({ description: 'Number of times a worker has started it' }),
    worker: z.int(),
    look_ahead: ListedLookAhead,
  })
  .meta({ id: 'HyperoptTrial' });

export const HyperoptTrialList = paginated(HyperoptTrial).meta({ id: 'HyperoptTrialList' });

export const HyperoptParams = z.object({
  job_id: z
    .string()
    .regex(/^ho-[A-Za-z0-9]{1,64}$/)
    .meta({ description: 'Shape `ho-<id>`' }),
});

export const HyperoptListQuery = z.object(jobListFields(['best_value', 'progress']));
export type HyperoptListQuery = z.output<typeof HyperoptListQuery>;

export const HyperoptTrialsQuery = z.object({
  ...PAGE_FIELDS,
  state: z.enum(TRIAL_STATES).optional().meta({ description: 'Only trials in this state' }),
  number: integerParameter({
    min: 0,
    max: HYPEROPT_LIMITS.n_trials.max - 1,
    description: 'Only the trial with this number; the page is empty until it has started',
  }).optional(),
});

/** Server-sent events of a hyperopt job. */

/** Event IDs: 1 to n for trials in the order of their ends, the next for permuted searches, one more for the end of the job. */
const lastId = { min: 0, max: HYPEROPT_LIMITS.n_trials.max + HYPEROPT_LIMITS.permutations.max + 1 };

export const HyperoptEventsQuery = z.object({
  after: integerParameter({
    ...lastId,
    description: `ID of the last received event; \`${LAST_EVENT_ID}\` takes precedence. Default 0: all events`,
  }).optional(),
});

/** Data of a `trial` event. Everything of the trial is in the list of trials. */
export const HyperoptTrialEvent = z
  .object({
    number: z.int().meta({ description: 'From 0, in the order of suggestion' }),
    state: z.enum(TRIAL_STATES).exclude(['running']),
    value: z.number().nullable().meta({ description: 'Objective value; null unless complete' }),
    violation: z
      .number()
      .nullable()
      .meta({ description: 'By how much it misses the constraints, 0: feasible; null unless complete' }),
    params: FoundParams,
    best_value: z
      .number()
      .nullable()
      .meta({ description: 'Best value of the trials finished so far; null before the first complete one' }),
    progress: z.int().meta({
      description: 'Percentage of finished trials at that time, with those of permuted searches',
    }),
  })
  .meta({ id: 'HyperoptTrialEvent' });

/** Data of a `permuted_search` event. */
export const HyperoptPermutedSearchEvent = z
  .object({
    ended: z.int().meta({ description: 'Number of ended searches on permuted candles' }),
    total: z.int(),
    best_value: z.number().nullable().meta({ description: 'Best value of the trials' }),
    progress: z.int().meta({
      description: 'Percentage of finished trials at that time, with those of permuted searches',
    }),
  })
  .meta({ id: 'HyperoptPermutedSearchEvent' });

export const HYPEROPT_EVENTS = [
  'Server-sent events; the data of each is JSON.',
  '`snapshot` comes first: the job as `GET /api/v1/hyperopt/{job_id}` returns it.',
  '`trial` follows for each trial that has ended, in the order of their ends: `number`, `state`, `value` (null unless complete), `params`, and `best_value` and `progress` at that time. Its ID counts from 1 without gaps.',
  '`permuted_search` follows, after all trials, for each search on permuted candles that has ended: `ended`, `total`, `best_value` and `progress`. Its ID counts on from the trials.',
  '`status` is the job once it is terminal; then the stream ends.',
  '`reconnect` ends a stream after 14 minutes or when the service stops. A client that reconnects with the last ID misses no event.',
  'A comment every 15 seconds keeps the connection open.',
].join('\n');
