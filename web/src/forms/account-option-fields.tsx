import LIMITS from 'virtual:limits';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { CheckField, SelectField } from './choices.tsx';
import { NumberField, NumberOrNoneField } from './inputs.tsx';

export type AccountOption = keyof typeof import('#contract/config/account.ts').ACCOUNT_OPTIONS;
type Options = Pick<BacktestConfigRequest, AccountOption>;

const { limits, defaults, orderTypes, marginModes } = LIMITS.account;
const SIDES = [
  { side: 'entry', title: 'Entry' },
  { side: 'exit', title: 'Exit' },
] as const;

interface OptionFieldsProps {
  readonly prefix: '' | 'config.';
  readonly fields: Options;
  readonly onChange: (fields: Options) => void;
}

/** What may be traded of the wallet, and how orders are placed. */
export function AccountOptionFields(props: OptionFieldsProps & { readonly isSpot: boolean }) {
  const { prefix, fields, isSpot, onChange } = props;
  const { position_stacking: stacking } = fields;
  return (
    <>
      <CapitalFields {...{ prefix, fields, onChange }} />
      <OrderFields {...{ prefix, fields, onChange }} />
      {!isSpot && (
        <SelectField
          label="Margin"
          path={`${prefix}margin_mode`}
          help="isolated: the stake of a position. cross: the account"
          value={fields.margin_mode}
          placeholder={`${defaults.margin_mode} (default)`}
          options={marginModes.map((value) => ({ value }))}
          onChange={(value) => onChange({ margin_mode: value })}
        />
      )}
      <SelectField
        label="Trades of a pair at a time"
        path={`${prefix}position_stacking`}
        value={stacking === undefined ? undefined : stacking ? 'several' : 'one'}
        placeholder="one (default)"
        options={[{ value: 'one' }, { value: 'several' }]}
        onChange={(value) => onChange({ position_stacking: value && value === 'several' })}
      />
    </>
  );
}

/** What may be traded of the wallet. */
function CapitalFields({ prefix, fields, onChange }: OptionFieldsProps) {
  const { available_capital: capital } = fields;
  return (
    <>
      {capital == null && (
        <NumberField
          label="Tradable share of the balance"
          path={`${prefix}tradable_balance_ratio`}
          min={limits.tradable_balance_ratio.min}
          max={limits.tradable_balance_ratio.max}
          value={fields.tradable_balance_ratio}
          placeholder={String(defaults.tradable_balance_ratio)}
          onChange={(value) => onChange({ tradable_balance_ratio: value })}
        />
      )}
      <NumberField
        label="Capital, quote currency"
        path={`${prefix}available_capital`}
        help="May be traded with its profit, in place of a share of the balance"
        min={limits.available_capital.min}
        max={limits.available_capital.max}
        value={capital ?? undefined}
        placeholder="A share of the balance"
        onChange={(value) =>
          onChange({
            available_capital: value,
            ...(value !== undefined && { tradable_balance_ratio: undefined }),
          })
        }
      />
      <CheckField
        label="Lower the last stake to what is left"
        path={`${prefix}amend_last_stake_amount`}
        value={fields.amend_last_stake_amount ?? false}
        onChange={(isOn) =>
          onChange({
            // Left out, it would be that of a registered version.
            amend_last_stake_amount: isOn,
            ...(!isOn && { last_stake_amount_min_ratio: undefined }),
          })
        }
      />
      {fields.amend_last_stake_amount && (
        <NumberField
          label="Least share of the last stake"
          path={`${prefix}last_stake_amount_min_ratio`}
          min={limits.last_stake_amount_min_ratio.min}
          max={limits.last_stake_amount_min_ratio.max}
          value={fields.last_stake_amount_min_ratio}
          placeholder={String(defaults.last_stake_amount_min_ratio)}
          onChange={(value) => onChange({ last_stake_amount_min_ratio: value })}
        />
      )}
    </>
  );
}

/** How orders are placed. */
function OrderFields({ prefix, fields, onChange }: OptionFieldsProps) {
  const { order_types: types, unfilled_timeout: timeout } = fields;
  return (
    <>
      {SIDES.map(({ side, title }) => (
        <SelectField
          key={side}
          label={`${title} orders`}
          path={`${prefix}order_types.${side}`}
          value={types?.[side]}
          placeholder="Those of the strategy"
          options={orderTypes.map((value) => ({ value }))}
          onChange={(value) => onChange({ order_types: withSide(types, side, value) })}
        />
      ))}
      {SIDES.map(({ side, title }) => (
        <NumberField
          key={side}
          label={`${title} timeout, minutes`}
          path={`${prefix}unfilled_timeout.${side}`}
          min={limits.unfilled_timeout.min}
          max={limits.unfilled_timeout.max}
          value={timeout?.[side]}
          placeholder="That of the strategy"
          onChange={(value) => onChange({ unfilled_timeout: withSide(timeout, side, value) })}
        />
      ))}
      <NumberOrNoneField
        label="Detail candles that may enter"
        path={`${prefix}ignore_entry_after_candles`}
        help="An entry signal acts in the first of them only; none: in all. It needs an order of events inside a candle"
        {...{
          min: limits.ignore_entry_after_candles.min,
          max: limits.ignore_entry_after_candles.max,
          isInteger: true,
        }}
        value={fields.ignore_entry_after_candles}
        placeholder="Those of the strategy"
        onChange={(value) => onChange({ ignore_entry_after_candles: value })}
      />
      <NumberOrNoneField
        label="Additions to a position"
        path={`${prefix}max_adjustments`}
        help="Of strategies that adjust their positions. 0: no addition, none: no limit"
        {...{ min: limits.max_adjustments.min, max: limits.max_adjustments.max, isInteger: true }}
        value={fields.max_adjustments}
        placeholder="Those of the strategy"
        onChange={(value) => onChange({ max_adjustments: value })}
      />
    </>
  );
}

/** The values with another one for a side; undefined without any. */
function withSide<T>(
  values: { readonly entry?: T | undefined; readonly exit?: T | undefined } | undefined,
  side: 'entry' | 'exit',
  value: T | undefined,
) {
  const next = { ...values, [side]: value };
  return next.entry === undefined && next.exit === undefined ? undefined : next;
}
