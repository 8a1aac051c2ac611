import { CodedError } from '#contract/errors.ts';
import { NO_MODEL, SPACES, type Space, type StudyConfig } from '#contract/hyperopt.ts';
import { HYPEROPT_DEFAULTS as DEFAULTS, HYPEROPT_LIMITS as LIMITS } from '#contract/hyperopt-request.ts';
import { MODEL_KINDS } from '#contract/limits.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import { modelKindOf } from '#engine/ml/index.ts';
import { nearestName } from '#engine/nearest-name.ts';
import type { DefinitionData } from '#engine/strategies/definition-data.ts';
import { checkModelType } from '../resolve-ml-engine.ts';
import { checkNumber, type NumberBounds } from '../validate.ts';
import { EXIT_NAMES } from './exit-space.ts';
import { resolveSearch, type SearchInput } from './resolve-search.ts';

/** What a request says of models and of what is searched, after its JSON types were checked. */
export interface SpacesInput {
  readonly strategy: string;
  readonly models?: string | undefined;
  readonly spaces?: readonly string[] | undefined;
  readonly search?: SearchInput | undefined;
  readonly model_types?: readonly string[] | undefined;
  readonly n_estimators_range?: readonly number[] | undefined;
  readonly learning_rate_range?: readonly number[] | undefined;
}

/** Kinds of models that are searched unless the request names some: all but the baseline, which has no trees. */
const DEFAULT_MODEL_TYPES = MODEL_KINDS.filter((kind) => kind !== 'logistic_regression');

/**
 * Whether the trials of a study train models. Without `ml` in `spaces` they do where the request names a model, or the strategy
 * trades on predictions.
 * Throws VAL005 for a model that is none and one, and for a strategy that cannot do without.
 *
 * @param strategy undefined for one that is not known
 */
export function trainsModels(
  { models, model_types, spaces }: SpacesInput,
  strategy: Pick<DefinitionData, 'name' | 'mlEngine'> | undefined,
): boolean {
  if (models !== undefined && models !== NO_MODEL) {
    throw refused('models', `models must be ${NO_MODEL}; model_types names the models to search`, {
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
    throw refused('model_types', `model_types must be ${NO_MODEL} alone where no models are trained`, {
      value: model_types!.slice(0, LIMITS.model_types).map((name) => name.slice(0, 100)),
    });
  }
  if (spaces?.includes('ml'))
    throw refused('spaces', `spaces cannot hold ml with ${field} ${NO_MODEL}`, context);
  if (strategy?.mlEngine) {
    throw refused(field, `${field} cannot be ${NO_MODEL}: ${strategy.name} trades on predictions`, {
      ...context,
      strategy: strategy.name,
    });
  }
  return false;
}

/** Fields that say nothing where no models are trained. */
export function untrainedWarnings(input: object): string[] {
  return ['train_period_days', 'n_estimators_range', 'learning_rate_range']
    .filter((name) => (input as Record<string, unknown>)[name] !== undefined)
    .map((name) => `${name} was ignored: no models are trained`);
}

type ResolvedSpaces = Pick<
  StudyConfig,
  'model_types' | 'n_estimators_range' | 'learning_rate_range' | 'search' | 'spaces'
>;

/**
 * What a study searches, with every default filled in. What is not searched of a model is a range of one value.
 * Throws VAL005.
 *
 * @param ml settings of the models; undefined when none are trained
 */
export function resolveSpaces(
  strategy: DefinitionData,
  input: SpacesInput,
  ml: ResolvedMlEngine | undefined,
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
  return { ...resolveModels(input, ml, searchesModels), search, ...(spaces && { spaces }) };
}

function nothingToSearch(
  { strategy, search, spaces }: SpacesInput,
  parameters: readonly string[],
): CodedError {
  if (search && parameters.length > 0) {
    return refused(
      'search',
      'search is empty: name parameters in it, or leave it out to search all of them',
      {
        allowed: parameters,
      },
    );
  }
  const message = `There is nothing to search: ${strategy} has no parameters. Name other spaces`;
  return refused('spaces', message, { spaces: spaces ?? ['params'], allowed: SPACES });
}

/** The spaces in the order of their list; undefined where the request named neither them nor that there are no models. */
function checkSpaces({ spaces, search }: SpacesInput, hasModels: boolean): Space[] | undefined {
  if (!spaces) return hasModels ? undefined : ['params'];
  if (search) throw refused('search', 'search means the space params: give search or spaces, not both', {});
  if (spaces.length === 0 || spaces.length > SPACES.length) {
    throw refused('spaces', `spaces must hold 1 to ${SPACES.length} of ${SPACES.join(', ')}`, {
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
      throw refused(field, `${field} must be one of ${SPACES.join(', ')}${hint}`, context);
    }
    if (spaces.indexOf(name) < index) throw refused(field, `spaces names ${name} twice`, context);
  }
  return SPACES.filter((space) => spaces.includes(space));
}

function resolveModels(
  input: SpacesInput,
  ml: ResolvedMlEngine | undefined,
  areSearched: boolean,
): Pick<StudyConfig, 'model_types' | 'n_estimators_range' | 'learning_rate_range'> {
  if (!ml) return { model_types: [NO_MODEL] };
  const defaults = areSearched
    ? { types: DEFAULT_MODEL_TYPES, trees: DEFAULTS.n_estimators_range, rates: DEFAULTS.learning_rate_range }
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
    throw refused(open, `${open} must leave one value: spaces does not hold ml`, { spaces: input.spaces });
  }
  return { model_types, n_estimators_range, learning_rate_range };
}

function checkModelTypes(names: readonly string[]): string[] {
  if (names.length === 0 || names.length > LIMITS.model_types) {
    throw refused('model_types', `model_types must hold 1 to ${LIMITS.model_types} names`, {
      count: names.length,
      min: 1,
      max: LIMITS.model_types,
      allowed: MODEL_KINDS,
    });
  }
  const kinds = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const field = `model_types.${index}`;
    const kind = modelKindOf(checkModelType(name, field))!;
    const other = kinds.get(kind);
    if (other !== undefined) {
      const message = `model_types names one kind twice: ${other} and ${name} are ${kind}`;
      throw refused(field, message, { value: name, kind });
    }
    kinds.set(kind, name);
  }
  return [...names];
}

function checkRange(range: readonly number[], field: string, bounds: NumberBounds): [number, number] {
  const [min, max] = range;
  if (min === undefined || max === undefined || range.length !== 2) {
    throw refused(field, `${field} must be [min, max]`, { count: range.length, min: 2, max: 2 });
  }
  checkNumber(min, `${field}.0`, bounds);
  checkNumber(max, `${field}.1`, bounds);
  if (min <= max) return [min, max];
  throw refused(field, `${field} must be [min, max]: ${min} is above ${max}`, { min, max });
}

function refused(field: string, message: string, context: Readonly<Record<string, unknown>>): CodedError {
  return new CodedError('VAL005', { message, field, context });
}
