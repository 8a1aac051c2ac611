import { type ClassifierSettings, DEFAULT_CLASSIFIER_SETTINGS } from '#engine/ml/settings.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';

/** The resolved `ml_engine` of a run: every default is filled in. A run without machine learning has none. */
export interface MlEngineConfig extends Omit<ClassifierSettings, 'kind' | 'seed'> {
  readonly enabled: true;
  /** A model kind or an alias of one, as it was asked for. */
  readonly model_type: string;
  /** Days before a window from which its model learns. */
  readonly train_period_days: number;
  /** Days that one model predicts. */
  readonly backtest_period_days: number;
  /**
   * Probability from which an entry is let through, for strategies that do not read the predictions themselves: a long
   * needs at least this, a short at most 1 less it. Null for those that do.
   */
  readonly entry_threshold: number | null;
}

/** Whole days of both periods, ends included. */
export const PERIOD_LIMITS = {
  train_period_days: { min: 1, max: 730, integer: true },
  backtest_period_days: { min: 1, max: 365, integer: true },
} as const;

/** What a strategy or a submission may say of an {@link MlEngineConfig}. */
export type MlEngineOverrides = Partial<Omit<MlEngineConfig, 'enabled'>>;

const { kind, seed: _, ...CLASSIFIER } = DEFAULT_CLASSIFIER_SETTINGS;

/**
 * What a run has unless the strategy or the submission say otherwise. Candles are mostly noise: trees are kept shallower
 * than elsewhere, and boosting ends when the tail of the training window stops to gain.
 */
const ML_ENGINE_DEFAULTS = {
  ...CLASSIFIER,
  max_depth: 4,
  early_stopping_rounds: 20,
  model_type: kind,
  train_period_days: 30,
  backtest_period_days: 7,
};

const DEFAULT_ENTRY_THRESHOLD = 0.5;

/** The settings of a run: what is given, over what the strategy declares, over the defaults. Values are not checked. */
export function mlEngineOf(
  strategy: Pick<StrategyDefinition, 'mlEngine'>,
  { entry_threshold, ...given }: MlEngineOverrides = {},
): MlEngineConfig {
  return {
    enabled: true,
    ...ML_ENGINE_DEFAULTS,
    ...strategy.mlEngine,
    ...given,
    entry_threshold: strategy.mlEngine ? null : (entry_threshold ?? DEFAULT_ENTRY_THRESHOLD),
  };
}
