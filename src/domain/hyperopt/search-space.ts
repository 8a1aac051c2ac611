import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { SearchedParameter, StoredHyperoptJob, TrialParams } from '#contract/hyperopt/hyperopt.ts';
import { modelKindOf } from '#engine/ml/settings.ts';
import { type Grid, gridPoint, listedDimension, steppedDimension } from '#engine/search/grid.ts';
import { suggest } from '#engine/search/sampler.ts';
import type { Dimension, Point, SearchSpace } from '#engine/search/space.ts';
import type { PastTrial } from '#engine/search/trials.ts';
import { exitDimensions, exitsOf, isExit } from './exit-space.ts';

type SpaceSource = Pick<StoredHyperoptJob, 'config' | 'base'>;

/** Search space of a hyperopt job. The order of the dimensions decides which random numbers are drawn for them. */
export function spaceOf({ config, base }: SpaceSource): SearchSpace {
  const { n_estimators_range: trees, learning_rate_range: rates } = config;
  return [
    { kind: 'categorical', name: 'model_type', choices: config.model_types },
    ...(trees ? [{ kind: 'int', name: 'n_estimators', min: trees[0], max: trees[1] } as const] : []),
    ...(rates
      ? [{ kind: 'float', name: 'learning_rate', min: rates[0], max: rates[1], log: true } as const]
      : []),
    ...Object.entries(config.search).map(([name, parameter]) => dimensionOf(name, parameter)),
    ...exitDimensions(config.spaces ?? [], base.timeframe),
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

/** Parameters of a trial. @param past the visible history, which a grid does not need */
export function suggestPoint(job: SpaceSource, past: readonly PastTrial[], number: number): Point {
  const { seed, direction, sampler } = job.config;
  if (sampler === 'grid') return canonicalPoint(job, gridPoint(gridOf(job), number));
  return canonicalPoint(job, suggest(spaceOf(job), past, { seed, number, direction, sampler }));
}

/** Values of a grid by dimension, the slowest first: the model, then the parameters in the order of the request. */
function gridOf({ config }: Pick<SpaceSource, 'config'>): Grid {
  const { search, n_estimators_range: trees, learning_rate_range: rates } = config;
  return [
    listedDimension('model_type', config.model_types),
    ...(trees ? [listedDimension('n_estimators', [trees[0]])] : []),
    ...(rates ? [listedDimension('learning_rate', [rates[0]])] : []),
    ...(config.grid_order ?? []).map((name) => gridDimension(name, search[name]!)),
  ];
}

function gridDimension(name: string, parameter: SearchedParameter): Grid[number] {
  if (parameter.kind === 'choice') return listedDimension(name, parameter.choices);
  return steppedDimension(name, { step: 1, ...parameter });
}

/**
 * The point with parameters that its model ignores set to the first value of their range: a logistic regression has
 * neither trees nor a learning rate. Equal runs are therefore equal points and run once.
 */
function canonicalPoint({ config }: Pick<SpaceSource, 'config'>, point: Point): Point {
  if (modelKindOf(String(point.model_type)) !== 'logistic_regression') return point;
  const n_estimators = config.n_estimators_range![0];
  const learning_rate = config.learning_rate_range![0];
  return { ...point, n_estimators, learning_rate };
}

/** Configuration of a trial: the job's backtest with the trial's parameters. */
export function trialConfig(base: ResolvedBacktestConfig, params: TrialParams): ResolvedBacktestConfig {
  const { model_type, n_estimators, learning_rate, ...searched } = params;
  const own = Object.entries(searched).filter(([name]) => !isExit(name));
  return {
    ...base,
    ...exitsOf(params),
    params: { ...base.params, ...Object.fromEntries(own) },
    ...(base.ml_engine && {
      ml_engine: {
        ...base.ml_engine,
        model_type: String(model_type),
        n_estimators: Number(n_estimators),
        learning_rate: Number(learning_rate),
      },
    }),
  };
}
