import type { NumberBounds } from './bounds.ts';
import { SEED } from './request-limits.ts';

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
