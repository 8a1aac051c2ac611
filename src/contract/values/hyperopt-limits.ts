import { BACKTEST_DEFAULTS, BACKTEST_LIMITS } from './backtest-limits.ts';
import { CLASSIFIER_LIMITS, ML_ENGINE_DEFAULTS, ML_ENGINE_LIMITS, MODEL_KINDS } from './model-limits.ts';

/** Bounds, enumerations and defaults of hyperopt requests. Without zod, so that the CLI starts fast. */

export const DIRECTIONS = ['maximize', 'minimize'] as const;
/** Direction of optimization. */
export type Direction = (typeof DIRECTIONS)[number];
export const SAMPLERS = ['tpe', 'random', 'grid'] as const;
export type Sampler = (typeof SAMPLERS)[number];
export const PRUNERS = ['wilcoxon', 'median', 'none'] as const;
export type Pruner = (typeof PRUNERS)[number];

/** Search spaces: parameters of the strategy, stop, ROI table, trailing stop, model. */
export const SPACES = ['params', 'stoploss', 'roi', 'trailing', 'ml'] as const;
export type Space = (typeof SPACES)[number];
/** The `model_type` of a hyperopt job that trains no models. */
export const NO_MODEL = 'none';

export const TRIAL_STATES = ['running', 'complete', 'pruned', 'failed'] as const;
export type TrialState = (typeof TRIAL_STATES)[number];

const { train_period_days, backtest_period_days } = ML_ENGINE_LIMITS;
const { n_estimators, learning_rate } = CLASSIFIER_LIMITS;

export const HYPEROPT_LIMITS = {
  train_period_days,
  backtest_period_days,
  n_estimators,
  learning_rate,
  n_trials: { min: 1, max: 10_000, integer: true },
  /** Maximum concurrency of an inline Map of Step Functions. */
  workers: { min: 1, max: 40, integer: true },
  seed: BACKTEST_LIMITS.seed,
  /** Number of models. */
  model_types: { min: 1, max: 20 },
  /** Points of a grid. */
  grid: { min: 1, max: 10_000, integer: true },
  /** Number of constraints. */
  constraints: { min: 0, max: 20 },
  /** Number of parameters. */
  search: { min: 0, max: 20 },
  /** Fewer searches on permuted candles cannot give a p-value of 5 %. */
  permutations: { min: 19, max: 200, integer: true },
  /** Trials of all permuted searches together. */
  permuted_trials: { min: 1, max: 50_000, integer: true },
  /** Windows per trial: their values are stored in the trial's item. */
  windows: { min: 1, max: 1_000 },
} as const;

/** Constraints by a name of their own: metric, and whether the limit is the lowest or the highest value. */
export const NAMED_CONSTRAINTS = {
  min_trades: { metric: 'total_trades', bound: 'min' },
  max_drawdown_pct: { metric: 'max_drawdown_pct', bound: 'max' },
  min_profit_factor: { metric: 'profit_factor', bound: 'min' },
} as const;

/** True when trees that grow by depth and by leaf are the same: the leaves suffice for every split down to the depth. */
export function growsSameTrees(settings: {
  readonly max_depth: number;
  readonly max_leaves: number;
}): boolean {
  return 2 ** settings.max_depth <= settings.max_leaves;
}

export const HYPEROPT_DEFAULTS = {
  n_trials: 100,
  train_period_days: ML_ENGINE_DEFAULTS.train_period_days,
  backtest_period_days: ML_ENGINE_DEFAULTS.backtest_period_days,
  /** Windows of the default date range when models are trained. */
  windows: 4,
  /** Kinds with trees: the baseline `logistic_regression` has none. */
  model_types: MODEL_KINDS.filter((kind) => kind !== 'logistic_regression'),
  objective_metric: 'sharpe_ratio',
  n_estimators_range: [50, 500],
  learning_rate_range: [0.01, 0.3],
  sampler: 'tpe',
  pruner: 'wilcoxon',
  seed: BACKTEST_DEFAULTS.seed,
  workers: 1,
} as const;
