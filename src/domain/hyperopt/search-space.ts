import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { SearchedParameter, StudyConfig, TrialParams } from '#contract/hyperopt.ts';
import { modelKindOf } from '#engine/ml/index.ts';
import type { Dimension, Point, SearchSpace } from '#engine/search/space.ts';

/** What a study searches. The order of the dimensions decides which numbers are drawn for them. */
export function spaceOf(config: StudyConfig): SearchSpace {
  const [fewest, most] = config.n_estimators_range;
  const [slowest, fastest] = config.learning_rate_range;
  return [
    { kind: 'categorical', name: 'model_type', choices: config.model_types },
    { kind: 'int', name: 'n_estimators', min: fewest, max: most },
    { kind: 'float', name: 'learning_rate', min: slowest, max: fastest, log: true },
    ...Object.entries(config.search).map(([name, parameter]) => dimensionOf(name, parameter)),
  ];
}

function dimensionOf(name: string, parameter: SearchedParameter): Dimension {
  switch (parameter.kind) {
    case 'choice':
      return { kind: 'categorical', name, choices: parameter.choices };
    case 'integer':
      return { kind: 'int', name, min: parameter.min, max: parameter.max };
    case 'number':
      return { kind: 'float', name, min: parameter.min, max: parameter.max };
  }
}

/**
 * The point with what its model does not read at the first value of its range: a logistic regression has neither trees nor a
 * rate. So equal runs are equal points, and are run once.
 */
export function canonicalPoint(config: StudyConfig, point: Point): Point {
  if (modelKindOf(String(point.model_type)) !== 'logistic_regression') return point;
  const [n_estimators] = config.n_estimators_range;
  const [learning_rate] = config.learning_rate_range;
  return { ...point, n_estimators, learning_rate };
}

/** What a trial runs: the study's backtest with the trial's parameters in it. */
export function trialConfig(
  base: ResolvedBacktestConfig,
  { model_type, n_estimators, learning_rate, ...searched }: TrialParams,
): ResolvedBacktestConfig {
  return {
    ...base,
    params: { ...base.params, ...searched },
    ml_engine: {
      ...base.ml_engine!,
      model_type: String(model_type),
      n_estimators: Number(n_estimators),
      learning_rate: Number(learning_rate),
    },
  };
}
