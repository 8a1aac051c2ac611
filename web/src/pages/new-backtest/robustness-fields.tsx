import LIMITS from 'virtual:limits';
import { CheckField } from '../../forms/choices.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { Config } from './draft.ts';

type Tests = NonNullable<Config['robustness']>;

/** Further tests of the result, which take longer than the run. */
export function RobustnessFields(props: {
  readonly value: Tests | undefined;
  readonly onChange: (value: Tests) => void;
}) {
  const { value = {} } = props;
  const change = (fields: Partial<Tests>) => {
    // Without any test it replaces those of a registered version.
    props.onChange({ ...value, ...fields });
  };
  const samples = (name: 'random_entries' | 'permutations') => ({
    path: `config.robustness.${name}`,
    placeholder: 'No test',
    isInteger: true,
    min: LIMITS.robustness[name].min,
    max: LIMITS.robustness[name].max,
    value: value[name],
    onChange: (count: number | undefined) => change({ [name]: count }),
  });
  return (
    <div className="fields pad">
      <CheckField
        label="Sweep costs and delays"
        path="config.robustness.cost_sweep"
        help="21 simulations with 0 to 50 basis points a side and signals up to 2 candles later"
        value={value.cost_sweep ?? false}
        onChange={(isOn) => change({ cost_sweep: isOn || undefined })}
      />
      <CheckField
        label="Find the capacity"
        path="config.robustness.capacity"
        help="Simulations with larger stakes; the impact coefficient is 1 unless you set one"
        value={value.capacity ?? false}
        onChange={(isOn) => change({ capacity: isOn || undefined })}
      />
      <NumberField
        label="Random placements of the trades"
        help="Such as 999: says whether the entries are better than chance"
        {...samples('random_entries')}
      />
      <NumberField
        label="Runs over permuted candles"
        help="Such as 199, each as long as the run: says whether the strategy uses a pattern"
        {...samples('permutations')}
      />
    </div>
  );
}
