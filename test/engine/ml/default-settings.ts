import type { ClassifierSettings } from '#engine/ml/settings.ts';

/** Settings of a classifier in tests and benches; a run's defaults are in `ML_ENGINE_DEFAULTS`. */
export const DEFAULT_CLASSIFIER_SETTINGS: ClassifierSettings = {
  kind: 'depthwise_gbdt',
  n_estimators: 100,
  learning_rate: 0.1,
  max_depth: 6,
  max_leaves: 31,
  max_bins: 64,
  l2: 1,
  min_child_weight: 1,
  gamma: 0,
  subsample: 1,
  column_sample: 1,
  early_stopping_rounds: 0,
  validation_fraction: 0.2,
  class_weight: 'none',
  seed: 1,
};
