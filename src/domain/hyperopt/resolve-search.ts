import { CodedError } from '#contract/errors.ts';
import type { SearchedParameter, StudyConfig } from '#contract/hyperopt.ts';
import { HYPEROPT_LIMITS } from '#contract/hyperopt-request.ts';
import { nearestName } from '#engine/nearest-name.ts';
import type { DefinitionData } from '#engine/strategies/definition-data.ts';
import type { Parameter } from '#engine/strategy.ts';
import { unknownKeyWarnings } from '../unknown-keys.ts';
import { checkNumber } from '../validate.ts';

type Value = string | number | boolean;

/** Strategy parameter -> what of it is searched; nothing given: all that the strategy allows. */
export type SearchInput = Readonly<
  Record<
    string,
    {
      readonly min?: number | undefined;
      readonly max?: number | undefined;
      readonly choices?: readonly Value[] | undefined;
    }
  >
>;

/** Names that a trial's parameters have already. */
const OWN = ['model_type', 'n_estimators', 'learning_rate'];

/**
 * Checks `search` against what the strategy allows, and fills in what is not given. Throws VAL005.
 *
 * @param from the field of the request that asks for it
 * @param taken names that the other spaces of the study have in a trial's parameters
 */
export function resolveSearch(
  { name: strategy, parameters }: Pick<DefinitionData, 'name' | 'parameters'>,
  search: SearchInput,
  from: 'search' | 'spaces' = 'search',
  taken: readonly string[] = [],
): StudyConfig['search'] {
  const names = Object.keys(search);
  if (names.length > HYPEROPT_LIMITS.search) {
    throw new CodedError('VAL005', {
      message:
        from === 'search'
          ? `search must hold at most ${HYPEROPT_LIMITS.search} parameters`
          : `${strategy} has ${names.length} parameters, of which at most ${HYPEROPT_LIMITS.search} can be searched: name them in search instead of spaces`,
      field: from,
      context: { count: names.length, max: HYPEROPT_LIMITS.search },
    });
  }
  return Object.fromEntries(
    names.map((name) => {
      if (!Object.hasOwn(parameters, name)) throw unknownParameter(name, strategy, Object.keys(parameters));
      if (OWN.includes(name))
        throw refuse(name, 'is what trials call a parameter of the model', { value: name });
      if (taken.includes(name))
        throw refuse(name, 'is what another of the spaces sets: search one of the two', { value: name });
      return [name, resolveParameter(name, parameters[name]!, search[name]!)];
    }),
  );
}

/** Without them a misspelt bound would search all that the strategy allows, and nobody would know. */
export function searchWarnings(search: SearchInput): string[] {
  return Object.entries(search).flatMap(([name, asked]) =>
    unknownKeyWarnings({ ...asked }, ['min', 'max', 'choices'], `search.${name}.`),
  );
}

function unknownParameter(name: string, strategy: string, allowed: readonly string[]): CodedError {
  const nearest = nearestName(name.slice(0, 60), allowed);
  const hint = nearest ? `; did you mean ${nearest}?` : '';
  return refuse(name, `is no parameter of ${strategy}${hint}`, { value: name.slice(0, 100), allowed });
}

function resolveParameter(name: string, parameter: Parameter, asked: SearchInput[string]): SearchedParameter {
  if (parameter.kind === 'choice') {
    const choices = asked.choices ?? parameter.choices;
    if (asked.min !== undefined || asked.max !== undefined) {
      throw refuse(name, 'is a choice: give {choices}', { allowed: parameter.choices });
    }
    const foreign = choices.find((choice) => !parameter.choices.includes(choice));
    if (foreign !== undefined || choices.length === 0 || new Set(choices).size < choices.length) {
      const message = `must be {choices}: different ones of ${parameter.choices.join(', ')}`;
      throw refuse(name, message, { allowed: parameter.choices });
    }
    return { kind: 'choice', choices: [...choices] };
  }
  const { kind, min: least, max: most } = parameter;
  const bounds = { min: least, max: most, integer: kind === 'integer' };
  const min = checkNumber(asked.min ?? least, `search.${name}.min`, bounds);
  const max = checkNumber(asked.max ?? most, `search.${name}.max`, bounds);
  if (asked.choices) throw refuse(name, 'is a number: give {min, max}', { min: least, max: most });
  if (min > max) throw refuse(name, `has a min of ${min} above its max of ${max}`, { min, max });
  return { kind, min, max };
}

function refuse(name: string, problem: string, context: Readonly<Record<string, unknown>>): CodedError {
  const field = `search.${name.slice(0, 60)}`;
  return new CodedError('VAL005', { message: `${field} ${problem}`, field, context });
}
