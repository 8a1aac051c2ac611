import { CodedError } from '#contract/errors.ts';
import { CLASSIFIER_LIMITS, ML_ENGINE_LIMITS, MODEL_ALIASES, MODEL_KINDS } from '#contract/limits.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import { modelKindOf } from '#engine/ml/index.ts';
import { trainingRows } from '#engine/run/history.ts';
import type { DefinitionData } from '#engine/strategies/definition-data.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { LEAST_TRAINING_ROWS } from '#engine/walk-forward/fit-window.ts';
import { type MlEngineOverrides, mlEngineOf } from '#engine/walk-forward/settings.ts';
import { unknownKeyWarnings } from './unknown-keys.ts';
import { checkNumber } from './validate.ts';

/** What a submission says of the ML engine after its JSON types were checked. */
export type MlEngineInput = { readonly enabled?: boolean } & Omit<MlEngineOverrides, 'class_weight'> & {
    readonly class_weight?: number | string;
  };

export const ML_ENGINE_FIELD = 'config.ml_engine';
export const ML_ENGINE_KEYS: readonly string[] = Object.keys(mlEngineOf({}));

/** The ML engine of a run, none where it is not enabled, and what of the submission was ignored. */
export interface ResolvedMl {
  readonly ml_engine?: ResolvedMlEngine;
  readonly warnings: readonly string[];
}

/**
 * Fills in every default of `ml_engine` and checks every value. A strategy that reads predictions always has it.
 * Throws VAL005.
 */
export function resolveMlEngine(
  strategy: Pick<DefinitionData, 'name' | 'mlEngine'>,
  input: MlEngineInput | null | undefined,
  timeframe: Timeframe,
): ResolvedMl {
  const { enabled = input != null || strategy.mlEngine !== undefined, ...given } = input ?? {};
  if (!enabled) return { warnings: refuseWithout(strategy) };
  const config = mlEngineOf(strategy, knownOf(given));
  const warnings = unknownKeyWarnings({ ...given }, ML_ENGINE_KEYS, `${ML_ENGINE_FIELD}.`);
  if (strategy.mlEngine && given.entry_threshold != null) {
    warnings.push(
      `${ML_ENGINE_FIELD}.entry_threshold was ignored: ${strategy.name} reads the predictions itself, see its parameters`,
    );
  }
  return { ml_engine: checkMlEngine(config, timeframe), warnings };
}

function refuseWithout({ name, mlEngine }: Pick<DefinitionData, 'name' | 'mlEngine'>): string[] {
  if (!mlEngine) return [];
  throw new CodedError('VAL005', {
    message: `${ML_ENGINE_FIELD}.enabled must not be false: ${name} trades on predictions`,
    field: `${ML_ENGINE_FIELD}.enabled`,
    context: { value: false, strategy: name },
  });
}

function checkMlEngine(config: ResolvedMlEngine, timeframe: Timeframe): ResolvedMlEngine {
  checkModelType(config.model_type, `${ML_ENGINE_FIELD}.model_type`);
  checkNumber(
    config.train_period_days,
    `${ML_ENGINE_FIELD}.train_period_days`,
    ML_ENGINE_LIMITS.train_period_days,
  );
  checkNumber(
    config.backtest_period_days,
    `${ML_ENGINE_FIELD}.backtest_period_days`,
    ML_ENGINE_LIMITS.backtest_period_days,
  );
  checkTrainingRows(config, timeframe);
  for (const [name, range] of Object.entries(CLASSIFIER_LIMITS)) {
    const value = (config as unknown as Record<string, unknown>)[name];
    if (typeof value === 'number') checkNumber(value, `${ML_ENGINE_FIELD}.${name}`, range);
  }
  checkClassWeight(config.class_weight);
  const { entry_threshold } = config;
  if (entry_threshold !== null) {
    checkNumber(entry_threshold, `${ML_ENGINE_FIELD}.entry_threshold`, { min: 0, max: 1 });
  }
  return config;
}

/** The name, if a classifier of that name can be trained. Throws VAL005 with all names. */
export function checkModelType(name: string, field: string): string {
  if (modelKindOf(name)) return name;
  throw new CodedError('VAL005', {
    message: `${field} must be one of ${MODEL_KINDS.join(', ')}, or an alias: ${Object.keys(MODEL_ALIASES).join(', ')}`,
    field,
    context: { value: name.slice(0, 100), allowed: [...MODEL_KINDS, ...Object.keys(MODEL_ALIASES)] },
  });
}

function checkTrainingRows(config: ResolvedMlEngine, timeframe: Timeframe): void {
  const rows = trainingRows(timeframe, config);
  if (rows >= LEAST_TRAINING_ROWS) return;
  throw new CodedError('VAL005', {
    message: `${ML_ENGINE_FIELD}.train_period_days gives ${rows} candles of ${timeframe} to learn from: a model needs at least ${LEAST_TRAINING_ROWS}`,
    field: `${ML_ENGINE_FIELD}.train_period_days`,
    context: { value: config.train_period_days, timeframe, candles: rows, min_candles: LEAST_TRAINING_ROWS },
  });
}

function checkClassWeight(weight: unknown): void {
  if (typeof weight === 'number' || weight === 'none' || weight === 'balanced') return;
  throw new CodedError('VAL005', {
    message: `${ML_ENGINE_FIELD}.class_weight must be none, balanced or a number`,
    field: `${ML_ENGINE_FIELD}.class_weight`,
    context: { value: String(weight).slice(0, 100), allowed: ['none', 'balanced'] },
  });
}

/** What is given of what is known; a class weight that is none is found by its check. */
function knownOf(given: Omit<MlEngineInput, 'enabled'>): MlEngineOverrides {
  const known = Object.entries(given).filter(
    ([key, value]) => ML_ENGINE_KEYS.includes(key) && value !== undefined,
  );
  return Object.fromEntries(known) as MlEngineOverrides;
}
