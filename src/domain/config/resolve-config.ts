import type { ResolvedBacktestConfig, RoiTable, TrailingStop } from '#contract/backtests/backtest.ts';
import { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { Protection } from '#contract/config/protections.ts';
import type { CollectMode } from '#contract/config/run-fields.ts';
import { NO_MODEL } from '#contract/hyperopt/hyperopt.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import {
  COLLECT_MODES,
  BACKTEST_DEFAULTS as DEFAULTS,
  FILL_MODELS,
  BACKTEST_LIMITS as LIMITS,
  PRECISIONS,
  type Precision,
  UNLIMITED_STAKE,
} from '#contract/values/backtest-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SIMULATED } from '#contract/values/names.ts';
import type { Timeframe } from '#contract/values/timeframes.ts';
import { resolveParameters } from '#engine/definitions/parameters.ts';
import { protectionProblems } from '#engine/definitions/protection-problems.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { historyStartOf } from '#engine/run/history.ts';
import type { ParameterValues } from '#engine/strategy.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { isCollected, sourceTimeframes } from '../data/candle-source.ts';
import type { InstrumentStore } from '../data/instrument-ports.ts';
import { noInstruments } from '../data/missing-instruments.ts';
import { type CollectionPlan, planCollection } from '../data/plan-reads.ts';
import type { Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkCount, checkNumber, checkOneOf, isExchangeKey } from '../shared/validate.ts';
import { resolveSignals } from '../signals/use-signals.ts';
import { checkDetail, checkRunTimeframe } from './check-timeframes.ts';
import { findStrategy } from './find-strategy.ts';
import { resolveAccount } from './resolve-account.ts';
import { ML_ENGINE_FIELD, ML_ENGINE_KEYS, resolveMlEngine } from './resolve-ml-engine.ts';
import { ROBUSTNESS_KEYS, resolveRobustness } from './resolve-robustness.ts';
import { resolveSlippageModel, slippageModelWarnings } from './resolve-slippage-model.ts';
import { resolveTradingMode } from './resolve-trading-mode.ts';
import { resolveUniverse, storedCandidates, universeWarnings } from './resolve-universe.ts';
import type { KnownStrategy, Strategies } from './strategy-ports.ts';

export interface ResolveDeps {
  readonly strategies: Strategies;
  readonly series: SeriesStore;
  readonly instruments: InstrumentStore;
  readonly clock: Clock;
  readonly defaultExchange: string;
}

export interface ResolvedSubmission {
  readonly config: ResolvedBacktestConfig;
  /** Not part of the configuration: it affects the stored candles, not the computation. */
  readonly collect: CollectMode;
  readonly warnings: readonly string[];
  /** Candles that must be stored for the run, startup candles and training data included. */
  readonly reads: CollectionPlan;
  /** Strategy with which the configuration was resolved. */
  readonly strategy: KnownStrategy;
  /** Instruments of the pairs at the time of the request; only with precision `exchange`. */
  readonly instruments?: ReadonlyMap<string, InstrumentRecord> | undefined;
}

type NumberField = 'dry_run_wallet' | 'max_open_trades' | 'fee' | 'slippage' | 'stoploss' | 'seed';

/** Keys of a configuration in a request. */
export const CONFIG_KEYS = Object.keys(BacktestConfigRequest.shape);
const DATE_RANGE_KEYS = Object.keys(BacktestConfigRequest.shape.date_range.unwrap().shape);
const TRAILING_KEYS = Object.keys(BacktestConfigRequest.shape.trailing.unwrap().unwrap().shape);

/**
 * Checks every field of a request and fills in its default, in the order of the schema. Long because it is the list of the
 * fields, whose order decides which error a request gets.
 * Throws RES002 (unknown strategy, known names in context), VAL001 to VAL006 (VAL006: broken strategy file, startup candles).
 */
export async function resolveConfig(
  deps: ResolveDeps,
  input: BacktestConfigRequest,
): Promise<ResolvedSubmission> {
  const known = await findStrategy(deps.strategies, input.strategy, NOT_FOUND);
  const strategy = known.definition;
  const number = (name: NumberField, fallback: number) =>
    checkNumber(input[name] ?? fallback, `config.${name}`, LIMITS[name]);

  const exchange = checkExchange(input.exchange ?? deps.defaultExchange);
  const find = (like: string) => {
    // Before the pairs are known the timeframe may be wrong as well: pairs come first in the schema.
    const timeframe = checkRunTimeframe(input.timeframe ?? strategy.timeframe, strategy);
    return storedCandidates(deps, { exchange, timeframe, like });
  };
  const candidates = input.universe && { named: input.universe.candidates, find };
  const market = await resolveTradingMode(input, strategy, exchange, candidates);
  const { pairs } = market;
  const timeframe = checkRunTimeframe(input.timeframe ?? strategy.timeframe, strategy);
  const chosen = resolveUniverse(input, timeframe, pairs);
  // Stored candidates may be delisted, and a delisted pair is never fresh: each run would collect.
  const collected = candidates && (candidates.named || !input.pairs) ? 'never' : DEFAULTS.collect;
  const collect = checkOneOf(input.collect ?? collected, 'config.collect', COLLECT_MODES);
  /** Time from which candles are read for a run that starts at `start`, ms. */
  const readsFrom = async (start: number) => {
    const startup = await known.startupCandles(resolveParams(strategy, input.params ?? {}));
    const { ml_engine } = resolveMlEngine(strategy, input.ml_engine, timeframe);
    return historyStartOf(strategy, startup, timeframe, start, ml_engine);
  };
  const range = await resolveDateRange(
    deps,
    input.date_range ?? {},
    { exchange, pairs, timeframe, isUniverse: chosen.universe !== undefined },
    readsFrom,
  );
  const wallet = number('dry_run_wallet', DEFAULTS.dry_run_wallet);
  const account = {
    stake_amount: checkStake(input.stake_amount ?? strategy.stakeAmount, wallet),
    dry_run_wallet: wallet,
    max_open_trades: number('max_open_trades', Math.min(chosen.universe?.n ?? pairs.length, pairs.length)),
    fee: number('fee', DEFAULTS.fee),
    slippage: number('slippage', DEFAULTS.slippage),
    ...resolveSlippageModel(input.slippage_model, timeframe),
    leverage: market.leverage,
  };
  const { options, warnings: optionWarnings } = resolveAccount(strategy, input);
  const precision = await resolvePrecision(deps, input, exchange, pairs);
  const params = resolveParams(strategy, input.params ?? {});
  const exits = {
    stoploss: number('stoploss', strategy.stoploss),
    minimal_roi: checkRoi(input.minimal_roi ?? strategy.minimalRoi ?? {}),
    trailing: resolveTrailing(input.trailing === undefined ? strategy.trailing : input.trailing),
    ...resolveProtections(input.protections ?? strategy.protections ?? []),
  };
  const fills = {
    timeframe_detail: checkDetail(input.timeframe_detail ?? null, timeframe),
    ...resolveMaxMissing(input.max_missing),
    fill_model: checkOneOf(input.fill_model ?? DEFAULTS.fill_model, 'config.fill_model', FILL_MODELS),
    seed: number('seed', DEFAULTS.seed),
  };
  const ml = resolveMlEngine(strategy, input.ml_engine, timeframe);

  const config: ResolvedBacktestConfig = {
    strategy: strategy.name,
    exchange,
    ...market.mode,
    pairs,
    timeframe,
    ...chosen,
    date_range: { start: isoTime(range.start), end: isoTime(range.end) },
    ...account,
    ...options,
    params: { ...params },
    ...exits,
    ...fills,
    precision: precision.value,
    ...resolveRobustness(input.robustness),
    ...(ml.ml_engine && { ml_engine: ml.ml_engine }),
    ...resolveSignals(input),
  };
  const startup = await known.startupCandles(params);
  return {
    config,
    collect,
    warnings: [
      ...unknownKeyWarnings(input, CONFIG_KEYS, 'config.', (key, value) => pathOf(strategy, key, value)),
      ...unknownKeyWarnings(input.date_range ?? {}, DATE_RANGE_KEYS, 'config.date_range.'),
      ...unknownKeyWarnings(input.trailing ?? {}, TRAILING_KEYS, 'config.trailing.'),
      ...optionWarnings,
      ...market.warnings,
      ...unknownKeyWarnings(input.robustness ?? {}, ROBUSTNESS_KEYS, 'config.robustness.'),
      ...slippageModelWarnings(input.slippage_model),
      ...universeWarnings(input.universe),
      ...precision.warnings,
      ...ml.warnings,
    ],
    reads: await planCollection(deps, config, { facts: strategy, startup }),
    strategy: known,
    instruments: precision.instruments,
  };
}

const NOT_FOUND = { field: 'config.strategy', unknown: 'RES002', broken: 'VAL006' } as const;

/** Full path of a key that belongs inside a field of `config`, for the hint of a warning. */
function pathOf({ parameters }: DefinitionData, key: string, value: unknown): string | undefined {
  if (Object.hasOwn(parameters, key)) return `config.params.${key}`;
  // A run without `ml_engine` has no model already.
  return ML_ENGINE_KEYS.includes(key) && value !== NO_MODEL ? `${ML_ENGINE_FIELD}.${key}` : undefined;
}

function checkExchange(exchange: string): string {
  if (isExchangeKey(exchange)) return exchange;
  throw invalid('exchange', 'must be an exchange key such as binanceusdm or sim', {
    value: exchange.slice(0, 100),
  });
}

interface Market {
  readonly exchange: string;
  readonly pairs: readonly string[];
  readonly timeframe: Timeframe;
  /** The pairs are candidates, which may begin and end anywhere. */
  readonly isUniverse: boolean;
}

/**
 * The given range. By default a run on imported candles reads all that its pairs have in common, and another one ends with the newest
 * candle and has 90 days.
 *
 * @param readsFrom time from which candles are read for a start, ms
 */
async function resolveDateRange(
  deps: ResolveDeps,
  range: NonNullable<BacktestConfigRequest['date_range']>,
  market: Market,
  readsFrom: (start: number) => Promise<number>,
): Promise<{ start: number; end: number }> {
  const given = { start: timeOf(range.start), end: timeOf(range.end) };
  const isInvalid = Number.isNaN(given.start) || Number.isNaN(given.end);
  const isComplete = given.start !== undefined && given.end !== undefined;
  const stored = isInvalid || isComplete ? [] : await storedOf(deps, market);
  const common = market.isUniverse ? undefined : importedRange(stored, market);
  const end = given.end ?? (isInvalid ? Number.NaN : (common?.end ?? newestCandleEnd(deps, stored, market)));
  const start =
    given.start ??
    (common && common.start < end
      ? await startWithin(common.start, end, market, readsFrom)
      : end - DEFAULTS.date_range_days * DAY_MS);
  if (start < end) return { start, end };
  const shown = (time: number) => (isInvalid ? null : isoTime(time));
  throw new CodedError('VAL001', {
    ...(isInvalid && { message: `Invalid date range: start and end must be ${ACCEPTED_TIMES}` }),
    field: 'config.date_range',
    context: {
      start: range.start?.slice(0, 100) ?? shown(start),
      end: range.end?.slice(0, 100) ?? shown(end),
    },
  });
}

/** Unix milliseconds; NaN for an invalid string. */
function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : (parseTime(text) ?? Number.NaN);
}

/** For each pair the stored series that its candles are read of; none for a pair without. */
async function storedOf(
  { series }: ResolveDeps,
  { exchange, pairs, timeframe }: Market,
): Promise<SeriesInfo[]> {
  const sources = sourceTimeframes(timeframe);
  const keys = pairs.flatMap((symbol) => sources.map((each) => ({ symbol, timeframe: each })));
  const stored = await series.getMany(exchange, keys);
  return pairs.flatMap((pair) => {
    const own = sources.flatMap((each) => stored.get(`${pair}#${each}`) ?? []);
    const isStored = isCollected(timeframe) && own[0]?.timeframe === timeframe;
    return isStored ? own.slice(0, 1) : own.sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, 1);
  });
}

const lengthOf = ({ first, last }: SeriesInfo) => Date.parse(last) - Date.parse(first);

/** From the first candle that all pairs have to the last; undefined unless all have candles, and some from files. */
function importedRange(
  stored: readonly SeriesInfo[],
  { pairs, timeframe }: Market,
): { start: number; end: number } | undefined {
  if (stored.length < pairs.length || !stored.some(({ imported }) => imported)) return undefined;
  const step = TIMEFRAME_MS[timeframe];
  const firsts = stored.map((info) => floorToGrid(Date.parse(info.first), TIMEFRAME_MS[info.timeframe]));
  return {
    start: ceilToGrid(Math.max(...firsts), step),
    end: floorToGrid(Math.min(...stored.map(endOfSeries)), step),
  };
}

/** Close time of the last candle of a series, on its grid, ms. */
function endOfSeries({ last, timeframe }: SeriesInfo): number {
  const step = TIMEFRAME_MS[timeframe];
  return floorToGrid(Date.parse(last), step) + step;
}

/**
 * The first start whose startup candles begin at `first` or later. A range that is too short for them starts with `first`: the run then
 * says what it lacks.
 */
async function startWithin(
  first: number,
  end: number,
  { timeframe }: Market,
  readsFrom: (start: number) => Promise<number>,
): Promise<number> {
  const start = ceilToGrid(first + (first - (await readsFrom(first))), TIMEFRAME_MS[timeframe]);
  return start < end ? start : first;
}

/** Close time of the newest stored candle of the pairs; without any, the start of the candle now forming. */
function newestCandleEnd(
  { clock }: ResolveDeps,
  stored: readonly SeriesInfo[],
  { timeframe }: Market,
): number {
  const step = TIMEFRAME_MS[timeframe];
  const newest = Math.max(...stored.map(endOfSeries));
  if (!Number.isFinite(newest)) return floorToGrid(clock.now(), step);
  // Computed candles end with the last complete one.
  return stored.every((each) => each.timeframe === timeframe) ? newest : floorToGrid(newest, step);
}

function resolveMaxMissing(ratio: number | undefined): Pick<ResolvedBacktestConfig, 'max_missing'> {
  if (ratio === undefined) return {};
  return { max_missing: checkNumber(ratio, 'config.max_missing', LIMITS.max_missing) };
}

function checkStake(stake: number | string, wallet: number): number | typeof UNLIMITED_STAKE {
  if (stake === UNLIMITED_STAKE) return stake;
  if (typeof stake === 'string') {
    throw invalid('stake_amount', `must be a number or "${UNLIMITED_STAKE}"`, {
      value: stake.slice(0, 100),
      allowed: [UNLIMITED_STAKE],
    });
  }
  checkNumber(stake, 'config.stake_amount', LIMITS.stake_amount);
  if (stake <= wallet) return stake;
  throw invalid('stake_amount', 'must not exceed config.dry_run_wallet: no trade could be opened', {
    value: stake,
    max: wallet,
  });
}

/**
 * The requested precision; by default `exchange` where the instruments of all pairs are stored. A universe needs those of some of
 * its candidates: it leaves the others out. Throws VAL005 for another value, and for `exchange` when an instrument is missing.
 */
async function resolvePrecision(
  { instruments }: Pick<ResolveDeps, 'instruments'>,
  { precision: requested, universe }: Pick<BacktestConfigRequest, 'precision' | 'universe'>,
  exchange: string,
  pairs: readonly string[],
): Promise<{ value: Precision; warnings: string[]; instruments?: ReadonlyMap<string, InstrumentRecord> }> {
  const precision =
    requested === undefined ? undefined : checkOneOf(requested, 'config.precision', PRECISIONS);
  // Its prices and amounts have no steps.
  if (exchange === SIMULATED) {
    const warning = `config.precision is none: ${SIMULATED} has no price ticks, amount steps or minimum orders`;
    return { value: 'none', warnings: precision === 'exchange' ? [warning] : [] };
  }
  if (precision === 'none') return { value: 'none', warnings: [] };
  const stored = await instruments.getMany(exchange, pairs);
  const missing = pairs.filter((pair) => !stored.has(pair));
  const isEnough = missing.length === 0 || (universe !== undefined && stored.size > 0);
  if (isEnough) return { value: 'exchange', warnings: [], instruments: stored };
  if (precision === undefined) return { value: 'none', warnings: [] };
  throw noInstruments('VAL005', exchange, missing);
}

function resolveParams(
  strategy: DefinitionData,
  overrides: Readonly<Record<string, unknown>>,
): ParameterValues {
  const { values, problems } = resolveParameters(strategy.parameters, overrides);
  if (problems[0]) {
    throw new CodedError('VAL005', {
      message: problems[0].message,
      field: `config.params.${problems[0].parameter.slice(0, 60)}`,
      context: { problems: problems.slice(0, 20).map((each) => each.message) },
    });
  }
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number') checkNumber(value, `config.params.${name}`);
  }
  return values;
}

function checkRoi(table: Readonly<RoiTable>): RoiTable {
  const { steps: maxSteps, minutes: range, ratio: ratios } = LIMITS.minimal_roi;
  const steps = Object.entries(table);
  checkCount(steps.length, 'config.minimal_roi', { min: 0, max: maxSteps }, 'steps');
  for (const [minutes, ratio] of steps) {
    const field = `config.minimal_roi.${minutes.slice(0, 20)}`;
    if (!/^\d{1,9}$/.test(minutes) || Number(minutes) > range.max) {
      throw new CodedError('VAL005', {
        message: `The keys of config.minimal_roi are minutes since entry, integers from ${range.min} to ${range.max}`,
        field,
        context: { value: minutes.slice(0, 20), min: range.min, max: range.max },
      });
    }
    checkNumber(ratio, field, ratios);
  }
  return Object.fromEntries(steps);
}

function resolveTrailing(
  trailing: Readonly<TrailingStop> | null | undefined,
): ResolvedBacktestConfig['trailing'] {
  if (!trailing) return null;
  const { offset: defaultOffset, only_offset_is_reached: defaultOnly } = DEFAULTS.trailing;
  const { positive, offset = defaultOffset, only_offset_is_reached = defaultOnly } = trailing;
  if (positive !== undefined) checkNumber(positive, 'config.trailing.positive', LIMITS.trailing.positive);
  checkNumber(offset, 'config.trailing.offset', LIMITS.trailing.offset);
  if (only_offset_is_reached && offset <= 0) {
    throw new CodedError('VAL004', {
      message: 'config.trailing.offset is required with only_offset_is_reached',
      field: 'config.trailing.offset',
      context: {},
    });
  }
  if (positive !== undefined && offset > 0 && offset <= positive) {
    throw invalid(
      'trailing.offset',
      'must be above config.trailing.positive: the stop would start at a loss',
      {
        value: offset,
        positive,
      },
    );
  }
  return { ...(positive === undefined ? {} : { positive }), offset, only_offset_is_reached };
}

function resolveProtections(protections: readonly object[]): Pick<ResolvedBacktestConfig, 'protections'> {
  const [first] = protectionProblems(protections);
  if (first) throw invalid(`protections${first.field}`, first.problem, { value: first.value });
  return protections.length === 0 ? {} : { protections: protections as Protection[] };
}

function invalid(name: string, problem: string, context: Readonly<Record<string, unknown>>): CodedError {
  const field = `config.${name}`;
  return new CodedError('VAL005', { message: `${field} ${problem}`, field, context });
}
