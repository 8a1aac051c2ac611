import LIMITS from 'virtual:limits';
import { SelectField } from '../../forms/choices.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { ChangeFields, Draft } from './draft.ts';

const { limits, defaults } = LIMITS.hyperopt;
const optionsOf = <T extends string>(values: readonly T[]) => values.map((value) => ({ value }));

/** Objective, sampler and size of the search. Long because it is the list of the fields. */
export function SearchFields(props: { readonly draft: Draft; readonly onChange: ChangeFields }) {
  const { draft, onChange } = props;
  const { fields, trainsModels } = draft;
  const objective = LIMITS.objectives.find(
    ({ name }) => name === (fields.objective_metric ?? defaults.objective_metric),
  );
  const number = (name: 'n_trials' | 'workers' | 'seed' | 'backtest_period_days' | 'train_period_days') => ({
    path: name,
    min: limits[name].min,
    max: limits[name].max,
    isInteger: true,
    value: fields[name],
    placeholder: String(defaults[name]),
    onChange: (value: number | undefined) => onChange({ [name]: value }),
  });
  return (
    <div className="fields pad">
      <SelectField
        label="Objective"
        path="objective_metric"
        value={fields.objective_metric}
        placeholder="Sharpe ratio (default)"
        options={LIMITS.objectives.map(({ name, label }) => ({ value: name, label }))}
        onChange={(value) => onChange({ objective_metric: value })}
      />
      <SelectField
        label="Direction"
        path="direction"
        value={fields.direction}
        placeholder={objective?.better ? `${objective.better} (default)` : 'Choose one'}
        options={optionsOf(['maximize', 'minimize'])}
        onChange={(value) => onChange({ direction: value })}
      />
      <NumberField
        label="Trials"
        help="More trials find more by chance: see the deflated Sharpe ratio"
        {...number('n_trials')}
      />
      <NumberField
        label="Workers"
        help="At most a tenth of the trials run at the same time"
        {...number('workers')}
      />
      <NumberField
        label="Days per walk-forward window"
        help={
          trainsModels
            ? 'Traded with a model trained on the days before'
            : 'The pruner compares the trials window by window'
        }
        {...number('backtest_period_days')}
      />
      {trainsModels && <NumberField label="Training days per window" {...number('train_period_days')} />}
      <SelectField
        label="Sampler"
        path="sampler"
        value={fields.sampler}
        placeholder={`${defaults.sampler} (default)`}
        options={optionsOf(LIMITS.samplers)}
        onChange={(value) => onChange({ sampler: value })}
      />
      <SelectField
        label="Pruner"
        path="pruner"
        help="Stops a trial whose windows are worse than those of the best"
        value={fields.pruner}
        placeholder={`${defaults.pruner} (default)`}
        options={optionsOf(LIMITS.pruners)}
        onChange={(value) => onChange({ pruner: value })}
      />
      {!trainsModels && (
        <NumberField
          label="Searches on permuted candles"
          help="Such as 99, each as long as this search: the p-value of the best trial"
          path="permutations"
          min={limits.permutations.min}
          max={limits.permutations.max}
          isInteger
          value={fields.permutations}
          placeholder="None"
          onChange={(permutations) => onChange({ permutations })}
        />
      )}
      <NumberField label="Seed" help="The same seed gives the same trials" {...number('seed')} />
    </div>
  );
}
