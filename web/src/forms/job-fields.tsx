import LIMITS from 'virtual:limits';
import type { ReactNode } from 'react';
import type { BacktestConfigRequest } from '#contract/backtest-api.ts';
import { webConfig } from '../api/config.ts';
import { type StoredSeries, useStoredData } from '../api/coverage.ts';
import { useCall } from '../api/queries.ts';
import { commonRange, wholeRange } from '../charts/coverage.ts';
import { CoverageStrip } from '../charts/coverage-strip.tsx';
import { type AccountOption, AccountOptionFields } from './account-option-fields.tsx';
import { MultiSelect, SelectField } from './choices.tsx';
import { DateRangeField, NumberField, TextField } from './inputs.tsx';
import { SlippageModelFields } from './slippage-model-fields.tsx';
import type { Strategy } from './start-job.tsx';
import { timeframesOf } from './timeframes.ts';

type MarketField = 'exchange' | 'trading_mode' | 'pairs' | 'timeframe' | 'collect' | 'date_range';
type AccountField =
  | ('stake_amount' | 'dry_run_wallet' | 'max_open_trades' | 'fee' | 'slippage' | 'leverage')
  | ('precision' | 'slippage_model')
  | AccountOption;

/** Fields that the requests of all kinds of jobs have. */
type JobFields = Pick<BacktestConfigRequest, MarketField | AccountField>;

interface JobFieldsProps {
  /** Where the request has these fields. */
  readonly prefix: '' | 'config.';
  readonly strategy: Strategy | undefined;
  readonly fields: JobFields;
  readonly onChange: (fields: Partial<JobFields>) => void;
}

const { limits, defaults } = LIMITS.backtest;
const optionsOf = <T extends string>(values: readonly T[]) => values.map((value) => ({ value }));
const strategyOption = (value: string) =>
  value === LIMITS.signals.strategy ? { value, label: 'signals: a file of yours' } : { value };
const dayOf = (time: string | undefined) => time?.slice(0, 10);

/** Pairs of a strategy, which are perpetuals, in a trading mode. */
function pairsIn(isSpot: boolean, pairs: readonly string[]): readonly string[] {
  return isSpot ? [...new Set(pairs.map((pair) => pair.split(':', 1)[0]!))] : pairs;
}

const COLLECT_LABELS: Readonly<Record<string, string>> = {
  never: 'Never: run on what is stored',
  if_stale: 'What is missing',
  always: 'All of the range again',
};

interface Stored {
  /** Those of the pairs, in their order. */
  readonly series: readonly StoredSeries[];
  /** The days that a run can use; undefined where candles of a pair are to be collected. */
  readonly days: { readonly start: string; readonly end: string } | undefined;
  readonly isLoaded: boolean;
}

/** Stored series of some pairs. The pairs of a universe need not have the same days; without `pairs` it chooses from all. */
function useStored(
  exchange: string,
  pairs: readonly string[],
  timeframe: string,
  isUniverse: boolean,
): Stored {
  const { data } = useStoredData(exchange, timeframe);
  const all = data?.series ?? [];
  const isLoaded = data !== undefined;
  if (isUniverse && pairs.length === 0) return { series: all, isLoaded, days: wholeRange(all) };
  const series = pairs.flatMap((pair) => all.find(({ symbol }) => symbol === pair) ?? []);
  if (series.length < pairs.length) return { series, isLoaded, days: undefined };
  return { series, isLoaded, days: isUniverse ? wholeRange(series) : commonRange(series) };
}

/**
 * Strategy, pairs, timeframe and range, with the stored candles under the range. The range ends where the stored candles of the
 * pairs do, unless the user chooses to collect others.
 */
export function MarketFields(
  props: JobFieldsProps & {
    readonly strategies: readonly Strategy[];
    readonly strategyName: string;
    readonly onStrategy: (name: string) => void;
    /** True when the pairs are chosen over time. */
    readonly isUniverse?: boolean;
    /** Further fields of the same panel. */
    readonly children?: ReactNode;
  },
) {
  const { prefix, strategies, strategy, fields, onChange, isUniverse = false } = props;
  const { pairs = [], timeframe, date_range: range, collect } = fields;
  const exchange = fields.exchange ?? webConfig().exchange;
  const symbols = useCall('listSymbols', { query: { exchange: fields.exchange } });
  const isSpot = fields.trading_mode === 'spot';
  const own = pairsIn(isSpot, strategy?.pairs ?? []);
  const used = pairs.length > 0 || isUniverse ? pairs : own;
  const listed = (symbols.data?.symbols ?? []).filter((symbol) => symbol.includes(':') !== isSpot);
  const known = new Set([...listed, ...own, ...pairs]);
  const usedTimeframe = timeframe ?? strategy?.timeframe ?? '';
  const stored = useStored(exchange, used, usedTimeframe, isUniverse);
  const isLimited = stored.days !== undefined && (collect === undefined || collect === 'never');
  return (
    <div className="fields pad">
      <SelectField
        label="Strategy"
        path={`${prefix}strategy`}
        help={strategy?.description}
        value={props.strategyName}
        options={[...new Set([...strategies.map((each) => each.strategy), props.strategyName])].map(
          strategyOption,
        )}
        onChange={(name) => props.onStrategy(name ?? '')}
      />
      <SelectField
        label="Trading mode"
        path={`${prefix}trading_mode`}
        help={isSpot ? 'Pairs such as BTC/USDT: no shorts, leverage or funding' : undefined}
        value={fields.trading_mode}
        placeholder="futures"
        options={optionsOf(LIMITS.tradingModes)}
        onChange={(mode) =>
          // Pairs of the other mode are not valid in this one; spot has no leverage.
          onChange({
            trading_mode: mode,
            pairs: undefined,
            ...(mode === 'spot' && { leverage: undefined }),
          })
        }
      />
      <MultiSelect
        label="Pairs"
        path={`${prefix}pairs`}
        values={pairs}
        placeholder={`Those of the strategy (${own.length})`}
        options={[...known].sort().map((value) => ({ value }))}
        onChange={(values) => onChange({ pairs: values.length > 0 ? values : undefined })}
      />
      <SelectField
        label="Timeframe"
        path={`${prefix}timeframe`}
        value={timeframe}
        placeholder={`That of the strategy (${strategy?.timeframe ?? ''})`}
        options={optionsOf(timeframesOf(LIMITS.timeframes, strategy?.timeframe, timeframe))}
        onChange={(value) => onChange({ timeframe: value })}
      />
      <DateRangeField
        label="Range, UTC days"
        path={`${prefix}date_range`}
        help="The end is exclusive. Empty: the newest stored days"
        value={{ start: dayOf(range?.start), end: dayOf(range?.end) }}
        min={isLimited ? stored.days?.start : undefined}
        max={isLimited ? stored.days?.end : undefined}
        onChange={({ start, end }) =>
          onChange({
            date_range: {
              // A time of the job that this one repeats stays until another day is chosen.
              start: start === dayOf(range?.start) ? range?.start : start,
              end: end === dayOf(range?.end) ? range?.end : end,
            },
          })
        }
      />
      <SelectField
        label="Collect candles before the run"
        path={`${prefix}collect`}
        help={isLimited ? 'Choose "What is missing" for days that are not stored' : undefined}
        value={collect}
        placeholder="Default: keep what is stored up to date"
        options={LIMITS.collectModes.map((value) => ({ value, label: COLLECT_LABELS[value] ?? value }))}
        onChange={(value) => onChange({ collect: value })}
      />
      <TextField
        label="Exchange"
        path={`${prefix}exchange`}
        placeholder={webConfig().exchange}
        value={fields.exchange}
        onChange={(value) => onChange({ exchange: value })}
      />
      <StoredRange
        {...stored}
        isUniverse={isUniverse}
        pairs={used}
        timeframe={usedTimeframe}
        range={range}
        onAll={(all) => onChange({ date_range: all })}
      />
      {props.children}
    </div>
  );
}

/** What is stored of the pairs. Its height is fixed, so that nothing moves when the coverage is there. */
function StoredRange(
  props: Stored & {
    readonly isUniverse: boolean;
    readonly pairs: readonly string[];
    readonly timeframe: string;
    readonly range: JobFields['date_range'];
    readonly onAll: (range: { readonly start: string; readonly end: string }) => void;
  },
) {
  const { series, days, isLoaded, isUniverse, pairs, timeframe, range, onAll } = props;
  const missing = pairs.filter((pair) => !series.some(({ symbol }) => symbol === pair));
  return (
    <div className="stored-range">
      <div className="row">
        <span className="field-help">
          {!isLoaded
            ? 'Stored candles'
            : missing.length > 0
              ? `No ${timeframe} candles are stored of ${missing.map((pair) => pair.split(':')[0]).join(', ')}: they are collected before the run.`
              : days
                ? `Stored for ${isUniverse ? 'some of the pairs' : 'every pair'}: ${days.start} to ${days.end}.`
                : isUniverse
                  ? `No ${timeframe} candles are stored.`
                  : 'The pairs have no stored days in common.'}
        </span>
        {days && (
          <button type="button" className="btn small" onClick={() => onAll(days)}>
            Use all of it
          </button>
        )}
      </div>
      {series.length > 0 && (
        <CoverageStrip series={series} start={dayOf(range?.start)} end={dayOf(range?.end)} />
      )}
    </div>
  );
}

/** Account and costs. */
export function AccountFields({ prefix, strategy, fields, onChange }: JobFieldsProps) {
  const number = (
    name: 'dry_run_wallet' | 'max_open_trades' | 'fee' | 'slippage' | 'leverage',
    placeholder: string,
  ) => ({
    path: `${prefix}${name}`,
    min: limits[name].min,
    max: limits[name].max,
    isInteger: name === 'max_open_trades',
    value: fields[name],
    placeholder,
    onChange: (value: number | undefined) => onChange({ [name]: value }),
  });
  const { stake_amount: stake } = fields;
  return (
    <div className="fields pad">
      <NumberField
        label="Wallet, quote currency"
        {...number('dry_run_wallet', String(defaults.dry_run_wallet))}
      />
      <SelectField
        label="Stake"
        path={`${prefix}stake_amount`}
        value={stake === 'unlimited' ? 'unlimited' : typeof stake === 'number' ? 'fixed' : undefined}
        placeholder={`That of the strategy (${strategy?.stake_amount ?? ''})`}
        options={[
          { value: 'fixed', label: 'Fixed amount' },
          { value: 'unlimited', label: 'Balance divided by open trades' },
        ]}
        onChange={(kind) =>
          onChange({ stake_amount: kind === 'fixed' ? (strategy?.stake_amount ?? 100) : kind })
        }
      />
      {typeof stake === 'number' && (
        <NumberField
          label="Stake per trade, quote currency"
          path={`${prefix}stake_amount`}
          min={limits.stake_amount.min}
          max={limits.stake_amount.max}
          value={stake}
          onChange={(value) => onChange({ stake_amount: value })}
        />
      )}
      <NumberField label="Open trades at most" {...number('max_open_trades', 'One per pair')} />
      <NumberField label="Fee per side, ratio" {...number('fee', String(defaults.fee))} />
      <NumberField
        label="Slippage per market fill, ratio"
        {...number('slippage', String(defaults.slippage))}
      />
      <SlippageModelFields {...{ prefix, onChange }} model={fields.slippage_model} />
      {fields.trading_mode !== 'spot' && (
        <NumberField
          label="Leverage"
          {...number('leverage', String(strategy?.leverage ?? defaults.leverage))}
        />
      )}
      <SelectField
        label="Precision"
        path={`${prefix}precision`}
        help="exchange: prices and amounts in the steps of the exchange"
        value={fields.precision}
        placeholder="Default"
        options={optionsOf(LIMITS.precisions)}
        onChange={(value) => onChange({ precision: value })}
      />
      <AccountOptionFields {...{ prefix, fields, onChange }} />
    </div>
  );
}
