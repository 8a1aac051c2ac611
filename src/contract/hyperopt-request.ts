import * as z from 'zod';
import { ACCOUNT_FIELDS, MARKET_FIELDS, Timestamp } from './common.ts';
import { DIRECTIONS, NO_MODEL, PRUNERS, SAMPLERS, SPACES } from './hyperopt.ts';

/** The request of a hyperopt job, its bounds and defaults. */

/** Bounds of a request. The OpenAPI document states them, the use case enforces them. */
export const HYPEROPT_LIMITS = {
  n_trials: { min: 1, max: 10_000, integer: true },
  train_period_days: { min: 1, max: 730, integer: true },
  backtest_period_days: { min: 1, max: 365, integer: true },
  n_estimators: { min: 1, max: 5_000, integer: true },
  learning_rate: { min: 0.0001, max: 1 },
  /** An inline Map of Step Functions runs no more at once. */
  workers: { min: 1, max: 40, integer: true },
  seed: { min: 0, max: 2 ** 32 - 1, integer: true },
  model_types: 20,
  search: 20,
  /** Windows of a trial: their values are in its item of the ledger. */
  windows: 1_000,
} as const;

export const HYPEROPT_DEFAULTS = {
  n_trials: 100,
  train_period_days: 30,
  backtest_period_days: 7,
  objective_metric: 'sharpe_ratio',
  n_estimators_range: [50, 500],
  learning_rate_range: [0.01, 0.3],
  sampler: 'tpe',
  pruner: 'wilcoxon',
  seed: 0,
  workers: 1,
} as const;

const bounds = ({ min, max }: { readonly min: number; readonly max: number }) => ({
  minimum: min,
  maximum: max,
});

export const HyperoptRequest = z
  .looseObject({
    strategy: z
      .string()
      .meta({ description: 'Name of a strategy, see GET /api/v1/strategies of the backend' }),
    pairs: MARKET_FIELDS.pairs,
    timeframe: MARKET_FIELDS.timeframe,
    n_trials: z
      .int()
      .optional()
      .meta({ default: HYPEROPT_DEFAULTS.n_trials, ...bounds(HYPEROPT_LIMITS.n_trials) }),
    train_period_days: z
      .int()
      .optional()
      .meta({
        description: 'Days that each model is trained on',
        default: HYPEROPT_DEFAULTS.train_period_days,
        ...bounds(HYPEROPT_LIMITS.train_period_days),
      }),
    backtest_period_days: z
      .int()
      .optional()
      .meta({
        description:
          'Days that each model is traded for, out of sample, before the next takes over; without models the length of a window',
        default: HYPEROPT_DEFAULTS.backtest_period_days,
        ...bounds(HYPEROPT_LIMITS.backtest_period_days),
      }),
    objective_metric: z.string().optional().meta({
      description: 'A numeric metric of the backtest result or report',
      default: HYPEROPT_DEFAULTS.objective_metric,
    }),
    direction: z
      .string()
      .optional()
      .meta({
        description: 'Default the one in which the metric is better',
        enum: [...DIRECTIONS],
      }),
    model_types: z.array(z.string()).optional().meta({
      description:
        'Kinds of classifier models to choose from: `depthwise_gbdt`, `leafwise_gbdt`, `symmetric_gbdt`, `logistic_regression`, or the names that people bring, in whose style they are, such as `XGBoostClassifier`. Default the three of boosting. `none` alone means the same as `models: none`',
      minItems: 1,
      maxItems: HYPEROPT_LIMITS.model_types,
    }),
    models: z
      .string()
      .optional()
      .meta({
        description:
          '`none`: no models are trained, each trial is a plain backtest with other parameters. Without it models are searched',
        enum: [NO_MODEL],
      }),
    spaces: z
      .array(z.string().meta({ enum: [...SPACES] }))
      .optional()
      .meta({
        description:
          'What is searched: `params` all parameters of the strategy, `stoploss`, `roi` (minimal_roi), `trailing`, `ml` (the model). Without `ml` the model keeps its settings; a strategy that declares no model then runs without one. Default `ml` and what `search` names; with `models: none` `params`. Not together with `search`',
        minItems: 1,
        maxItems: SPACES.length,
        uniqueItems: true,
      }),
    n_estimators_range: z
      .array(z.int())
      .optional()
      .meta({
        description: '[min, max] of the number of trees, whole numbers from 1 to 5,000',
        default: [...HYPEROPT_DEFAULTS.n_estimators_range],
        minItems: 2,
        maxItems: 2,
      }),
    learning_rate_range: z
      .array(z.number())
      .optional()
      .meta({
        description: '[min, max] of the learning rate, from 0.0001 to 1; searched in its logarithm',
        default: [...HYPEROPT_DEFAULTS.learning_rate_range],
        minItems: 2,
        maxItems: 2,
      }),
    search: z
      .record(
        z.string(),
        z.looseObject({
          min: z.number().optional(),
          max: z.number().optional(),
          choices: z.array(z.union([z.number(), z.string(), z.boolean()])).optional(),
        }),
      )
      .optional()
      .meta({
        description:
          'The space `params`, narrowed: parameters of the strategy to search too: name -> `{min, max}` or `{choices}` within what the strategy allows; `{}` searches all of that',
        maxProperties: HYPEROPT_LIMITS.search,
      }),
    date_range: z.looseObject({ start: Timestamp.optional(), end: Timestamp.optional() }).optional().meta({
      description:
        'What is traded, as in a backtest: `start` is the first candle, training data precede it. Default four times backtest_period_days, without models 90 days, that end at the newest stored candle, else now',
    }),
    ...ACCOUNT_FIELDS,
    exchange: MARKET_FIELDS.exchange,
    collect: MARKET_FIELDS.collect,
    sampler: z
      .string()
      .optional()
      .meta({ default: HYPEROPT_DEFAULTS.sampler, enum: [...SAMPLERS] }),
    pruner: z
      .string()
      .optional()
      .meta({
        description: 'What ends a trial whose windows are worse than those of the best',
        default: HYPEROPT_DEFAULTS.pruner,
        enum: [...PRUNERS],
      }),
    seed: z
      .int()
      .optional()
      .meta({
        description: 'The same seed gives the same trials, whatever the number of workers',
        default: HYPEROPT_DEFAULTS.seed,
        ...bounds(HYPEROPT_LIMITS.seed),
      }),
    workers: z
      .int()
      .optional()
      .meta({
        description:
          'Machines, or processes on one machine, that run trials; at most a tenth of n_trials run at once',
        default: HYPEROPT_DEFAULTS.workers,
        ...bounds(HYPEROPT_LIMITS.workers),
      }),
    experiment_name: z.string().optional().meta({
      description: 'Stored, returned, the study_name, and a filter of the list',
      minLength: 1,
      maxLength: 200,
    }),
  })
  .meta({
    id: 'HyperoptRequest',
    description:
      'Only `strategy` is required. Unknown keys are ignored and named in the warnings of the job.',
    examples: [
      { strategy: 'ml_classifier' },
      { strategy: 'ema_crossover', models: 'none', spaces: ['params', 'stoploss', 'roi', 'trailing'] },
      {
        strategy: 'ml_classifier',
        pairs: ['BTC/USDT:USDT'],
        timeframe: '5m',
        n_trials: 100,
        train_period_days: 30,
        backtest_period_days: 7,
        objective_metric: 'sharpe_ratio',
        direction: 'maximize',
        model_types: ['XGBoostClassifier', 'LightGBMClassifier'],
        n_estimators_range: [50, 300],
        learning_rate_range: [0.01, 0.3],
      },
    ],
  });
export type HyperoptRequest = z.infer<typeof HyperoptRequest>;
