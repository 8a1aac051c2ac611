import LIMITS from 'virtual:limits';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { SpreadEstimator } from '#contract/values/slippage-limits.ts';
import { SelectField } from './choices.tsx';
import { NumberField } from './inputs.tsx';

type Model = NonNullable<BacktestConfigRequest['slippage_model']>;

const { limits, defaults, estimators } = LIMITS.slippageModel;
const ESTIMATOR_LABELS: Readonly<Record<SpreadEstimator, string>> = {
  corwin_schultz: 'Corwin-Schultz, highs and lows of days',
  edge: 'EDGE, prices of all candles',
};

/** Costs of market fills that are estimated from candles. */
export function SlippageModelFields(props: {
  readonly prefix: '' | 'config.';
  readonly model: Model | undefined;
  readonly onChange: (fields: { readonly slippage_model: Model }) => void;
}) {
  const { prefix, model = {} } = props;
  const change = (fields: Partial<Model>) => {
    // An empty model replaces that of a registered version.
    props.onChange({ slippage_model: { ...model, ...fields } });
  };
  const number = (name: 'spread_days' | 'impact' | 'participation', placeholder: string) => ({
    path: `${prefix}slippage_model.${name}`,
    min: limits[name].min,
    max: limits[name].max,
    isInteger: name === 'spread_days',
    value: model[name],
    placeholder,
    onChange: (value: number | undefined) => change({ [name]: value }),
  });
  return (
    <>
      <SelectField
        label="Spread estimated from candles"
        path={`${prefix}slippage_model.spread`}
        help="A market fill pays half of it, in addition to the slippage"
        value={model.spread}
        placeholder="None"
        options={estimators.map((value) => ({ value, label: ESTIMATOR_LABELS[value] }))}
        onChange={(spread) => change({ spread, ...(spread === undefined && { spread_days: undefined }) })}
      />
      {model.spread !== undefined && (
        <NumberField label="Days of the estimate" {...number('spread_days', String(defaults.spread_days))} />
      )}
      <NumberField
        label="Impact coefficient"
        help="Usually 0.5 to 1.5: the price moves with the root of the share of the daily volume"
        {...number('impact', 'None')}
      />
      <NumberField
        label="Largest share of the volume"
        help="Such as 0.025. Entries lose the rest, exits continue in the next candles"
        {...number('participation', 'Any')}
      />
    </>
  );
}
