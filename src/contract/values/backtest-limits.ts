import { SEED } from './request-limits.ts';

/** Other pairs that a strategy reads. */
export const MAX_INFORMATIVE_PAIRS = 20;

/** Key of trades whose entry has no tag, in tables and filters. */
export const NO_TAG = '(none)';

/** Trades on a stored page, and on one of the full report. */
export const TRADES_PER_PAGE = 1_000;

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

/** `stake_amount` that divides the balance among the open trades. */
export const UNLIMITED_STAKE = 'unlimited';

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
  max_missing: { min: 0, max: 1 },
  priority: { min: 1, max: 10, integer: true },
  /** Characters. */
  experiment_name: { min: 1, max: 200 },
} as const;

/** Ratio of the candles of a series that may be lost in the range of a run. */
export const GAP_TOLERANCE = 0.05;

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

/** Overfitting diagnostics: a value at or beyond `good` is good, at or beyond `bad` bad; see docs/overfitting.md. */
export const OVERFITTING_BOUNDS = {
  deflated_sharpe_ratio: { good: 0.95, bad: 0.9 },
  pbo: { good: 0.1, bad: 0.5 },
  /** Above `max` the return out of sample is too high to be explained by skill. */
  walk_forward_efficiency: { good: 0.5, bad: 0.1, max: 2 },
  plateau_width: { good: 0.1, bad: 0.02 },
  permutations: { good: 0.05, bad: 0.2 },
} as const;
