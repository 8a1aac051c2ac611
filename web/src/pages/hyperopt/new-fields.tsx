import LIMITS from 'virtual:limits';
import { useCall } from '../../api/queries.ts';
import { MultiSelect, SelectField } from '../../forms/choices.tsx';
import { DateRangeField, NumberField, TextField } from '../../forms/inputs.tsx';
import { utcDate } from '../../ui/format.ts';
import type { ChangeFields, Draft, Strategy } from './draft.ts';

const { limits, defaults } = LIMITS.hyperopt;
const account = LIMITS.backtest;
const optionsOf = <T extends string>(values: readonly T[]) => values.map((value) => ({ value }));

/** First and last day that is stored of every pair. */
function useStored(pairs: readonly string[], timeframe: string, exchange: string | undefined) {
  const { data } = useCall('getCoverage', { query: { timeframe, exchange, limit: 100 } });
  const found = data?.items.filter(({ symbol }) => pairs.includes(symbol)) ?? [];
  if (found.length === 0 || found.length < pairs.length) return undefined;
  const first = found
    .map((each) => each.first)
    .sort()
    .at(-1)!;
  const last = found.map((each) => each.last).sort()[0]!;
  return { first: utcDate(first), last: utcDate(last) };
}

export function MarketFields(props: {
  readonly strategies: readonly Strategy[];
  readonly strategy: Strategy | undefined;
  readonly fields: Draft['fields'];
  readonly onChange: ChangeFields;
  readonly pickStrategy: (name: string) => void;
}) {
  const { strategies, strategy, fields, onChange } = props;
  const { pairs, timeframe, exchange, date_range } = fields;
  const symbols = useCall('listSymbols', { query: { exchange } });
  const chosen = pairs ?? [];
  const used = chosen.length > 0 ? chosen : (strategy?.pairs ?? []);
  const known = new Set([...(symbols.data?.symbols ?? []), ...(strategy?.pairs ?? []), ...chosen]);
  const stored = useStored(used, timeframe ?? strategy?.timeframe ?? '', exchange);
  const day = (time: string | undefined) => time?.slice(0, 10);
  return (
    <div className="fields pad">
      <SelectField
        label="Strategy"
        path="strategy"
        help={strategy?.description}
        value={fields.strategy}
        options={strategies.map((each) => ({ value: each.strategy }))}
        onChange={(name) => props.pickStrategy(name ?? '')}
      />
      <MultiSelect
        label="Pairs"
        path="pairs"
        values={chosen}
        placeholder={`Those of the strategy (${strategy?.pairs.length ?? 0})`}
        options={[...known].sort().map((value) => ({ value }))}
        onChange={(values) => onChange({ pairs: values.length > 0 ? [...values] : undefined })}
      />
      <SelectField
        label="Timeframe"
        path="timeframe"
        value={timeframe}
        placeholder={`That of the strategy (${strategy?.timeframe ?? ''})`}
        options={optionsOf(LIMITS.timeframes)}
        onChange={(value) => onChange({ timeframe: value })}
      />
      <DateRangeField
        label="Traded days, UTC"
        path="date_range"
        help={
          stored
            ? `Stored for every pair: ${stored.first} to ${stored.last}. Empty: the newest days.`
            : 'Not stored for every pair yet: collected before the first trial. Empty: the newest days.'
        }
        value={{ start: day(date_range?.start), end: day(date_range?.end) }}
        onChange={({ start, end }) =>
          onChange({
            date_range: {
              // A time of the job that this one repeats stays until another day is chosen.
              start: start === day(date_range?.start) ? date_range?.start : start,
              end: end === day(date_range?.end) ? date_range?.end : end,
            },
          })
        }
      />
      <SelectField
        label="Collect candles"
        path="collect"
        value={fields.collect}
        placeholder={`${account.defaults.collect} (default)`}
        options={optionsOf(LIMITS.collectModes)}
        onChange={(value) => onChange({ collect: value })}
      />
      <TextField
        label="Experiment"
        path="experiment_name"
        help="Name of the study, and for filtering the list"
        maxLength={account.limits.experiment_name.max}
        value={fields.experiment_name}
        onChange={(value) => onChange({ experiment_name: value })}
      />
    </div>
  );
}

/** Objective, sampler and size of the search. */
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
      <NumberField label="Seed" help="The same seed gives the same trials" {...number('seed')} />
    </div>
  );
}

export function AccountFields(props: {
  readonly fields: Draft['fields'];
  readonly strategy: Strategy | undefined;
  readonly onChange: ChangeFields;
}) {
  const { fields, strategy, onChange } = props;
  const number = (
    name: 'dry_run_wallet' | 'max_open_trades' | 'fee' | 'slippage' | 'leverage',
    placeholder: string,
  ) => ({
    path: name,
    min: account.limits[name].min,
    max: account.limits[name].max,
    isInteger: name === 'max_open_trades',
    value: fields[name],
    placeholder,
    onChange: (value: number | undefined) => onChange({ [name]: value }),
  });
  const { stake_amount: stake } = fields;
  const isUnlimited = stake === 'unlimited';
  return (
    <div className="fields pad">
      <NumberField
        label="Wallet, quote currency"
        {...number('dry_run_wallet', String(account.defaults.dry_run_wallet))}
      />
      <SelectField
        label="Stake"
        path="stake_amount"
        value={isUnlimited ? 'unlimited' : typeof stake === 'number' ? 'fixed' : undefined}
        placeholder={`That of the strategy (${strategy?.stake_amount ?? ''})`}
        options={[
          { value: 'fixed', label: 'Fixed amount' },
          { value: 'unlimited', label: 'Balance divided by open trades' },
        ]}
        onChange={(kind) =>
          onChange({
            stake_amount: kind === 'fixed' ? (strategy?.stake_amount ?? 100) : kind,
          })
        }
      />
      {typeof stake === 'number' && (
        <NumberField
          label="Stake per trade, quote currency"
          path="stake_amount"
          min={account.limits.stake_amount.min}
          max={account.limits.stake_amount.max}
          value={stake}
          onChange={(value) => onChange({ stake_amount: value })}
        />
      )}
      <NumberField label="Open trades at most" {...number('max_open_trades', 'One per pair')} />
      <NumberField label="Fee per side, ratio" {...number('fee', String(account.defaults.fee))} />
      <NumberField
        label="Slippage per market fill, ratio"
        {...number('slippage', String(account.defaults.slippage))}
      />
      <NumberField
        label="Leverage"
        {...number('leverage', String(strategy?.leverage ?? account.defaults.leverage))}
      />
      <SelectField
        label="Precision"
        path="precision"
        help="exchange: prices and amounts in the steps of the exchange"
        value={fields.precision}
        placeholder="Default"
        options={optionsOf(LIMITS.precisions)}
        onChange={(value) => onChange({ precision: value })}
      />
    </div>
  );
}
