import * as z from 'zod';
import { CollectionOutcome, informativeReads, ResolvedBacktestConfig } from '../backtests/backtest.ts';
import { Grant } from '../common/sharing-schemas.ts';
import { Timestamp } from '../common/time.ts';
import { LookAhead } from '../config/look-ahead.ts';
import { CollectMode } from '../config/run-fields.ts';
import { queuedJobFields } from '../jobs/queue.ts';
import { retainedJobFields } from '../jobs/retention-schemas.ts';
import { triedJobFields } from '../jobs/trial-ledger.ts';

import { InstrumentRecord } from '../market-data/stored-market-data.ts';
import { OVERFITTING_BOUNDS } from '../values/backtest-limits.ts';
import { DIRECTIONS, PRUNERS, SAMPLERS, SPACES, type TrialState } from '../values/hyperopt-limits.ts';

/** Shapes of hyperopt jobs as stored. A stored shape carries `schema_version`; test/contract pins its hash. */

export const STUDY_KIND = 'hyperopt';

export {
  DIRECTIONS,
  type Direction,
  NO_MODEL,
  PRUNERS,
  type Pruner,
  SAMPLERS,
  type Sampler,
  SPACES,
  type Space,
  TRIAL_STATES,
  type TrialState,
} from '../values/hyperopt-limits.ts';
export { HYPEROPT_ID_PREFIX } from '../values/job-limits.ts';

export const ParameterValue = z.union([z.number(), z.string(), z.boolean()]);

/**
 * Values of one trial by name: `model_type` as it was sent, `n_estimators`, `learning_rate`, the strategy parameters searched,
 * and what is searched of the exits, whose names contain a dot.
 */
export const TrialParams = z.record(z.string(), ParameterValue);
export type TrialParams = z.infer<typeof TrialParams>;

/** Searched range or choices of a strategy parameter. */
export const SearchedParameter = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['integer', 'number']),
    min: z.number(),
    max: z.number(),
    step: z.number().optional().meta({ description: 'Distance of the values of a grid; absent otherwise' }),
  }),
  z.object({ kind: z.literal('choice'), choices: z.array(ParameterValue) }),
]);
export type SearchedParameter = z.infer<typeof SearchedParameter>;

/** Limit of a metric of every trial. */
const TrialConstraint = z.object({
  metric: z.string(),
  bound: z.enum(['min', 'max']),
  limit: z.number(),
  divisor: z.number().meta({ description: 'Size of a miss that counts 1 in `violation`' }),
});

/** Search settings of a hyperopt job, with every default filled in. */
export const HyperoptJobConfig = z
  .object({
    n_trials: z.int(),
    train_period_days: z.int().optional().meta({ description: 'Absent when no models are trained' }),
    backtest_period_days: z.int(),
    objective_metric: z.string().meta({ description: 'A metric, or an expression of metrics' }),
    direction: z.enum(DIRECTIONS),
    constraints: z
      .array(TrialConstraint)
      .optional()
      .meta({ description: 'Limits of the metrics of a trial; absent without any' }),
    model_types: z
      .array(z.string())
      .meta({ description: 'As in the request; only `none` when no models are trained' }),
    n_estimators_range: z
      .tuple([z.int(), z.int()])
      .optional()
      .meta({ description: 'Absent when no models are trained' }),
    learning_rate_range: z
      .tuple([z.number(), z.number()])
      .optional()
      .meta({ description: 'Absent when no models are trained' }),
    spaces: z
      .array(z.enum(SPACES))
      .optional()
      .meta({ description: 'Search spaces; absent when the request has neither spaces nor models' }),
    search: z
      .record(z.string(), SearchedParameter)
      .meta({ description: 'Searched parameters of the strategy' }),
    grid_order: z.array(z.string()).optional().meta({
      description: 'Names of `search` in the order of a grid: the first varies slowest; absent otherwise',
    }),
    date_range: z.object({ start: Timestamp, end: Timestamp }).meta({
      description: 'Traded interval: `start` is the first candle. Training data precede it',
    }),
    sampler: z.enum(SAMPLERS),
    pruner: z.enum(PRUNERS),
    seed: z.int(),
    workers: z.int(),
    permutations: z
      .int()
      .optional()
      .meta({ description: 'Searches on permuted candles; absent without any' }),
  })
  .meta({ id: 'HyperoptJobConfig' });
export type HyperoptJobConfig = z.infer<typeof HyperoptJobConfig>;

/** Input of the hyperopt state machine: small, no config, no results. */
const NamedStartup = z.object({ own: z.int(), named: z.record(z.string(), z.int()) });

export const HyperoptExecutionInput = z.object({
  job_id: z.string(),
  correlation_id: z.string(),
  workers: z.array(z.int()).meta({ description: 'One number for each worker, from 0' }),
  exchange: z.string(),
  trading_mode: z.literal('spot').optional().meta({ description: 'Absent: futures' }),
  symbols: z.array(z.string()),
  timeframe: z.string(),
  start: Timestamp,
  end: Timestamp,
  collect: CollectMode.optional().meta({ description: 'Absent: if_stale' }),
  ...informativeReads,
  startup_candles: z.union([z.int(), NamedStartup]).optional().meta({
    description:
      'Largest numbers for any searched values, `named` by timeframe; absent for a run that reads its own candles only',
  }),
});
export type HyperoptExecutionInput = z.infer<typeof HyperoptExecutionInput>;

/** An improvement of a job's best value. */
export const Improvement = z.object({
  ended: z.int().meta({ description: 'Number of finished trials with the one that improved it' }),
  value: z.number(),
});
export type Improvement = z.infer<typeof Improvement>;

/** Progress of a hyperopt job, updated in the transaction that finishes a trial. */
export const TrialCounts = z.object({
  total: z.int(),
  complete: z.int(),
  pruned: z.int(),
  failed: z.int(),
  best_value: z.number().nullable().meta({ description: 'null before the first complete trial' }),
  best_trial: z.int().nullable(),
  best_violation: z.number().optional().meta({
    description: 'Violation of the best trial; absent before the first complete one, and without constraints',
  }),
});
export type TrialCounts = z.infer<typeof TrialCounts>;

const trialBase = {
  schema_version: z.literal(2),
  job_id: z.string(),
  number: z.int().meta({ description: 'From 0, in the order of suggestion' }),
  params: TrialParams,
  attempt: z.int().meta({
    description: 'Number of times a worker has started it. Only the latest attempt may record the result',
  }),
  worker: z.int(),
  started_at: Timestamp,
};

const windows = z
  .array(z.number().nullable())
  .meta({ description: 'The objective of each walk-forward window reached, in order; null where undefined' });

/** Metrics of a complete trial, as in the result of a backtest; null where undefined. */
export const TrialFigures = z.object({
  total_trades: z.int(),
  total_profit_pct: z.number(),
  max_drawdown_pct: z.number(),
  profit_factor: z.number().nullable(),
});
export type TrialFigures = z.infer<typeof TrialFigures>;

/** By how much a complete trial misses the constraints; absent without any. */
const violation = z.number().optional();

const trialEnd = {
  finished_at: Timestamp,
  sequence: z.int().meta({ description: 'Order of finished trials, from 1 without gaps' }),
  best_value: z.number().nullable().meta({
    description: "The job's best once this trial had ended; null before the first complete trial",
  }),
  same_as: z.int().nullable().meta({ description: 'Trial with the same parameters whose result was reused' }),
};

/** A trial as stored: one item of the ledger. */
export const StoredTrial = z.discriminatedUnion('state', [
  z.object({
    ...trialBase,
    state: z.literal('running'),
    task: z.string().meta({ description: 'Task of the worker that holds the lease' }),
    lease_expires_at: z.int().meta({ description: 'Unix ms; after it another worker may claim the trial' }),
  }),
  z.object({
    ...trialBase,
    ...trialEnd,
    windows,
    state: z.literal('complete'),
    value: z.number(),
    efficiency: z.number().nullable().meta({ description: 'Walk-forward efficiency' }),
    figures: TrialFigures.optional().meta({ description: 'Absent in trials of earlier versions' }),
    violation,
  }),
  z.object({ ...trialBase, ...trialEnd, windows, state: z.literal('pruned') }),
  z.object({ ...trialBase, ...trialEnd, state: z.literal('failed'), error: z.string() }),
]);
export type StoredTrial = z.infer<typeof StoredTrial>;
export type TrialIn<S extends TrialState> = Extract<StoredTrial, { state: S }>;
export type EndedTrial = Exclude<StoredTrial, { state: 'running' }>;

/** Daily returns of a complete trial, out of sample: an item of its own, so that reading the ledger stays cheap. */
export const StoredReturns = z.object({
  schema_version: z.literal(1),
  job_id: z.string(),
  number: z.int(),
  first_day: z.string(),
  returns: z.instanceof(Uint8Array).meta({ description: 'Float64, little-endian, one a UTC day, as ratios' }),
});

export type StoredReturns = z.infer<typeof StoredReturns>;

/** The search of a job on one permutation of its candles: one item next to its trials. */
export const StoredPermutedSearch = z.object({
  schema_version: z.literal(1),
  job_id: z.string(),
  number: z.int().meta({ description: 'From 0' }),
  value: z.number().nullable().meta({ description: 'Best value; null without a complete trial' }),
  error: z.string().nullable().meta({ description: 'Why there is no value' }),
  finished_at: Timestamp,
});
export type StoredPermutedSearch = z.infer<typeof StoredPermutedSearch>;

/** A trial of a permuted search that has ended. Trials that repeat an earlier one are not stored. */
export const PermutedTrial = z.object({
  number: z.int(),
  params: TrialParams,
  state: z.enum(['complete', 'pruned', 'failed']),
  value: z.number().nullable().meta({ description: 'null unless complete' }),
  violation,
  windows: windows.optional().meta({ description: 'Absent when failed' }),
  error: z.string().optional().meta({ description: 'Present when failed' }),
});
export type PermutedTrial = z.infer<typeof PermutedTrial>;

/** Some ended trials of a permuted search that has not ended: another worker continues after them. */
export const StoredPermutedTrials = z.object({
  schema_version: z.literal(1),
  job_id: z.string(),
  number: z.int().meta({ description: 'Number of the search' }),
  trials: z.array(PermutedTrial).meta({ description: 'By number' }),
  recorded_at: Timestamp,
});
export type StoredPermutedTrials = z.infer<typeof StoredPermutedTrials>;

const nullable = (description: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${description}; null when undefined` });

/** Overfitting diagnostics of a finished hyperopt job: selecting the best of many trials inflates its metrics. */
export const OverfittingReport = z
  .object({
    trials: z.int().meta({ description: 'Trials of the job, including pruned, failed and repeated ones' }),
    effective_trials: nullable(
      'Number of independent trials they count as, from the mean correlation of their returns',
    ),
    days: z
      .int()
      .meta({ description: 'Days of daily returns: out of sample, or the whole range without ML models' }),
    sharpe_ratio_daily: nullable('Sharpe ratio of the best trial, per day: not annualized'),
    expected_max_sharpe_daily: nullable(
      'Expected best Sharpe ratio of the same number of zero-skill trials, per day',
    ),
    probabilistic_sharpe_ratio: nullable(
      'Probability that the true Sharpe ratio is above 0 if this had been the only trial, 0 to 1',
    ),
    deflated_sharpe_ratio: nullable(
      'Probability that the true Sharpe ratio exceeds the expected best of the same number of zero-skill trials, 0 to 1',
    ),
    min_track_record_days: nullable('Days needed for 95 % confidence in a Sharpe ratio above 0'),
    pbo: z
      .object({
        probability: z.number().meta({
          description: `Probability of backtest overfitting, 0 to 1: share of the splits in which the best trial in sample is at or below the median out of sample. Good below ${OVERFITTING_BOUNDS.pbo.good}, no predictive value above ${OVERFITTING_BOUNDS.pbo.bad}`,
        }),
        loss_probability: z
          .number()
          .meta({ description: 'Share of the splits in which the best trial in sample loses out of sample' }),
        degradation_slope: nullable(
          'Slope of the out-of-sample Sharpe ratio on the in-sample one; below 0: the better in sample, the worse out of sample',
        ),
        blocks: z.int().meta({ description: 'Blocks that the days are cut into' }),
        splits: z.int().meta({ description: 'Ways to choose half of the blocks as in-sample' }),
      })
      .nullable()
      .meta({
        description:
          'Combinatorially symmetric cross-validation (CSCV) of the daily returns of the complete trials; null with too few days or trials',
      }),
    walk_forward_efficiency: nullable(
      'Annualized return out of sample divided by that in sample, of the best trial. Near 1 the return persists; near 0 or below the trial is overfitted',
    ),
    plateau: z
      .object({
        width: z.number().meta({
          description:
            'Distance from the best parameters, as a share of their ranges, within which values stay near the best. Near 0: an isolated peak',
        }),
        trials: z.int().meta({ description: 'Complete trials within that distance' }),
      })
      .nullable()
      .meta({ description: 'Plateau around the best parameters; null with fewer than ten complete trials' }),
  })
  .meta({ id: 'OverfittingReport' });
export type OverfittingReport = z.infer<typeof OverfittingReport>;

/** The best value of a search among the best values of the same search on permuted candles, which have no patterns in time. */
export const SearchPermutations = z
  .object({
    searches: z.int(),
    undefined_searches: z
      .int()
      .meta({ description: 'Searches without a complete trial: they count as worse than the best' }),
    p_value: z.number().nullable().meta({
      'x-unit': 'probability',
      description: 'Share of the permuted searches and the search itself whose best is at least as good',
    }),
    chance: z
      .object({ low: z.number(), median: z.number(), high: z.number() })
      .nullable()
      .meta({ description: 'Quantiles 5 %, 50 % and 95 % of the best values of the permuted searches' }),
    reason: z.string().nullable().meta({ description: 'Why there is no p-value' }),
  })
  .meta({ id: 'SearchPermutations' });
export type SearchPermutations = z.infer<typeof SearchPermutations>;

/** The best of a finished job, and how far it can be believed. */
export const HyperoptOutcome = z.object({
  best_params: TrialParams,
  best_value: z.number(),
  best_trial: z.int(),
  /** Violation of the best trial; absent without constraints. */
  best_violation: z.number().optional(),
  best_trials: z
    .array(z.object({ number: z.int(), value: z.number(), params: TrialParams }))
    .meta({ description: 'The ten best; the earlier of equal ones first' }),
  study_name: z.string(),
  overfitting: OverfittingReport,
  /** Number of different runs among the complete trials; absent in jobs stored before this field existed. */
  distinct_runs: z.int().optional(),
  /** Parameters without effect; absent for none. */
  warnings: z.array(z.string()).optional(),
  /** Absent unless asked for. */
  permutations: SearchPermutations.optional(),
  /** Look-ahead bias check with the parameters of the best trial; absent in jobs stored before this field existed. */
  look_ahead: LookAhead.optional(),
});
export type HyperoptOutcome = z.infer<typeof HyperoptOutcome>;

const hyperoptBase = {
  schema_version: z.literal(3),
  kind: z.literal(STUDY_KIND),
  ...queuedJobFields,
  ...triedJobFields,
  ...retainedJobFields,
  job_id: z.string(),
  owner: z.string(),
  /** Absent: never shared. */
  shared_with: z.array(Grant).optional(),
  revision: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
  experiment_name: z.string().nullable(),
  config: HyperoptJobConfig,
  /** Configuration of every trial, before its own parameters. */
  base: ResolvedBacktestConfig,
  /** Source of the strategy that the request was resolved with; absent in jobs of earlier versions. */
  strategy_digest: z.string().optional(),
  /** Instruments of the pairs at the time of the request; absent without precision. */
  instruments: z.record(z.string(), InstrumentRecord).optional(),
  warnings: z.array(z.string()),
  execution_input: HyperoptExecutionInput,
  /** The latest run in which a trial ended, of a permuted search too; absent until one has. */
  progress_run: z.int().optional(),
  /** Runs in a row in which no trial ended although they had capacity; absent: none. */
  idle_runs: z.int().optional(),
  /** Error of the latest execution whose workers all failed. */
  last_execution_error: z.string().optional(),
  /** Execution whose workers ECS rejected: another would be rejected in the same way. Empty when the latest failed otherwise. */
  rejected_execution: z.string().optional(),
  /** Digest of the request body: distinguishes a repeated request from a reused Idempotency-Key. */
  request_digest: z.string(),
  /** Job that this one resumes: its finished trials are not run again. */
  resumed_from: z.string().nullable(),
  /** Digest of strategy and engine, the same for all trials; absent until a worker has started. */
  code_digest: z.string().optional(),
  /** Digest of the candles that the trials read; absent until a worker has started, and in jobs of earlier versions. */
  data_digest: z.string().optional(),
  collection: CollectionOutcome.nullable(),
  trials: TrialCounts,
  /** Every improvement of the best value, in order; absent before the first, and in jobs of earlier versions. */
  improvements: z.array(Improvement).optional(),
  /** Number of ended searches on permuted candles; absent before the first. */
  permuted_searches: z.int().optional(),
  /** Worker -> its latest task: ARN; in local mode its process. */
  tasks: z.record(z.string(), z.string()),
};

const started = { started_at: Timestamp };
const startedPerhaps = { started_at: Timestamp.optional() };

/** A hyperopt job as stored: one shape per status, each with exactly its own fields. */
export const StoredHyperoptJob = z.discriminatedUnion('status', [
  z.object({ ...hyperoptBase, status: z.literal('pending') }),
  z.object({ ...hyperoptBase, ...started, stalled: z.string().nullish(), status: z.literal('running') }),
  z.object({
    ...hyperoptBase,
    ...started,
    status: z.literal('completed'),
    finished_at: Timestamp,
    outcome: HyperoptOutcome,
  }),
  z.object({
    ...hyperoptBase,
    ...startedPerhaps,
    status: z.literal('failed'),
    finished_at: Timestamp,
    error: z.string(),
    error_code: z.string(),
  }),
  z.object({
    ...hyperoptBase,
    ...startedPerhaps,
    status: z.literal('cancelled'),
    finished_at: Timestamp,
    cancelled_by: z.string().optional(),
  }),
]);
export type StoredHyperoptJob = z.infer<typeof StoredHyperoptJob>;
export type HyperoptJobIn<S extends StoredHyperoptJob['status']> = Extract<StoredHyperoptJob, { status: S }>;
