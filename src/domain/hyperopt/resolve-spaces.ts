import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import {
  type HyperoptJobConfig,
  NO_MODEL,
  type Sampler,
  type SearchedParameter,
  SPACES,
  type Space,
} from '#contract/hyperopt/hyperopt.ts';
import {
  HYPEROPT_DEFAULTS as DEFAULTS,
  type HyperoptRequest,
  HYPEROPT_LIMITS as LIMITS,
} from '#contract/hyperopt/hyperopt-request.ts';
import type { NumberBounds } from '#contract/values/bounds.ts';
import { CodedError } from '#contract/values/errors.ts';
import { growsSameTrees } from '#contract/values/hyperopt-limits.ts';
import type { ModelKind } from '#contract/values/model-limits.ts';
import { nearestName } from '#contract/values/nearest-name.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { modelKindOf } from '#engine/ml/settings.ts';
import { countSteps } from '#engine/search/grid.ts';
import type { Parameter } from '#engine/strategy.ts';
import { checkModelType } from '../config/resolve-ml-engine.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkCount, checkNumber } from '../shared/validate.ts';
import { EXIT_NAMES } from './exit-space.ts';

type Search = NonNullable<HyperoptRequest['search']>;

/**
 * Returns whether the trials of a hyperopt job train models. Without `ml` in `spaces` they do when the request names a
 * model or the strategy trades on predictions.
 * Throws VAL005 for `none` together with a model, and for `none` with a strategy that requires models.
 *
 * @param strategy undefined for an unknown strategy
 */
export function trainsModels(
  { models, model_types, spaces }: HyperoptRequest,
  strategy: Pick<DefinitionData, 'name' | 'mlEngine'> | undefined,
): boolean {
  if (models !== undefined && models !== NO_MODEL) {
    throw invalid('models', `models must be ${NO_MODEL}: name the models to search in model_types`, {
      value: models.slice(0, 100),
      allowed: [NO_MODEL],
    });
  }
  const named = model_types?.filter((name) => name !== NO_MODEL) ?? [];
  const isNone = models === NO_MODEL || model_types?.includes(NO_MODEL);
  if (!isNone)
    return !spaces || spaces.includes('ml') || named.length > 0 || strategy?.mlEngine !== undefined;
  const field = models === undefined ? 'model_types' : 'models';
  const context = { value: NO_MODEL };
  if (named.length > 0 || (model_types && model_types.length !== 1)) {
    throw invalid(
      'model_types',
      `model_types must be only ${NO_MODEL} when no models are trained: remove the other names`,
      {
        value: model_types!.slice(0, LIMITS.model_types.max).map((name) => name.slice(0, 100)),
      },
    );
  }
  if (spaces?.includes('ml'))
    throw invalid(
      'spaces',
      `spaces must not hold ml with ${field} ${NO_MODEL}: remove one of the two`,
      context,
    );
  if (strategy?.mlEngine) {
    throw invalid(
      field,
      `${field} must not be ${NO_MODEL}: ${strategy.name} trades on predictions. Name models in model_types`,
      {
        ...context,
        strategy: strategy.name,
      },
    );
  }
  return false;
}

/** Warnings for fields without effect when no models are trained. */
export function untrainedWarnings(input: HyperoptRequest): string[] {
  return (['train_period_days', 'n_estimators_range', 'learning_rate_range'] as const)
    .filter((name) => input[name] !== undefined)
    .map((name) => `${name} was ignored: no models are trained`);
}

/** Warning before a search tries two names of one model. */
export function sameModelWarnings(
  { model_types }: Pick<HyperoptJobConfig, 'model_types'>,
  ml: ResolvedMlEngine | undefined,
): string[] {
  const named = (kind: ModelKind) => model_types.find((name) => modelKindOf(name) === kind);
  const [depthwise, leafwise] = [named('depthwise_gbdt'), named('leafwise_gbdt')];
  if (!ml || !depthwise || !leafwise || !growsSameTrees(ml)) return [];
  const { max_depth, max_leaves } = ml;
  return [
    `model_types: ${depthwise} and ${leafwise} train the same model here, since a tree of max_depth ${max_depth} has at most ${2 ** max_depth} leaves and max_leaves is ${max_leaves}. Remove one of them`,
  ];
}

type ResolvedSpaces = Pick<
  HyperoptJobConfig,
  'model_types' | 'n_estimators_range' | 'learning_rate_range' | 'search' | 'grid_order' | 'spaces'
>;

/**
 * Search spaces of a hyperopt job with every default filled in. A model setting that is not searched is a range of one
 * value.
 * Throws VAL005.
 *
 * @param ml settings of the models; undefined when none are trained
 */
export function resolveSpaces(
  strategy: DefinitionData,
  input: HyperoptRequest,
  ml: ResolvedMlEngine | undefined,
  sampler: Sampler,
): ResolvedSpaces {
  const spaces = checkSpaces(input, ml !== undefined);
  const all = spaces?.includes('params') && !input.search;
  const everything = Object.fromEntries(Object.keys(strategy.parameters).map((name) => [name, {}]));
  const taken = (spaces ?? []).flatMap((space) => EXIT_NAMES[space] ?? []);
  const search = resolveSearch(
    strategy,
    all ? everything : (input.search ?? {}),
    all ? 'spaces' : 'search',
    taken,
  );
  const searchesModels = spaces?.includes('ml') ?? true;
  if (!searchesModels && taken.length === 0 && Object.keys(search).length === 0) {
    throw nothingToSearch(input, Object.keys(strategy.parameters));
  }
  const resolved = { ...resolveModels(input, ml, searchesModels), search, ...(spaces && { spaces }) };
  return sampler === 'grid' ? gridSpaces(resolved) : withoutSteps(resolved);
}

/** Number of trials: that of the grid by default. Throws VAL005 for more trials than the grid has points. */
export function resolveTrials(
  { n_trials: asked }: Pick<HyperoptRequest, 'n_trials'>,
  spaces: ResolvedSpaces,
  sampler: Sampler,
): number {
  if (sampler !== 'grid') return checkNumber(asked ?? DEFAULTS.n_trials, 'n_trials', LIMITS.n_trials);
  const size = sizeOfGrid(spaces);
  const exact = size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : String(size);
  const { max } = LIMITS.grid;
  if (size > BigInt(max)) {
    const text = String(exact).length > 20 ? `a number of ${String(exact).length} digits` : exact;
    throw invalid('search', `The grid has more than ${max} points: ${text}. Raise a step or narrow a range`, {
      size: String(exact).length > 100 ? `${String(exact).slice(0, 100)}…` : exact,
      max,
    });
  }
  if (asked === undefined) return Number(size);
  const trials = checkNumber(asked, 'n_trials', LIMITS.n_trials);
  if (trials <= Number(size)) return trials;
  throw invalid(
    'n_trials',
    `n_trials is ${trials}, and the grid has ${size} points: pass at most that many`,
    {
      value: trials,
      size: Number(size),
    },
  );
}

function sizeOfGrid({ model_types, search }: ResolvedSpaces): bigint {
  return Object.values(search).reduce(
    (size, each) =>
      size * (each.kind === 'choice' ? BigInt(each.choices.length) : countSteps({ step: 1, ...each })),
    BigInt(model_types.length),
  );
}

/** Space of a grid: every number has a step, and nothing else than parameters and kinds of models varies. Throws VAL004, VAL005. */
function gridSpaces(resolved: ResolvedSpaces): ResolvedSpaces {
  const { search, spaces = [], n_estimators_range: trees, learning_rate_range: rates } = resolved;
  const other = spaces.find((space) => space !== 'params' && space !== 'ml');
  if (other !== undefined) {
    throw invalid(
      'spaces',
      `spaces must not hold ${other} with sampler grid, which searches parameters: remove it`,
      {
        value: other,
      },
    );
  }
  for (const [field, range] of Object.entries({ n_estimators_range: trees, learning_rate_range: rates })) {
    if (range && range[0] !== range[1]) {
      throw invalid(
        field,
        `${field} must be one value with sampler grid, such as [${range[0]}, ${range[0]}]`,
        {
          min: range[0],
          max: range[1],
        },
      );
    }
  }
  for (const [name, parameter] of Object.entries(search)) {
    if (parameter.kind !== 'number' || parameter.step !== undefined) continue;
    const field = `search.${name.slice(0, 60)}.step`;
    const message = `${field} is required: a grid over a number needs the distance of its values`;
    throw new CodedError('VAL004', { message, field, context: { min: parameter.min, max: parameter.max } });
  }
  return { ...resolved, grid_order: Object.keys(search) };
}

/** Throws VAL005 for a step, which only a grid has. */
function withoutSteps(resolved: ResolvedSpaces): ResolvedSpaces {
  for (const [name, parameter] of Object.entries(resolved.search)) {
    if (parameter.kind === 'choice' || parameter.step === undefined) continue;
    throw invalidSearch(name, 'has a step, which is for sampler grid: remove it, or pass that sampler', {
      step: parameter.step,
    });
  }
  return resolved;
}

function nothingToSearch(
  { strategy, search, spaces }: HyperoptRequest,
  parameters: readonly string[],
): CodedError {
  if (search && parameters.length > 0) {
    return invalid('search', 'search is empty: name parameters in it, or omit it to search all of them', {
      allowed: parameters,
    });
  }
  const message = `Strategy ${strategy} has no parameters to search: name other spaces`;
  return invalid('spaces', message, { spaces: spaces ?? ['params'], allowed: SPACES });
}

/**
 * The spaces in the order of their list; undefined when the request names neither spaces nor that no models are
 * trained.
 */
function checkSpaces({ spaces, search }: HyperoptRequest, hasModels: boolean): Space[] | undefined {
  if (!spaces) return hasModels ? undefined : ['params'];
  if (search) throw invalid('search', 'search and spaces exclude each other: pass one of them', {});
  if (spaces.length === 0 || spaces.length > SPACES.length) {
    throw invalid('spaces', `spaces must hold 1 to ${SPACES.length} of ${SPACES.join(', ')}`, {
      count: spaces.length,
      allowed: SPACES,
    });
  }
  for (const [index, name] of spaces.entries()) {
    const field = `spaces.${index}`;
    const context = { value: name.slice(0, 100), allowed: SPACES };
    if (!SPACES.some((space) => space === name)) {
      const nearest = nearestName(name.slice(0, 60), SPACES);
      const hint = nearest ? `; did you mean ${nearest}?` : '';
      throw invalid(field, `${field} must be one of ${SPACES.join(', ')}${hint}`, context);
    }
    if (spaces.indexOf(name) < index)
      throw invalid(field, `spaces names ${name} twice: name each space once`, context);
  }
  return SPACES.filter((space) => spaces.includes(space));
}

function resolveModels(
  input: HyperoptRequest,
  ml: ResolvedMlEngine | undefined,
  areSearched: boolean,
): Pick<HyperoptJobConfig, 'model_types' | 'n_estimators_range' | 'learning_rate_range'> {
  if (!ml) return { model_types: [NO_MODEL] };
  const defaults = areSearched
    ? { types: DEFAULTS.model_types, trees: DEFAULTS.n_estimators_range, rates: DEFAULTS.learning_rate_range }
    : {
        types: [ml.model_type],
        trees: [ml.n_estimators, ml.n_estimators],
        rates: [ml.learning_rate, ml.learning_rate],
      };
  const model_types = checkModelTypes(input.model_types ?? defaults.types);
  const n_estimators_range = checkRange(
    input.n_estimators_range ?? defaults.trees,
    'n_estimators_range',
    LIMITS.n_estimators,
  );
  const learning_rate_range = checkRange(
    input.learning_rate_range ?? defaults.rates,
    'learning_rate_range',
    LIMITS.learning_rate,
  );
  const fixed = {
    model_types: model_types.length === 1,
    n_estimators_range: n_estimators_range[0] === n_estimators_range[1],
    learning_rate_range: learning_rate_range[0] === learning_rate_range[1],
  };
  const open = Object.entries(fixed).find(([, isFixed]) => !isFixed)?.[0];
  if (open && !areSearched) {
    throw invalid(
      open,
      `${open} has several values, but spaces does not hold ml: pass one value, or add ml`,
      { spaces: input.spaces },
    );
  }
  return { model_types, n_estimators_range, learning_rate_range };
}

function checkModelTypes(names: readonly string[]): string[] {
  checkCount(names.length, 'model_types', LIMITS.model_types, 'names');
  const kinds = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const field = `model_types.${index}`;
    const kind = modelKindOf(checkModelType(name, field))!;
    const other = kinds.get(kind);
    if (other !== undefined) {
      const message = `model_types names one kind twice: ${other} and ${name} are ${kind}. Remove one of them`;
      throw invalid(field, message, { value: name, kind });
    }
    kinds.set(kind, name);
  }
  return [...names];
}

function checkRange(range: readonly number[], field: string, bounds: NumberBounds): [number, number] {
  const [min, max] = range;
  if (min === undefined || max === undefined || range.length !== 2) {
    throw invalid(field, `${field} must be [min, max]`, { count: range.length, min: 2, max: 2 });
  }
  checkNumber(min, `${field}.0`, bounds);
  checkNumber(max, `${field}.1`, bounds);
  if (min <= max) return [min, max];
  throw invalid(field, `${field} must be [min, max]: ${min} is above ${max}, swap them`, { min, max });
}

function invalid(field: string, message: string, context: Readonly<Record<string, unknown>>): CodedError {
  return new CodedError('VAL005', { message, field, context });
}

/** Model parameters of every trial. */
const MODEL_PARAMETERS = ['model_type', 'n_estimators', 'learning_rate'];

/**
 * Checks `search` against what the strategy allows, and fills in what is not given. Throws VAL005.
 *
 * @param from the field of the request that asks for it
 * @param taken names that the other spaces of the job have in a trial's parameters
 */
export function resolveSearch(
  { name: strategy, parameters }: Pick<DefinitionData, 'name' | 'parameters'>,
  search: Search,
  from: 'search' | 'spaces' = 'search',
  taken: readonly string[] = [],
): HyperoptJobConfig['search'] {
  const names = Object.keys(search);
  const { max } = LIMITS.search;
  if (names.length > max) {
    throw new CodedError('VAL005', {
      message:
        from === 'search'
          ? `search must hold at most ${max} parameters`
          : `${strategy} has ${names.length} parameters, of which at most ${max} can be searched: name them in search instead of spaces`,
      field: from,
      context: { count: names.length, max },
    });
  }
  return Object.fromEntries(
    names.map((name) => {
      if (!Object.hasOwn(parameters, name)) throw unknownParameter(name, strategy, Object.keys(parameters));
      if (MODEL_PARAMETERS.includes(name))
        throw invalidSearch(name, 'has the name of a model setting: rename the parameter in the strategy', {
          value: name,
        });
      if (taken.includes(name))
        throw invalidSearch(name, 'is also set by another space: search one of the two', { value: name });
      return [name, resolveParameter(name, parameters[name]!, search[name]!)];
    }),
  );
}

/** Warnings for unknown keys: a misspelled bound would otherwise silently search the full range of the strategy. */
export function searchWarnings(search: Search): string[] {
  return Object.entries(search).flatMap(([name, asked]) =>
    unknownKeyWarnings({ ...asked }, ['min', 'max', 'step', 'choices'], `search.${name}.`),
  );
}

function unknownParameter(name: string, strategy: string, allowed: readonly string[]): CodedError {
  const nearest = nearestName(name.slice(0, 60), allowed);
  const hint = nearest ? `; did you mean ${nearest}?` : '';
  return invalidSearch(name, `is not a parameter of ${strategy}${hint}`, {
    value: name.slice(0, 100),
    allowed,
  });
}

function resolveParameter(name: string, parameter: Parameter, asked: Search[string]): SearchedParameter {
  if (parameter.kind === 'choice') {
    const choices = asked.choices ?? parameter.choices;
    if (asked.min !== undefined || asked.max !== undefined || asked.step !== undefined) {
      throw invalidSearch(name, 'is a choice: pass {choices}', { allowed: parameter.choices });
    }
    const foreign = choices.find((choice) => !parameter.choices.includes(choice));
    if (foreign !== undefined || choices.length === 0 || new Set(choices).size < choices.length) {
      const message = `must be {choices}: distinct values of ${parameter.choices.join(', ')}`;
      throw invalidSearch(name, message, { allowed: parameter.choices });
    }
    return { kind: 'choice', choices: [...choices] };
  }
  const { kind, min: lower, max: upper } = parameter;
  const bounds = { min: lower, max: upper, integer: kind === 'integer' };
  const min = checkNumber(asked.min ?? lower, `search.${name}.min`, bounds);
  const max = checkNumber(asked.max ?? upper, `search.${name}.max`, bounds);
  if (asked.choices) throw invalidSearch(name, 'is a number: pass {min, max}', { min: lower, max: upper });
  if (min > max)
    throw invalidSearch(name, `has a min of ${min} above its max of ${max}: swap them`, { min, max });
  if (asked.step === undefined) return { kind, min, max };
  const step = checkNumber(asked.step, `search.${name}.step`);
  if (step <= 0 || (kind === 'integer' && !Number.isInteger(step))) {
    const what = kind === 'integer' ? 'an integer' : 'a number';
    throw invalid(`search.${name}.step`, `search.${name}.step must be ${what} above 0`, { value: step });
  }
  return { kind, min, max, step };
}

function invalidSearch(
  name: string,
  problem: string,
  context: Readonly<Record<string, unknown>>,
): CodedError {
  const field = `search.${name.slice(0, 60)}`;
  return new CodedError('VAL005', { message: `${field} ${problem}`, field, context });
}
