import LIMITS from 'virtual:limits';
import { useRef } from 'react';
import type { Rebalance } from '#contract/values/universe-limits.ts';
import { SelectField } from '../../forms/choices.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { Config } from './draft.ts';

type Universe = NonNullable<Config['universe']>;

const { limits, defaults, rebalances } = LIMITS.universe;
const REBALANCE_LABELS: Readonly<Record<Rebalance, string>> = {
  daily: 'Every day',
  weekly: 'On Mondays',
  monthly: 'On the first of a month',
};

/** Pairs that are chosen over time, instead of a list that knows which survived. Long because it is the list of the fields. */
export function UniverseFields(props: {
  readonly value: Universe | undefined;
  readonly onChange: (value: Universe | undefined) => void;
}) {
  const { value = {} } = props;
  // A number that is deleted to type another one must not take the other fields along.
  const last = useRef<Universe>(undefined);
  if (props.value) last.current = props.value;
  const change = (fields: Partial<Universe>) => props.onChange({ ...value, ...fields });
  const number = (name: 'lookback_days' | 'min_age_days') => ({
    path: `config.universe.${name}`,
    placeholder: String(defaults[name]),
    isInteger: true,
    min: limits[name].min,
    max: limits[name].max,
    value: value[name],
    onChange: (count: number | undefined) => change({ [name]: count }),
  });
  return (
    <div className="fields pad">
      <NumberField
        label="Largest pairs by volume"
        path="config.universe.n"
        help={
          value.candidates
            ? `Chosen again and again from the ${value.candidates.length} candidates of the repeated run. Empty: all pairs, all the time`
            : 'Chosen again and again from the pairs above, without any from all stored ones. Empty: all pairs, all the time'
        }
        placeholder="All pairs"
        isInteger
        min={limits.n.min}
        max={limits.n.max}
        value={value.n}
        onChange={(n) => props.onChange(n === undefined ? undefined : { ...last.current, n })}
      />
      {value.n !== undefined && (
        <>
          <SelectField
            label="Chosen again, 00:00 UTC"
            path="config.universe.rebalance"
            value={rebalances.find((each) => each === value.rebalance)}
            placeholder={REBALANCE_LABELS[defaults.rebalance]}
            options={rebalances.map((each) => ({ value: each, label: REBALANCE_LABELS[each] }))}
            onChange={(rebalance) => change({ rebalance })}
          />
          <NumberField
            label="Days of volume"
            help="Before each choice: it never reads its own day"
            {...number('lookback_days')}
          />
          <NumberField
            label="Least age, days"
            help="Since the first stored candle of a pair"
            {...number('min_age_days')}
          />
          <NumberField
            label="Delisting haircut"
            help="Share of the last close by which positions in a delisted pair are closed at a worse price"
            path="config.universe.delisting_haircut"
            placeholder={String(defaults.delisting_haircut)}
            min={limits.delisting_haircut.min}
            max={limits.delisting_haircut.max}
            value={value.delisting_haircut}
            onChange={(ratio) => change({ delisting_haircut: ratio })}
          />
        </>
      )}
    </div>
  );
}
