import LIMITS from 'virtual:limits';
import { CheckField, SelectField } from '../../forms/choices.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { Strategy } from '../../forms/start-job.tsx';
import { words } from '../../ui/format.ts';
import type { Config } from './draft.ts';

const { limits, defaults } = LIMITS.models;
type Models = NonNullable<Config['ml_engine']>;

/** Settings that every user of models looks at, and those for a second look. */
const MAIN = ['train_period_days', 'backtest_period_days', 'entry_threshold', 'n_estimators'] as const;
const MORE = [
  'learning_rate',
  'max_depth',
  'max_leaves',
  'max_bins',
  'l2',
  'min_child_weight',
  'gamma',
  'subsample',
  'column_sample',
  'early_stopping_rounds',
  'validation_fraction',
] as const;
type Setting = (typeof MAIN)[number] | (typeof MORE)[number];

/** Models that predict each pair: those of the strategy, or added to any strategy. */
export function ModelFields(props: {
  readonly strategy: Strategy | undefined;
  readonly value: Models | undefined;
  readonly onChange: (value: Models | undefined) => void;
}) {
  const { strategy, value, onChange } = props;
  const declared = strategy?.ml_engine.enabled ?? false;
  const isOn = value ? value.enabled !== false : declared;
  const field = (name: Setting) => {
    const bounds: { readonly min: number; readonly max: number; readonly integer?: boolean } = limits[name];
    return (
      <NumberField
        key={name}
        label={words(name)}
        path={`config.ml_engine.${name}`}
        {...{ min: bounds.min, max: bounds.max, isInteger: bounds.integer === true }}
        value={value?.[name]}
        placeholder={String(defaults[name])}
        onChange={(number) => onChange({ ...value, [name]: number })}
      />
    );
  };
  return (
    <div className="stack pad">
      <CheckField
        label="Train models"
        path="config.ml_engine"
        help={
          declared
            ? 'The strategy trades on predictions; without models it makes no trades'
            : 'Entries of the strategy then need the probability of the entry threshold as well'
        }
        value={isOn}
        onChange={(enabled) => onChange(enabled === declared ? undefined : { ...value, enabled })}
      />
      {isOn && (
        <>
          <div className="fields">
            <SelectField
              label="Kind of model"
              path="config.ml_engine.model_type"
              value={value?.model_type}
              placeholder={`${declared ? strategy?.ml_engine.model_type : defaults.model_type} (default)`}
              options={[
                ...new Set([...LIMITS.modelKinds, ...(value?.model_type ? [value.model_type] : [])]),
              ].map((kind) => ({ value: kind }))}
              onChange={(model_type) => onChange({ ...value, model_type })}
            />
            {MAIN.map(field)}
          </div>
          <details>
            <summary>More settings of the models</summary>
            <div className="fields">{MORE.map(field)}</div>
          </details>
        </>
      )}
    </div>
  );
}
