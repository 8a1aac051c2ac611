/**
 * Bounds, enumerations and defaults of a backtest request, each stated once: the schemas, the domain's checks, the engine and the
 * CLI read them here.
 */

/** Bounds of a number, both included unless `aboveMin` or `belowMax` excludes one. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  readonly aboveMin?: boolean;
  readonly belowMax?: boolean;
  readonly integer?: boolean;
}

/** JSON Schema keywords of bounds. */
export function bounds({ min, max, aboveMin, belowMax }: NumberBounds) {
  return {
    ...(aboveMin ? { exclusiveMinimum: min } : { minimum: min }),
    ...(belowMax ? { exclusiveMaximum: max } : { maximum: max }),
  };
}

/** Timeframes of every strategy, which data collection fetches. */
export const TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
/** All timeframes, ascending. The others are read by strategies that declare them; collections do not fetch them. */
export const ALL_TIMEFRAMES = [
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '6h',
  '8h',
  '12h',
  '1d',
  '3d',
  '1w',
] as const;
export type Timeframe = (typeof ALL_TIMEFRAMES)[number];

/** Other pairs that a strategy reads. */
export const MAX_INFORMATIVE_PAIRS = 20;

export const MAX_SYMBOL_LENGTH = 50;

/** `sim`, or the key of an exchange in ccxt. */
export const EXCHANGE_KEY = /^[a-z0-9]{1,40}$/;

export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BACKTEST_ID_PREFIX = 'bt-';
export const HYPEROPT_ID_PREFIX = 'ho-';

/** Key of trades whose entry has no tag, in tables and filters. */
export const NO_TAG = '(none)';

/** Trades on a stored page, and on one of the full report. */
export const TRADES_PER_PAGE = 1_000;
/** Largest body of a response, bytes as a string of JSON. The whole response of a function has 6 MB at most. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

/** Trades on a page of their list. */
export const TRADES_LIMITS = { min: 1, max: 5_000, default: 1_000 } as const;

/** Points of an equity curve. */
export const CURVE_LIMITS = { min: 10, max: 20_000, default: 5_000 } as const;

export const COLLECT_MODES = ['never', 'if_stale', 'always'] as const;
export const PRECISIONS = ['exchange', 'none'] as const;
export type Precision = (typeof PRECISIONS)[number];
/** Assumptions about fills inside a candle: docs/simulation.md#fill-models. */
export const FILL_MODELS = ['freqtrade', 'conservative'] as const;
export type FillModel = (typeof FILL_MODELS)[number];

/** Ids of hyperopt jobs. */
export const HYPEROPT_JOB_ID = /^ho-[A-Za-z0-9]{1,64}$/;

/** `stake_amount` that divides the balance among the open trades. */
export const UNLIMITED_STAKE = 'unlimited';

const SEED = { min: 0, max: 2 ** 32 - 1, integer: true } as const;

export const BACKTEST_LIMITS = {
  /** Number of pairs. */
  pairs: { min: 1, max: 200 },
  stake_amount: { min: 0, aboveMin: true, max: 1e12 },
  dry_run_wallet: { min: 0, aboveMin: true, max: 1e12 },
  max_open_trades: { min: 1, max: 1000, integer: true },
  fee: { min: 0, max: 0.1 },
  slippage: { min: 0, max: 0.1 },
  leverage: { min: 1, max: 125 },
  stoploss: { min: -1, aboveMin: true, max: 0, belowMax: true },
  minimal_roi: {
    steps: 50,
    minutes: { min: 0, max: 10 * 525_600, integer: true },
    ratio: { min: -1, max: 1000 },
  },
  trailing: {
    positive: { min: 0, aboveMin: true, max: 1 },
    offset: { min: 0, max: 10 },
  },
  seed: SEED,
  priority: { min: 1, max: 10, integer: true },
  /** Characters. */
  experiment_name: { min: 1, max: 200 },
} as const;

export const BACKTEST_DEFAULTS = {
  trading_mode: 'futures',
  date_range_days: 90,
  dry_run_wallet: 1000,
  fee: 0.0005,
  slippage: 0,
  leverage: 1,
  trailing: { offset: 0, only_offset_is_reached: false },
  fill_model: 'freqtrade',
  seed: 0,
  collect: 'if_stale',
  priority: 5,
} as const;

/** What a user may write on a job. */
export const ANNOTATION_LIMITS = {
  /** Characters. */
  notes: 2_000,
  /** Number of tags, and characters of one. */
  tags: 20,
  tag: 50,
} as const;

export const JOB_LIST_LIMITS = {
  /** Newest jobs that a sorted or searched list covers. */
  searched: 2_000,
  /** Highest number that a list counts to. */
  counted: 1_000,
  /** Characters of the words to search for. */
  q: { min: 1, max: 200 },
} as const;

/** Lists of MLflow's API. */
export const MLFLOW_LIMITS = {
  max_results: { min: 1, max: 50_000, default: 100 },
  /** Largest page of runs: each is read whole. A longer list has further pages. */
  runs: 200,
  /** Newest experiments that lists cover. */
  experiments: 1_000,
  /** Characters of a filter. */
  filter: { max: 6_000 },
  order_by: { max: 10 },
  /** Experiments whose jobs are listed one by one; for more, all jobs are listed. */
  listed_experiments: 10,
} as const;

/** Event stream of jobs. */
export const WATCH_LIMITS = {
  /** Unfinished jobs that a stream follows, which its event IDs name: 7 KB at most, of the 10 KB of headers of API Gateway. */
  followed: 100,
  /** Newest collections that are looked through for unfinished ones, of which there are 20 at most. */
  collections: 20,
} as const;

/** Items of each part of the overview. */
export const OVERVIEW_LIMITS = {
  /** Unfinished jobs of a kind that are read: each costs a read unit or two. */
  unfinished: 100,
  moving: 50,
  ended: 10,
  collections: 50,
  production: 20,
  challenges: 20,
  worst: 5,
} as const;

/** Number of values of a sparkline. */
export const SPARKLINE_LENGTH = 32;

/** Jobs from this priority on run on on-demand capacity instead of Spot. */
export const ON_DEMAND_PRIORITY = 8;

export const MODEL_KINDS = [
  'depthwise_gbdt',
  'leafwise_gbdt',
  'symmetric_gbdt',
  'logistic_regression',
] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/** Names of other libraries, accepted in any case, and the kind with the same tree growth policy. */
export const MODEL_ALIASES = {
  xgboost: 'depthwise_gbdt',
  XGBoostClassifier: 'depthwise_gbdt',
  lightgbm: 'leafwise_gbdt',
  LightGBMClassifier: 'leafwise_gbdt',
  catboost: 'symmetric_gbdt',
  CatboostClassifier: 'symmetric_gbdt',
} as const satisfies Readonly<Record<string, ModelKind>>;

export const CLASS_WEIGHTS = ['none', 'balanced'] as const;

/** Bounds of the settings of a classifier. */
export const CLASSIFIER_LIMITS = {
  n_estimators: { min: 1, max: 5000, integer: true },
  learning_rate: { min: 0.0001, max: 1 },
  max_depth: { min: 1, max: 10, integer: true },
  max_leaves: { min: 2, max: 1024, integer: true },
  max_bins: { min: 2, max: 255, integer: true },
  l2: { min: 0, max: 1e6 },
  min_child_weight: { min: 0, max: 1e6 },
  gamma: { min: 0, max: 1e6 },
  subsample: { min: 0.05, max: 1 },
  column_sample: { min: 0.05, max: 1 },
  early_stopping_rounds: { min: 0, max: 1000, integer: true },
  validation_fraction: { min: 0.05, max: 0.5 },
  /** Bounds of a `class_weight` that is a number. */
  class_weight: { min: 0.001, max: 1000 },
  seed: SEED,
} as const satisfies Readonly<Record<string, NumberBounds>>;

/** Bounds of the other settings of `ml_engine`. */
export const ML_ENGINE_LIMITS = {
  train_period_days: { min: 1, max: 730, integer: true },
  backtest_period_days: { min: 1, max: 365, integer: true },
  entry_threshold: { min: 0, max: 1 },
} as const satisfies Readonly<Record<string, NumberBounds>>;

/**
 * Settings of `ml_engine` that neither the request nor the strategy declares. Candles are mostly noise, so trees are shallow and
 * boosting stops early.
 */
export const ML_ENGINE_DEFAULTS = {
  n_estimators: 100,
  learning_rate: 0.1,
  max_depth: 4,
  max_leaves: 31,
  max_bins: 64,
  l2: 1,
  min_child_weight: 1,
  gamma: 0,
  subsample: 1,
  column_sample: 1,
  early_stopping_rounds: 20,
  validation_fraction: 0.2,
  class_weight: 'none',
  model_type: 'depthwise_gbdt',
  train_period_days: 30,
  backtest_period_days: 7,
  entry_threshold: 0.5,
} as const;

/** Characters of a comment, reason or note that goes into a history. */
export const MAX_NOTE_LENGTH = 2000;
/** Characters of the key of a client's signal or position. */
export const MAX_ASSIGNMENT_KEY_LENGTH = 256;

export const CHALLENGE_LIMITS = {
  min_trades: { min: 1, max: 1_000_000, integer: true },
  max_duration_hours: { min: 1, max: 8760, integer: true },
  max_drawdown_pct: { min: 0, aboveMin: true, max: 1_000_000 },
  max_errors: { min: 1, max: 1_000_000, integer: true },
} as const satisfies Readonly<Record<string, NumberBounds>>;

export const CHALLENGE_DEFAULTS = {
  min_trades: 100,
  max_duration_hours: 168,
  enable_canary: true,
  analysis_unit: 'trade',
  on_rollback: 'finish',
  auto_promote: false,
} as const;

export const TRADE_SIDES = ['long', 'short'] as const;
export const TRADE_MODES = ['live', 'paper'] as const;

/** Bounds of a trade that is posted to a challenge. */
export const TRADE_LIMITS = {
  /** The minimum is a loss of the whole position: -100 times the leverage. */
  profit_pct: { min: -100, max: 1e6 },
  leverage: { min: 0, aboveMin: true, max: 1000 },
  /** Amounts in quote currency. */
  amount: { min: -1e15, max: 1e15 },
  /** Trades of one request. */
  trades: 100,
  /** Characters. */
  trade_id: 128,
  exit_reason: 200,
  exchange: 40,
  error_message: 500,
  time: 40,
} as const;

/** Bounds of a registration: characters, and the number of tags. */
export const REGISTRATION_LIMITS = {
  container_image_uri: 500,
  description: 1000,
  tags: 20,
  /** With key and value, such as an address of a pipeline: the catalog has all tags of a version three times. */
  tag: 250,
} as const;

/** Aliases of a model that users set, and characters of one. */
export const ALIAS_LIMITS = { aliases: 20, alias: 100 } as const;

/** Characters of a model name in a path, and of a challenge ID in a promotion. */
export const MAX_ID_LENGTH = 100;

export const COLLECTION_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

export const COLLECTION_LIMITS = {
  symbols: { min: 1, max: 200 },
  /** Maximum of waiting and running collections. They run one at a time, because exchanges count requests per address. */
  unfinished: 20,
  /** Collections read for a page that is filtered by status. */
  read: 500,
} as const;

/**
 * Maximum stored gaps of a month and of a series; the longest are kept. A gap takes 20 bytes: ten years of months with this many
 * take 65 KB. The limit of an item is 400 KB.
 */
export const GAP_LIMITS = { month: 20, series: 40 } as const;

/** Requirements for the decision PROMOTE of a comparison. */
export const COMPARISON_MINIMUMS = {
  /** Improvement of the Sharpe ratio, percent. */
  sharpe_improvement_pct: 10,
  /** Trades of the challenger. */
  trades: 100,
  confidence: 0.8,
} as const;

/** Staging warns beyond these values. A requirement of the release policy replaces the value. */
export const STAGING_WARNINGS = {
  /** Minimum trades for a meaningful result. */
  min_trades: 100,
  /** Maximum days since the end of the candles: markets change. */
  max_age_days: 90,
} as const;

export const OHLCV_LIMITS = { limit: { min: 1, max: 10_000, integer: true } } as const;
export const OHLCV_DEFAULTS = { limit: 1000 } as const;
/** Stored candles read for a page of computed ones: 25 MB in memory. */
export const MAX_CANDLES_READ = 500_000;

export const AUDIT_LIMITS = {
  days: 31,
  /** Maximum calls read per request, before filters: about 2 MB, less than 1 s. */
  read: 2_000,
} as const;
export const AUDIT_DEFAULTS = { days: 7 } as const;

/** Items on a page of a list. */
export const PAGE_LIMITS = { min: 1, max: 100, default: 20 } as const;

/** Symbols of a page of coverage. */
export const COVERAGE_LIMITS = { min: 1, max: 200, default: 50 } as const;
/** Months of a page of coverage: 2 MB of JSON. A function behind API Gateway responds with up to 6 MB. */
export const MAX_COVERAGE_MONTHS = 20_000;

/** Evaluations of a challenge on a page: a challenge of 100,000 trades has less than 1,000. */
export const EVALUATION_PAGE_LIMITS = { min: 1, max: 1_000, default: 1_000 } as const;

/** Bounds of command line options that no request has. */
export const CLI_LIMITS = {
  /** Times at which `check` removes later candles. */
  cuts: { min: 1, max: 1_000, default: 20 },
  /** Seed of the simulated candles and the cuts of `check`. */
  check_seed: { min: 0, max: 1_000_000, default: 1 },
  /** Entries that `audit` prints; several pages. */
  audit_entries: { min: 1, max: 1_000, default: 20 },
  token_minutes: { min: 1, max: 1_440, default: 60 },
} as const;

/** Overfitting diagnostics: a value at or beyond `good` is good, at or beyond `bad` bad; see docs/overfitting.md. */
export const OVERFITTING_BOUNDS = {
  deflated_sharpe_ratio: { good: 0.95, bad: 0.9 },
  pbo: { good: 0.1, bad: 0.5 },
  /** Above `max` the return out of sample is too high to be explained by skill. */
  walk_forward_efficiency: { good: 0.5, bad: 0.1, max: 2 },
  plateau_width: { good: 0.1, bad: 0.02 },
  permutations: { good: 0.05, bad: 0.2 },
} as const;

/** Bounds of the requirements of a release policy. */
export const POLICY_LIMITS = {
  minTrades: { min: 1, max: 1_000_000, integer: true },
  minDays: { min: 1, max: 10_000, integer: true },
  maxEvidenceAgeDays: { min: 1, max: 10_000, integer: true },
  minSharpe: { min: -1e6, max: 1e6 },
  minProfitFactor: { min: 0, max: 1e6 },
  maxDrawdown: { min: -1e6, max: 1e6 },
  minDeflatedSharpe: { min: 0, max: 1 },
} as const satisfies Readonly<Record<string, NumberBounds>>;

/** In place of a number of assignments of each variant of a challenge: as many as the closed trades that it needs. */
export const MIN_TRADES = 'min_trades';
