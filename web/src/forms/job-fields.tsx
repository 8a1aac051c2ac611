import LIMITS from 'virtual:limits';
import { type ReactNode, useState } from 'react';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { webConfig } from '../api/config.ts';
import { type StoredSeries, useStoredData } from '../api/coverage.ts';
import { useCall } from '../api/queries.ts';
import { commonRange, sourcesOf, wholeRange } from '../charts/coverage.ts';
import { CoverageStrip } from '../charts/coverage-strip.tsx';
import { listed, shortPair } from '../ui/format.ts';
import { type AccountOption, AccountOptionFields } from './account-option-fields.tsx';
import { MultiSelect, SelectField } from './choices.tsx';
import { DateRangeField, NumberField, TextField } from './inputs.tsx';
import { SlippageModelFields } from './slippage-model-fields.tsx';
import type { Strategy } from './start-job.tsx';
import { timeframesOf } from './timeframes.ts';

type MarketField = 'exchange' | 'trading_mode' | 'pairs' | 'timeframe' | 'collect' | 'date_range';
type AccountField =
  | 'stake_amount'
  | 'dry_run_wallet'
  | 'max_open_trades'
  | 'fee'
  | 'slippage'
  | 'leverage'
  | 'precision'
  | 'slippage_model'
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

/** The pairs of a run that names none. */
function defaultPairs(own: readonly string[], universe: Universe): string {
  if (!universe) return `Those of the strategy (${own.length})`;
  const { candidates } = universe;
  return candidates ? `The candidates of the repeated run (${candidates.length})` : 'All that are stored';
}

const COLLECT_LABELS: Readonly<Record<string, string>> = {
  never: 'Never: run on what is stored',
  if_stale: 'What is missing',
  always: 'All of the range again',
};

type Universe = BacktestConfigRequest['universe'];
type Days = ReturnType<typeof wholeRange>;

/** Delisted pairs are never up to date: those that a universe does not name are not collected by default. */
function keepsAllPairs(universe: Universe, pairs: readonly string[] = []): boolean {
  return universe !== undefined && pairs.length === 0;
}

interface Stored {
  /** Those of the pairs, in their order. */
  readonly series: readonly StoredSeries[];
  /** The days of every pair, of a universe those of any; undefined where candles of a pair are to be collected. */
  readonly days: Days;
  /** The days of any pair; undefined where candles of a pair are to be collected. */
  readonly whole: Days;
  readonly isLoaded: boolean;
}

/** Missing pairs that a text names before it counts the rest. */
const NAMED_PAIRS = 6;

/** Stored series of some pairs. The pairs of a universe need not have the same days; without `pairs` it chooses from all. */
function useStored(
  exchange: string,
  pairs: readonly string[],
  timeframe: string,
  isUniverse: boolean,
): Stored {
  // Candles of the other timeframes are computed of shorter ones.
  const isCollected = LIMITS.timeframes.some((each) => each === timeframe);
  const { data } = useStoredData(exchange, isCollected ? timeframe : undefined);
  const known = data?.series ?? [];
  const all = isCollected ? known : sourcesOf(known, timeframe);
  const isLoaded = data !== undefined;
  const ofAll = isUniverse && pairs.length === 0;
  const series = ofAll ? all : pairs.flatMap((pair) => all.find(({ symbol }) => symbol === pair) ?? []);
  const isMissing = !ofAll && series.length < pairs.length;
  const whole = isMissing ? undefined : wholeRange(series);
  return { series, isLoaded, whole, days: isUniverse || isMissing ? whole : commonRange(series) };
}

/**
 * Strategy, pairs, timeframe and range, with the stored candles under the range. The range ends where the stored candles of the
 * pairs do, unless the user chooses to collect others or to run without them.
 * Long because it is the list of the fields, each of which limits others.
 */
export function MarketFields(
  props: JobFieldsProps & {
    readonly strategies: readonly Strategy[];
    readonly strategyName: string;
    readonly onStrategy: (name: string) => void;
    /** Absent: all pairs are traded over the whole range. */
    readonly universe?: Universe;
    /** Further fields of the same panel. */
    readonly children?: ReactNode;
  },
) {
  const { prefix, strategies, strategy, fields, onChange, universe } = props;
  const { pairs = [], timeframe, date_range: range, collect } = fields;
  const exchange = fields.exchange ?? webConfig().exchange;
  const symbols = useCall('listSymbols', { query: { exchange: fields.exchange } });
  const isSpot = fields.trading_mode === 'spot';
  const own = pairsIn(isSpot, strategy?.pairs ?? []);
  const isUniverse = universe !== undefined;
  const used = pairs.length > 0 ? pairs : isUniverse ? (universe.candidates ?? []) : own;
  const offered = (symbols.data?.symbols ?? []).filter((symbol) => symbol.includes(':') !== isSpot);
  const known = new Set([...offered, ...own, ...pairs]);
  const usedTimeframe = timeframe ?? strategy?.timeframe ?? '';
  const stored = useStored(exchange, used, usedTimeframe, isUniverse);
  const isLimited = stored.whole !== undefined && collect === undefined;
  const isKept = collect === 'never' || (collect === undefined && keepsAllPairs(universe, pairs));
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
      <MultiSelect
        label="Pairs"
        path={`${prefix}pairs`}
        values={pairs}
        placeholder={defaultPairs(own, universe)}
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
        help={
          isLimited
            ? 'The end is exclusive. Empty: the newest stored days. For others choose which candles to collect'
            : 'The end is exclusive. Empty: the newest stored days'
        }
        value={{ start: dayOf(range?.start), end: dayOf(range?.end) }}
        min={isLimited ? stored.whole?.start : undefined}
        max={isLimited ? stored.whole?.end : undefined}
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
      <StoredRange
        {...stored}
        {...{ isUniverse, isKept }}
        pairs={used}
        timeframe={usedTimeframe}
        range={range}
        onAll={(all) => onChange({ date_range: all })}
      />
      {props.children}
    </div>
  );
}

/** Trading mode, exchange, and which candles are collected first. */
export function MarketOptionFields(
  props: Pick<JobFieldsProps, 'prefix' | 'fields' | 'onChange'> & { readonly universe?: Universe },
) {
  const { prefix, fields, onChange, universe } = props;
  const isSpot = fields.trading_mode === 'spot';
  return (
    <>
      <SelectField
        label="Trading mode"
        path={`${prefix}trading_mode`}
        help={isSpot ? 'Pairs such as BTC/USDT: no shorts, leverage or funding' : undefined}
        value={fields.trading_mode}
        placeholder="futures"
        options={optionsOf(LIMITS.tradingModes)}
        onChange={(mode) =>
          // Pairs of the other mode are not valid in this one; spot has neither leverage nor margin.
          onChange({
            trading_mode: mode,
            pairs: undefined,
            ...(mode === 'spot' && { leverage: undefined, margin_mode: undefined }),
          })
        }
      />
      <SelectField
        label="Collect candles before the run"
        path={`${prefix}collect`}
        help='"What is missing" allows days that are not stored'
        value={fields.collect}
        placeholder={
          keepsAllPairs(universe, fields.pairs)
            ? 'Default: never, run on what is stored'
            : 'Default: keep what is stored up to date'
        }
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
    </>
  );
}

/** What is stored of the pairs. Its height is fixed, so that nothing moves when the coverage is there. */
function StoredRange(
  props: Stored & {
    readonly isUniverse: boolean;
    /** True when no candles are collected before the run. */
    readonly isKept: boolean;
    readonly pairs: readonly string[];
    readonly timeframe: string;
    readonly range: JobFields['date_range'];
    readonly onAll: (range: { readonly start: string; readonly end: string }) => void;
  },
) {
  const { series, days, isLoaded, isUniverse, isKept, pairs, timeframe, range, onAll } = props;
  const missing = pairs.filter((pair) => !series.some(({ symbol }) => symbol === pair));
  const outcome = !isKept
    ? 'they are collected before the run'
    : isUniverse
      ? 'they cannot be chosen'
      : 'the run needs them';
  return (
    <div className="stored-range">
      <div className="row">
        <span className="field-help">
          {!isLoaded
            ? 'Stored candles'
            : missing.length > 0
              ? `No ${timeframe} candles are stored of ${listed(missing.map(shortPair), NAMED_PAIRS)}: ${outcome}.`
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

/** Account and costs. Long because it is the list of the fields. */
export function AccountFields(
  props: JobFieldsProps & {
    /** Default of the number of open trades. */
    readonly openTrades?: string;
  },
) {
  const { prefix, strategy, fields, onChange, openTrades = 'One per pair' } = props;
  const isSpot = fields.trading_mode === 'spot';
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
  // An amount that is deleted to type another one keeps its field.
  const [isEmptied, setEmptied] = useState(false);
  const isFixed = typeof stake === 'number' || (stake === undefined && isEmptied);
  return (
    <div className="fields pad">
      <NumberField
        label="Wallet, quote currency"
        {...number('dry_run_wallet', String(defaults.dry_run_wallet))}
      />
      <SelectField
        label="Stake"
        path={`${prefix}stake_amount`}
        value={stake === 'unlimited' ? 'unlimited' : isFixed ? 'fixed' : undefined}
        placeholder={`That of the strategy (${strategy?.stake_amount ?? ''})`}
        options={[
          { value: 'fixed', label: 'Fixed amount' },
          { value: 'unlimited', label: 'Balance divided by open trades' },
        ]}
        onChange={(kind) => {
          setEmptied(false);
          onChange({ stake_amount: kind === 'fixed' ? (strategy?.stake_amount ?? 100) : kind });
        }}
      />
      {isFixed && (
        <NumberField
          label="Stake per trade, quote currency"
          path={`${prefix}stake_amount`}
          min={limits.stake_amount.min}
          max={limits.stake_amount.max}
          value={typeof stake === 'number' ? stake : undefined}
          problem={stake === undefined ? 'An amount is needed' : undefined}
          onChange={(value) => {
            setEmptied(value === undefined);
            onChange({ stake_amount: value });
          }}
        />
      )}
      <NumberField label="Open trades at most" {...number('max_open_trades', openTrades)} />
      <NumberField label="Fee per side, ratio" {...number('fee', String(defaults.fee))} />
      <NumberField
        label="Slippage per market fill, ratio"
        {...number('slippage', String(defaults.slippage))}
      />
      <SlippageModelFields {...{ prefix, onChange }} model={fields.slippage_model} />
      {!isSpot && (
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
      <AccountOptionFields {...{ prefix, fields, isSpot, onChange }} />
    </div>
  );
}
