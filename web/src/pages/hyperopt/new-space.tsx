import LIMITS from 'virtual:limits';
import { growsSameTrees } from '#contract/values/hyperopt-limits.ts';
import { CheckField, CheckGroup, SelectField } from '../../forms/choices.tsx';
import { RangeField } from '../../forms/inputs.tsx';
import type { Strategy } from '../../forms/start-job.tsx';
import { words } from '../../ui/format.ts';
import type { ChangeFields, Draft } from './draft.ts';

const { limits, defaults } = LIMITS.hyperopt;

const SPACES = [
  { value: 'params', label: 'Parameters of the strategy', help: 'all, in their whole ranges' },
  { value: 'stoploss', label: 'Stop loss', help: '-0.35 to -0.02' },
  { value: 'roi', label: 'ROI table', help: 'four steps' },
  { value: 'trailing', label: 'Trailing stop', help: 'distance, offset, when it starts' },
  { value: 'ml', label: 'Model', help: 'kind, trees, learning rate' },
] as const;

type Search = Draft['search'];

/** What a job searches: whole spaces, or chosen parameters with ranges of their own; with or without models. */
export function SpaceFields(props: {
  readonly draft: Draft;
  readonly strategy: Strategy | undefined;
  readonly onChange: (draft: Partial<Draft>) => void;
  readonly onFields: ChangeFields;
}) {
  const { draft, strategy, onChange, onFields } = props;
  const { trainsModels, by, spaces, search, fields } = draft;
  const parameters = strategy?.parameters ?? {};
  const available = SPACES.filter(
    ({ value }) =>
      (value !== 'ml' || trainsModels) && (value !== 'params' || Object.keys(parameters).length > 0),
  );
  const isModelSearched = trainsModels && (by === 'search' || spaces.includes('ml'));
  return (
    <div className="stack pad">
      <div className="fields">
        <CheckField
          label="Train models"
          path="models"
          help="Each walk-forward window then trades on the predictions of a model of its own"
          value={trainsModels}
          onChange={(value) =>
            onChange({
              trainsModels: value,
              spaces: value ? [...spaces, 'ml'] : spaces.filter((space) => space !== 'ml'),
            })
          }
        />
        <SelectField
          label="Search"
          path="search_by"
          value={by}
          options={[
            { value: 'spaces', label: 'Whole spaces' },
            { value: 'search', label: 'Chosen parameters and ranges' },
          ]}
          onChange={(value) => onChange({ by: value ?? 'spaces' })}
        />
      </div>
      {by === 'spaces' ? (
        <CheckGroup
          label="Spaces"
          path="spaces"
          options={available}
          values={spaces}
          onChange={(values) => onChange({ spaces: values })}
        />
      ) : (
        <ParameterFields
          parameters={parameters}
          search={search}
          onChange={(next) => onChange({ search: next })}
        />
      )}
      {isModelSearched && <ModelFields fields={fields} onChange={onFields} />}
    </div>
  );
}

type Parameters = Strategy['parameters'];

function ParameterFields(props: {
  readonly parameters: Parameters;
  readonly search: Search;
  readonly onChange: (search: Search) => void;
}) {
  const { parameters, search, onChange } = props;
  const names = Object.keys(parameters);
  if (names.length === 0) {
    return <p className="muted">The strategy has no parameters: search whole spaces.</p>;
  }
  /** In the order of the strategy: the same choice makes the same request. */
  const chosen = (isChosen: (name: string) => boolean, changed: Search = {}) =>
    onChange(
      Object.fromEntries(names.filter(isChosen).map((name) => [name, changed[name] ?? search[name] ?? {}])),
    );
  return (
    <>
      <CheckGroup
        label="Parameters"
        path="search"
        options={names.map((value) => ({ value, help: parameters[value]!.description }))}
        values={names.filter((name) => name in search)}
        onChange={(values) => chosen((name) => values.includes(name))}
      />
      <div className="fields">
        {names
          .filter((name) => name in search)
          .map((name) => (
            <ParameterField
              key={name}
              name={name}
              parameter={parameters[name]!}
              value={search[name]!}
              onChange={(value) => chosen((each) => each in search, { [name]: value })}
            />
          ))}
      </div>
    </>
  );
}

function ParameterField(props: {
  readonly name: string;
  readonly parameter: Parameters[string];
  readonly value: Search[string];
  readonly onChange: (value: Search[string]) => void;
}) {
  const { name, parameter, value, onChange } = props;
  const path = `search.${name}`;
  const label = words(name);
  if (parameter.kind !== 'choice') {
    return (
      <RangeField
        label={label}
        path={path}
        help={`Default ${parameter.default}`}
        min={parameter.min}
        max={parameter.max}
        isInteger={parameter.kind === 'integer'}
        value={value}
        onChange={({ min, max }) =>
          onChange({ ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) })
        }
      />
    );
  }
  const all = parameter.choices.map(String);
  const values = value.choices?.map(String) ?? all;
  return (
    <CheckGroup
      label={label}
      path={path}
      help={`Default ${parameter.default}`}
      options={all.map((each) => ({ value: each }))}
      values={values}
      onChange={(next) =>
        onChange(
          next.length === all.length
            ? {}
            : { choices: parameter.choices.filter((each) => next.includes(String(each))) },
        )
      }
    />
  );
}

const { max_depth, max_leaves } = LIMITS.models.defaults;
const areSame = growsSameTrees({ max_depth, max_leaves });
const SAME_KINDS: readonly string[] = ['depthwise_gbdt', 'leafwise_gbdt'];
const SAME_HELP = `With the default depth of ${max_depth} and ${max_leaves} leaves, depthwise_gbdt and leafwise_gbdt are the same model: leave one out.`;

function ModelFields(props: { readonly fields: Draft['fields']; readonly onChange: ChangeFields }) {
  const { fields, onChange } = props;
  const kinds = fields.model_types ?? defaults.model_types;
  const ends = (range: readonly number[] | undefined) => ({ min: range?.[0], max: range?.[1] });
  const range = (
    name: 'n_estimators_range' | 'learning_rate_range',
    bounds: { readonly min: number; readonly max: number },
  ) => ({
    path: name,
    min: bounds.min,
    max: bounds.max,
    value: ends(fields[name] ?? defaults[name]),
    onChange: ({
      min = bounds.min,
      max = bounds.max,
    }: {
      min?: number | undefined;
      max?: number | undefined;
    }) => onChange({ [name]: [min, max] }),
  });
  return (
    <div className="fields">
      <CheckGroup
        label="Kinds of models"
        path="model_types"
        options={[...new Set([...LIMITS.modelKinds, ...kinds])].map((value) => ({ value }))}
        values={kinds}
        {...(areSame && SAME_KINDS.every((kind) => kinds.includes(kind)) ? { help: SAME_HELP } : {})}
        onChange={(values) => onChange({ model_types: [...values] })}
      />
      <RangeField label="Trees" isInteger {...range('n_estimators_range', limits.n_estimators)} />
      <RangeField label="Learning rate" {...range('learning_rate_range', limits.learning_rate)} />
    </div>
  );
}
