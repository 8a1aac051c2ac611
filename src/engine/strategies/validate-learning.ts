import { ML_ENGINE_LIMITS, MODEL_ALIASES, MODEL_KINDS } from '#contract/limits.ts';
import { classifierSettingProblems, modelKindOf } from '../ml/index.ts';
import { nearestName } from '../nearest-name.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { type MlEngineOverrides, mlEngineOf } from '../walk-forward/settings.ts';

/** The gate is not for strategies with settings of their own, which read the predictions themselves. */
const SETTINGS = Object.keys(mlEngineOf({})).filter(
  (name) => name !== 'enabled' && name !== 'entry_threshold',
);

/** What is wrong with what a definition says of models, as sentences that begin with the field. */
export function learningProblems(
  definition: Pick<StrategyDefinition, 'mlFeatures' | 'mlLabel' | 'mlEngine'>,
): string[] {
  const { mlEngine } = definition;
  const problems: string[] = [];
  for (const name of ['mlFeatures', 'mlLabel'] as const) {
    const given = definition[name];
    if (given !== undefined && typeof given !== 'function') problems.push(`${name} must be a function`);
  }
  if (mlEngine === undefined) return problems;
  if (typeof mlEngine !== 'object' || mlEngine === null) return [...problems, 'mlEngine must be an object'];
  return [...problems, ...settingProblems(mlEngine).map((problem) => `mlEngine.${problem}`)];
}

function settingProblems(settings: MlEngineOverrides): string[] {
  const unknown = Object.keys(settings).filter((key) => !SETTINGS.includes(key));
  if (unknown.length > 0) {
    return unknown.map((key) => {
      const nearest = nearestName(key, SETTINGS);
      return `${key} is not known${nearest ? `; did you mean ${nearest}?` : ''}`;
    });
  }
  const { enabled: _, model_type, entry_threshold, ...resolved } = mlEngineOf({}, settings);
  const kind = typeof model_type === 'string' ? modelKindOf(model_type) : undefined;
  const { train_period_days, backtest_period_days, ...classifier } = resolved;
  const periods = Object.entries({ train_period_days, backtest_period_days } as const);
  return [
    ...(kind
      ? []
      : [`model_type must be one of ${[...MODEL_KINDS, ...Object.keys(MODEL_ALIASES)].join(', ')}`]),
    ...periods.flatMap(([name, days]) => {
      const { min, max } = ML_ENGINE_LIMITS[name as keyof typeof ML_ENGINE_LIMITS];
      const isSound = Number.isInteger(days) && days >= min && days <= max;
      return isSound ? [] : [`${name} must be an integer from ${min} to ${max} (days)`];
    }),
    ...classifierSettingProblems({ ...classifier, kind: kind ?? MODEL_KINDS[0], seed: 0 }).map(
      ({ message }) => message,
    ),
  ];
}
