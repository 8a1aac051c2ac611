import { MlEngineRequest, type ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import type { NumberBounds } from '#contract/values/bounds.ts';
import { CodedError } from '#contract/values/errors.ts';
import {
  CLASS_WEIGHTS,
  CLASSIFIER_LIMITS,
  ML_ENGINE_LIMITS,
  MODEL_ALIASES,
  MODEL_KINDS,
} from '#contract/values/model-limits.ts';
import type { Timeframe } from '#contract/values/timeframes.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { MIN_TRAINING_ROWS } from '#engine/ml/fit-window.ts';
import { modelKindOf } from '#engine/ml/settings.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { trainingRows } from '#engine/run/history.ts';
import type { MlEngineOverrides } from '#engine/strategy.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber } from '../shared/validate.ts';

export const ML_ENGINE_FIELD = 'config.ml_engine';
export const ML_ENGINE_KEYS = Object.keys(MlEngineRequest.shape);

const { seed: _, ...CLASSIFIER } = CLASSIFIER_LIMITS;
const LIMITS = { ...ML_ENGINE_LIMITS, ...CLASSIFIER };

/**
 * Checks every setting of `ml_engine` and fills in its default. A strategy that reads predictions always has it.
 * `ml_engine` is undefined for a run without models. Throws VAL005.
 */
export function resolveMlEngine(
  strategy: Pick<DefinitionData, 'name' | 'mlEngine'>,
  input: MlEngineRequest | undefined,
  timeframe: Timeframe,
): { ml_engine?: ResolvedMlEngine; warnings: string[] } {
  const { enabled = input !== undefined || strategy.mlEngine !== undefined } = input ?? {};
  if (!enabled) {
    if (strategy.mlEngine)
      throw invalid('enabled', `must not be false: ${strategy.name} trades on predictions`, {
        value: false,
        strategy: strategy.name,
      });
    return { warnings: [] };
  }
  const ml_engine = mlEngineOf(strategy, settingsOf(input ?? {}));
  checkModelType(ml_engine.model_type, `${ML_ENGINE_FIELD}.model_type`);
  for (const [name, limits] of Object.entries<NumberBounds>(LIMITS)) {
    const value = ml_engine[name as keyof typeof LIMITS];
    if (typeof value === 'number') checkNumber(value, `${ML_ENGINE_FIELD}.${name}`, limits);
  }
  checkTrainingRows(ml_engine, timeframe);
  const warnings = unknownKeyWarnings(input ?? {}, ML_ENGINE_KEYS, `${ML_ENGINE_FIELD}.`);
  if (strategy.mlEngine && input?.entry_threshold !== undefined) {
    warnings.push(
      `${ML_ENGINE_FIELD}.entry_threshold was ignored: ${strategy.name} reads the predictions itself, see its parameters`,
    );
  }
  return { ml_engine, warnings };
}

/** The known settings that are given. */
function settingsOf({ enabled: _, class_weight, ...given }: MlEngineRequest): MlEngineOverrides {
  const known = Object.entries(given).filter(
    ([key, value]) => ML_ENGINE_KEYS.includes(key) && value !== undefined,
  );
  return {
    ...Object.fromEntries(known),
    ...(class_weight !== undefined && { class_weight: checkClassWeight(class_weight) }),
  };
}

function checkClassWeight(weight: number | string): ResolvedMlEngine['class_weight'] {
  const name = CLASS_WEIGHTS.find((each) => each === weight);
  if (name) return name;
  if (typeof weight === 'number') return weight;
  throw invalid('class_weight', `must be ${CLASS_WEIGHTS.join(', ')} or a number`, {
    value: weight.slice(0, 100),
    allowed: CLASS_WEIGHTS,
  });
}

/** The name, if a classifier of that name can be trained. Throws VAL005 with all names. */
export function checkModelType(name: string, field: string): string {
  if (modelKindOf(name)) return name;
  const aliases = Object.keys(MODEL_ALIASES);
  throw new CodedError('VAL005', {
    message: `${field} must be one of ${MODEL_KINDS.join(', ')}, or an alias: ${aliases.join(', ')}`,
    field,
    context: { value: name.slice(0, 100), allowed: [...MODEL_KINDS, ...aliases] },
  });
}

function checkTrainingRows(config: ResolvedMlEngine, timeframe: Timeframe): void {
  const candles = trainingRows(timeframe, config);
  if (candles >= MIN_TRAINING_ROWS) return;
  throw invalid(
    'train_period_days',
    `gives ${candles} candles of ${timeframe} to learn from: a model needs at least ${MIN_TRAINING_ROWS}`,
    { value: config.train_period_days, timeframe, candles, min_candles: MIN_TRAINING_ROWS },
  );
}

function invalid(name: string, problem: string, context: Readonly<Record<string, unknown>>): CodedError {
  const field = `${ML_ENGINE_FIELD}.${name}`;
  return new CodedError('VAL005', { message: `${field} ${problem}`, field, context });
}
