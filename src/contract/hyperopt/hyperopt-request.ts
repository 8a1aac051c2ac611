import * as z from 'zod';
import type { Immutable } from '../common/immutable.ts';
import { Timestamp } from '../common/time.ts';
import { ACCOUNT_FIELDS, ExperimentName, MARKET_FIELDS, Seed } from '../config/run-fields.ts';
import { BACKTEST_DEFAULTS } from '../values/backtest-limits.ts';
import { bounds } from '../values/bounds.ts';
import {
  DIRECTIONS,
  HYPEROPT_DEFAULTS,
  HYPEROPT_LIMITS,
  NO_MODEL,
  PRUNERS,
  SAMPLERS,
  SPACES,
} from '../values/hyperopt-limits.ts';
import { MODEL_ALIASES, MODEL_KINDS } from '../values/model-limits.ts';

/** The request of a hyperopt job, its bounds and defaults. */

export { HYPEROPT_DEFAULTS, HYPEROPT_LIMITS } from '../values/hyperopt-limits.ts';

export const HyperoptRequest = z
  .looseObject({
    strategy: z
      .string()
      .meta({ description: 'Name of a strategy, see GET /api/v1/strategies of the backend' }),
    ...MARKET_FIELDS,
    n_trials: z
      .int()
      .optional()
      .meta({
        description: 'Number of trials; with sampler `grid` by default the number of its points',
        default: HYPEROPT_DEFAULTS.n_trials,
        ...bounds(HYPEROPT_LIMITS.n_trials),
      }),
    train_period_days: z
      .int()
      .optional()
      .meta({
        description: 'Training window of each model, days',
        default: HYPEROPT_DEFAULTS.train_period_days,
        ...bounds(HYPEROPT_LIMITS.train_period_days),
      }),
    backtest_period_days: z
      .int()
      .optional()
      .meta({
        description: 'Out-of-sample days per window. Each window has a model of its own',
        default: HYPEROPT_DEFAULTS.backtest_period_days,
        ...bounds(HYPEROPT_LIMITS.backtest_period_days),
      }),
    objective_metric: z.string().optional().meta({
      description:
        'Metric of the backtest result or report, or an expression of such with `direction`: numbers, + - * /, parentheses, min max abs sqrt log, at most 500 characters',
      default: HYPEROPT_DEFAULTS.objective_metric,
    }),
    direction: z
      .string()
      .optional()
      .meta({
        description: 'Default: the direction in which the metric improves; required for an expression',
        enum: [...DIRECTIONS],
      }),
    constraints: z
      // The use case checks the entries and names the field: a list of maps in a union is none that Java compiles.
      .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .optional()
      .meta({
        description: `Limits that the best trial keeps: \`{min_trades, max_drawdown_pct, min_profit_factor}\`, each above 0, or up to ${HYPEROPT_LIMITS.constraints.max} of \`{metric, min?, max?}\`. Without a feasible trial the one that misses least is the best`,
      }),
    model_types: z
      .array(z.string())
      .optional()
      .meta({
        description: `Classifier kinds to choose from: ${MODEL_KINDS.join(', ')}, or the aliases ${Object.keys(MODEL_ALIASES).join(', ')}. \`${NO_MODEL}\` only means the same as \`models: ${NO_MODEL}\``,
        default: HYPEROPT_DEFAULTS.model_types,
        minItems: HYPEROPT_LIMITS.model_types.min,
        maxItems: HYPEROPT_LIMITS.model_types.max,
      }),
    models: z
      .string()
      .optional()
      .meta({
        description:
          '`none`: train no models; each trial is a plain backtest with other parameters. Default: search models',
        enum: [NO_MODEL],
      }),
    spaces: z
      .array(z.string().meta({ enum: [...SPACES] }))
      .optional()
      .meta({
        description:
          'Search spaces: `params` (all parameters of the strategy), `stoploss`, `roi` (minimal_roi), `trailing`, `ml` (the model). Without `ml` the model keeps its settings; a strategy that declares no model runs without one. Default: `ml` and the parameters in `search`; with `models: none`: `params`. Not together with `search`',
        minItems: 1,
        maxItems: SPACES.length,
        uniqueItems: true,
      }),
    n_estimators_range: z
      .array(z.int().meta(bounds(HYPEROPT_LIMITS.n_estimators)))
      .optional()
      .meta({
        description: '[min, max] of the number of trees',
        default: [...HYPEROPT_DEFAULTS.n_estimators_range],
        minItems: 2,
        maxItems: 2,
      }),
    learning_rate_range: z
      .array(z.number().meta(bounds(HYPEROPT_LIMITS.learning_rate)))
      .optional()
      .meta({
        description: '[min, max] of the learning rate, searched on a logarithmic scale',
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
          step: z.number().optional(),
          choices: z.array(z.union([z.number(), z.string(), z.boolean()])).optional(),
        }),
      )
      .optional()
      .meta({
        description:
          'Parameters of the strategy to search: name -> `{min, max}` or `{choices}` within the range of the strategy; `{}`: the whole range. With sampler `grid` also `step`: 1 by default for integers, required for numbers; the first parameter varies slowest',
        maxProperties: HYPEROPT_LIMITS.search.max,
      }),
    date_range: z
      .looseObject({ start: Timestamp.optional(), end: Timestamp.optional() })
      .optional()
      .meta({
        description: `Traded interval, at most ${HYPEROPT_LIMITS.windows.max} windows: \`start\` is the first traded candle; training data precede it. Default: ${HYPEROPT_DEFAULTS.windows} times backtest_period_days (without models ${BACKTEST_DEFAULTS.date_range_days} days) up to the newest stored candle, else now`,
      }),
    ...ACCOUNT_FIELDS,
    sampler: z
      .string()
      .optional()
      .meta({
        description: 'Sampler of the trial parameters; `grid`: every combination of `search`, at most 10,000',
        default: HYPEROPT_DEFAULTS.sampler,
        enum: [...SAMPLERS],
      }),
    pruner: z
      .string()
      .optional()
      .meta({
        description: 'Test that stops a trial whose windows are worse than those of the best',
        default: HYPEROPT_DEFAULTS.pruner,
        enum: [...PRUNERS],
      }),
    seed: Seed.meta({
      description: 'Seed of the sampler. The same seed gives the same trials for any number of workers',
    }),
    workers: z
      .int()
      .optional()
      .meta({
        description:
          'Tasks that run trials (local mode: processes). At most a tenth of n_trials run concurrently',
        default: HYPEROPT_DEFAULTS.workers,
        ...bounds(HYPEROPT_LIMITS.workers),
      }),
    permutations: z
      .int()
      .optional()
      .meta({
        description: `Repeat the whole search on that many permutations of the candles, for the p-value of its best trial. Each costs as much as the search. At most ${HYPEROPT_LIMITS.permuted_trials.max} trials together; not with models, timeframe_detail or informative candles of their own. Default: none`,
        ...bounds(HYPEROPT_LIMITS.permutations),
      }),
    experiment_name: ExperimentName.meta({
      description: 'The study_name, and a name for filtering the list',
    }),
  })
  .meta({
    id: 'HyperoptRequest',
    description: 'Only `strategy` is required. Unknown keys are ignored; the warnings of the job list them.',
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
export type HyperoptRequest = Immutable<z.infer<typeof HyperoptRequest>>;
