import LIMITS from 'virtual:limits';
import { Plus, X } from 'lucide-react';
import { CheckField, SelectField } from '../../forms/choices.tsx';
import { NumberField, TextField } from '../../forms/inputs.tsx';
import type { Strategy } from '../../forms/start-job.tsx';
import type { Config } from './draft.ts';

const { limits, keys } = LIMITS.protections;

type Values = NonNullable<Config['protections']>[number];
type Method = keyof typeof keys;

const METHODS = [
  { value: 'CooldownPeriod', label: 'Cooldown after each trade' },
  { value: 'StoplossGuard', label: 'Guard against stops' },
  { value: 'LowProfitPairs', label: 'Low profit of the pair' },
  { value: 'MaxDrawdown', label: 'Drawdown of all pairs' },
] as const satisfies readonly { value: Method; label: string }[];

const CHOICES = [
  { value: 'own', label: 'Own protections' },
  { value: 'none', label: 'None' },
] as const;

/** A candle after each trade: the smallest protection. */
const FIRST: Values = { method: 'CooldownPeriod', stop_duration_candles: 1 };

/** Rules that lock pairs against entries after losses: those of the strategy, none, or own ones. */
export function ProtectionFields(props: {
  readonly strategy: Strategy | undefined;
  readonly value: Config['protections'];
  readonly onChange: (protections: Config['protections']) => void;
}) {
  const { strategy, value, onChange } = props;
  const declared = strategy?.protections ?? [];
  const choice = value && (value.length > 0 ? 'own' : 'none');
  return (
    <div className="stack pad">
      <div className="fields">
        <SelectField
          label="Protections"
          path="config.protections"
          help="Rules that lock pairs against entries after losses"
          value={choice}
          placeholder={`Those of the strategy (${declared.length === 0 ? 'none' : declared.length})`}
          options={CHOICES}
          onChange={(next) =>
            onChange(next === 'own' ? (declared.length > 0 ? [...declared] : [FIRST]) : next && [])
          }
        />
      </div>
      {value?.map((values, index) => (
        <Protection
          // biome-ignore lint/suspicious/noArrayIndexKey: a protection has no identity of its own
          key={index}
          number={index + 1}
          path={`config.protections[${index}]`}
          values={values}
          onChange={(next) => onChange(value.with(index, next))}
          onRemove={() => onChange(value.toSpliced(index, 1))}
        />
      ))}
      {value && value.length > 0 && value.length < limits.count && (
        <button type="button" className="btn small roi-add" onClick={() => onChange([...value, FIRST])}>
          <Plus aria-hidden="true" /> Protection
        </button>
      )}
    </div>
  );
}

interface PartProps {
  readonly path: string;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** One protection. Long because it is the list of the fields. */
function Protection(
  props: PartProps & {
    /** From 1. */
    readonly number: number;
    readonly onRemove: () => void;
  },
) {
  const { number, path, values, onChange, onRemove } = props;
  const part = { path, values, onChange };
  const method = values.method as Method;
  const has = (key: string) => (keys[method] as readonly string[]).includes(key);
  return (
    <fieldset className="protection" aria-label={`Protection ${number}`}>
      <div className="protection-head">
        <SelectField
          label={`Protection ${number}`}
          path={`${path}.method`}
          options={METHODS}
          value={method}
          onChange={(next) => next && onChange(withMethod(values, next))}
        />
        <button
          type="button"
          className="btn icon"
          aria-label={`Remove protection ${number}`}
          onClick={onRemove}
        >
          <X aria-hidden="true" />
        </button>
      </div>
      <div className="fields">
        <PeriodFields {...part} name="lookback_period" label="Trades of the last" />
        <PeriodFields {...part} name="stop_duration" label="Lock for" />
        {has('trade_limit') && (
          <NumberFor
            {...part}
            {...{
              name: 'trade_limit',
              label: 'Number of trades',
              bounds: limits.trade_limit,
              isInteger: true,
            }}
            placeholder={method === 'StoplossGuard' ? '10' : '1'}
          />
        )}
        {has('required_profit') && (
          <NumberFor
            {...part}
            {...{ name: 'required_profit', label: 'Profit below, ratio', bounds: limits.required_profit }}
            placeholder="0"
          />
        )}
        {has('max_allowed_drawdown') && (
          <NumberFor
            {...part}
            {...{ name: 'max_allowed_drawdown', label: 'Drawdown above, ratio' }}
            {...{ bounds: limits.max_allowed_drawdown, placeholder: '0' }}
          />
        )}
        {has('calculation_mode') && (
          <SelectField
            label="Drawdown of"
            path={`${path}.calculation_mode`}
            value={values.calculation_mode as 'ratios' | 'equity' | undefined}
            placeholder="summed profit ratios (default)"
            options={[{ value: 'equity', label: 'the balance' }]}
            onChange={(calculation_mode) => onChange({ ...values, calculation_mode })}
          />
        )}
        {has('only_per_pair') && <FlagFor {...part} name="only_per_pair" label="Lock the pair only" />}
        {has('only_per_side') && (
          <FlagFor {...part} name="only_per_side" label="Only the side of the closed trade" />
        )}
      </div>
    </fieldset>
  );
}

/** The values with another method, which keeps those that it has too. */
function withMethod(values: Values, method: Method): Values {
  const known: readonly string[] = keys[method];
  return { ...Object.fromEntries(Object.entries(values).filter(([key]) => known.includes(key))), method };
}

const UNITS = { candles: '_candles', minutes: '' } as const;
type Unit = keyof typeof UNITS | 'until';

/** A length in candles or minutes; that of a lock may be a time of day as well. */
function PeriodFields({
  path,
  values,
  onChange,
  name,
  label,
}: PartProps & { readonly name: 'lookback_period' | 'stop_duration'; readonly label: string }) {
  const isLock = name === 'stop_duration';
  const unit: Unit =
    isLock && 'unlock_at' in values ? 'until' : `${name}_candles` in values ? 'candles' : 'minutes';
  const key = unit === 'until' ? 'unlock_at' : `${name}${UNITS[unit]}`;
  const given = values[key];
  const setUnit = (next: Unit) => {
    const { [key]: _, ...rest } = values;
    const renamed = next === 'until' ? 'unlock_at' : `${name}${UNITS[next]}`;
    const keeps = next !== 'until' && unit !== 'until';
    onChange({ ...rest, method: values.method, [renamed]: keeps ? given : undefined });
  };
  return (
    <>
      {unit === 'until' ? (
        <TextField
          label="Lock until, UTC"
          path={`${path}.${key}`}
          placeholder="18:00"
          maxLength={5}
          value={given as string | undefined}
          onChange={(text) => onChange({ ...values, [key]: text })}
        />
      ) : (
        <NumberField
          label={label}
          path={`${path}.${key}`}
          {...{ min: limits[unit].min, max: limits[unit].max, isInteger: unit === 'candles' }}
          value={given as number | undefined}
          placeholder={unit === 'minutes' ? '60' : undefined}
          problem={unit === 'candles' && given === undefined ? 'A number of candles is needed' : undefined}
          onChange={(number) => onChange({ ...values, [key]: number })}
        />
      )}
      <SelectField
        label={isLock ? 'Lock in' : 'Count in'}
        path={`${path}.${name}.unit`}
        value={unit}
        options={[
          { value: 'candles' as Unit },
          { value: 'minutes' },
          ...(isLock ? [{ value: 'until' as const, label: 'time of day' }] : []),
        ]}
        onChange={(next) => next && setUnit(next)}
      />
    </>
  );
}

function NumberFor(
  props: PartProps & {
    readonly name: string;
    readonly label: string;
    readonly bounds: { readonly min: number; readonly max: number };
    readonly isInteger?: boolean;
    readonly placeholder: string;
  },
) {
  const { path, values, onChange, name, label, bounds, isInteger = false, placeholder } = props;
  return (
    <NumberField
      label={label}
      path={`${path}.${name}`}
      {...{ min: bounds.min, max: bounds.max, isInteger, placeholder }}
      value={values[name] as number | undefined}
      onChange={(number) => onChange({ ...values, [name]: number })}
    />
  );
}

function FlagFor({
  path,
  values,
  onChange,
  name,
  label,
}: PartProps & { readonly name: string; readonly label: string }) {
  return (
    <CheckField
      label={label}
      path={`${path}.${name}`}
      value={values[name] === true}
      onChange={(flag) => onChange({ ...values, [name]: flag })}
    />
  );
}
