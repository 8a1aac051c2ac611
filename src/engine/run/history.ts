import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import type { SlippageModel } from '#contract/config/slippage-model.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { type CandleQuality, checkCandles, fillGaps } from '../analysis/candle-checks.ts';
import type { GivenSignals } from '../analysis/given-signals.ts';
import {
  type InformativeCandles,
  informativeReady,
  type ReadInformative,
  readInformative,
} from '../analysis/informative.ts';
import { type Candles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import type { DefinitionData } from '../definitions/validate-definition.ts';
import type { Instrument } from '../instrument.ts';
import { DEFAULT_FEATURE_CANDLES } from '../ml/training-inputs.ts';
import { derivePriceTicks, type PriceTicks } from '../simulator/rules/precision.ts';
import type { FundingEvents } from '../simulator/types.ts';
import { capacityModel } from '../slippage/cost-days.ts';
import { type DailyCosts, dailyCosts } from '../slippage/daily-costs.ts';
import { ownStartup, parseStartup, type Startup, startupOn } from '../startup.ts';
import type { ParameterValues, StrategyDefinition } from '../strategy.ts';
import { BacktestError, describeThrown } from '../strategy-errors.ts';
import { TIMEFRAME_MS, type Timeframe, tradedRange } from '../timeframe.ts';
import type { PairMembership } from '../universe/membership.ts';

type CandleRuns = readonly (readonly [open: number, candles: number])[];

/** Missing candles of a pair by the reason. Those that are in neither list are of closed times. */
export interface MissingRuns {
  readonly no_trades: CandleRuns;
  readonly damage: CandleRuns;
}

/** Stored data of one pair. */
export interface PairData {
  readonly pair: string;
  /** Run timeframe, from {@link historyStart} as far as stored. Gaps are allowed; rows beyond the end are ignored. */
  readonly candles: Candles;
  readonly funding?: FundingEvents;
  /** Detail timeframe. */
  readonly detail?: Candles;
  /**
   * Candles of other pairs, and of other timeframes that are not aggregated from `candles`. From {@link informativeStart} as far
   * as stored.
   */
  readonly informative?: readonly InformativeCandles[];
  /** Timeframe of the stored candles of which `candles` were computed; absent: they are stored. */
  readonly source?: Timeframe;
  /** Why candles are missing; absent: unknown, or none is. */
  readonly missing?: MissingRuns;
  /** Steps and limits of prices and amounts. Without it nothing is rounded and orders have no minimum. */
  readonly instrument?: Instrument;
  /** Times in which the pair may be entered, and its end. Absent: always. */
  readonly membership?: PairMembership;
  /** Signals of an uploaded file, which replace those of a strategy. */
  readonly given?: GivenSignals;
}

/** Candles of one pair for a run: checked, gaps filled, cut to the rows that the run reads. */
export interface PairHistory {
  readonly data: PairData;
  /** Stored candles in the range of `candles`. */
  readonly read: Candles;
  /** `read` with gaps filled. */
  readonly candles: Candles;
  /** Number of inserted candles. */
  readonly filled: number;
  readonly quality: CandleQuality;
  /** Price ticks of all these candles; only with an instrument. */
  readonly ticks?: PriceTicks;
  /** Only with a slippage model: costs by day, of all candles that are stored, earlier ones included. */
  readonly costs?: DailyCosts;
  /** The same with an impact; only for a run that measures its capacity. */
  readonly impactCosts?: DailyCosts;
  readonly informative: readonly ReadInformative[];
  /** Informative candles that are ready last, where the first traded row waits for them. */
  readonly waitsFor?: { readonly pair: string; readonly timeframe: Timeframe; readonly candles: number };
  /** Number of startup rows, before the first decision of the strategy. */
  readonly startup: number;
  /** First traded row. */
  readonly from: number;
  /** First candle and end (exclusive) of the run, ms. */
  readonly start: number;
  readonly end: number;
  readonly stepMs: number;
}

/** A pair that cannot be traded in this run, with the reason. */
export interface SkippedPair {
  readonly pair: string;
  readonly reason: string;
}

/** Fewer candles leave no room for a signal, an entry and the end of the run. */
export const MIN_CANDLES = 3;

/**
 * Checks the candles of a pair and fills its gaps. If the data begins too late for the startup candles, the pair joins the run
 * later.
 *
 * @throws BacktestError `invalid_candles` or `strategy`
 */
export function readHistory(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: PairData,
): PairHistory | SkippedPair {
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const { params, timeframe, ml_engine } = config;
  const { start, end } = tradedRange(config);
  const startup = startupRows(aggregating(strategy, data), params, timeframe, ml_engine);
  const read = candlesBetween(data.candles, startBefore(start, startup, timeframe, ml_engine), end);
  const quality = checkCandles(data.pair, read, stepMs);
  const { candles, filled } = fillGaps(read, stepMs);
  const rows = candles.timestamp.length;
  const declared = startupCandles(strategy, params);
  const informative = readInformative(data.informative ?? [], {
    start: firstDecision(config),
    end,
    startup: declared,
  });
  const ready = Math.max(start, informativeReady(informative, declared));
  const from = Math.max(startup, indexAtOrAfter(candles.timestamp, ready));
  if (rows - startup < MIN_CANDLES || rows - indexAtOrAfter(candles.timestamp, start) < MIN_CANDLES) {
    return { pair: data.pair, reason: tooFew(data.pair, rows, startup, config) };
  }
  if (rows - from < MIN_CANDLES) {
    return { pair: data.pair, reason: tooFewInformative(data.pair, informative, declared) };
  }
  const { instrument } = data;
  const ticks = instrument && derivePriceTicks(candles, instrument.priceTick);
  const costsBy = (model: SlippageModel | undefined) => model && dailyCosts(model, data.candles, ticks);
  const costs = costsBy(config.slippage_model);
  const impactCosts = costsBy(capacityModel(config));
  const last = from > startup && ready > start ? lastReady(informative, declared) : undefined;
  return {
    data,
    read,
    candles,
    filled,
    quality,
    informative,
    startup,
    from,
    start,
    end,
    stepMs,
    ...(last && {
      waitsFor: {
        pair: last.pair,
        timeframe: last.timeframe,
        candles: startupOn(declared, last.timeframe),
      },
    }),
    ...(ticks && { ticks }),
    ...(costs && { costs }),
    ...(impactCosts && { impactCosts }),
  };
}

/** The series whose startup candles have closed last. */
function lastReady(informative: readonly ReadInformative[], startup: Startup): ReadInformative {
  return informative.reduce((a, b) =>
    informativeReady([b], startup) > informativeReady([a], startup) ? b : a,
  );
}

/** The strategy with the informative timeframes only that are aggregated from the pair's candles. */
function aggregating(strategy: StrategyDefinition, { informative = [] }: PairData): StrategyDefinition {
  if (informative.length === 0) return strategy;
  const given = informative.map(({ key }) => key);
  const informativeTimeframes = strategy.informativeTimeframes?.filter((each) => !given.includes(each)) ?? [];
  return { ...strategy, informativeTimeframes };
}

/** Largest {@link startupRows} of the pairs of a run. Errors as there. */
export function runStartupRows(
  strategy: StrategyDefinition,
  { params, timeframe, ml_engine }: Pick<ResolvedBacktestConfig, 'params' | 'timeframe' | 'ml_engine'>,
  pairs: readonly PairData[],
): number {
  return Math.max(
    ...pairs.map((data) => startupRows(aggregating(strategy, data), params, timeframe, ml_engine)),
  );
}

/** Views of the candles that open in [from, to), ms. */
export function candlesBetween(candles: Candles, from: number, to: number): Candles {
  return sliceCandles(
    candles,
    indexAtOrAfter(candles.timestamp, from),
    indexAtOrAfter(candles.timestamp, to),
  );
}

function tooFew(pair: string, rows: number, startup: number, config: ResolvedBacktestConfig): string {
  const { start, end } = config.date_range;
  if (rows === 0) return `${pair} has no ${config.timeframe} candles between ${start} and ${end}.`;
  return (
    `${pair} has ${rows} ${config.timeframe} candles up to ${end}. The strategy needs ` +
    `${startup} before its first signal and at least ${MIN_CANDLES} to trade from ${start}.`
  );
}

function tooFewInformative(pair: string, informative: readonly ReadInformative[], startup: Startup): string {
  const { pair: other, timeframe, candles } = lastReady(informative, startup);
  return (
    `${pair} cannot be traded: the run has ${candles.timestamp.length} ${timeframe} candles of ${other}. ` +
    `The strategy needs ${startupOn(startup, timeframe)} of them before its first signal.`
  );
}

/**
 * Number of candles of the run's timeframe that a strategy needs before its first decision. They cover its startup candles, and
 * as many complete candles of each informative timeframe. One more of these covers the candle that is still open at the
 * start. With the ML engine they cover the startup of the default features too.
 *
 * @throws BacktestError `strategy` when `startupCandles` throws for these parameters, or does not return an integer
 */
export function startupRows(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
  timeframe: Timeframe,
  ml?: ResolvedMlEngine,
): number {
  return startupRowsOf(historyFacts(strategy), startupCandles(strategy, params), timeframe, ml);
}

/** Facts of a strategy on which its history depends, apart from its startup candles. */
export type HistoryFacts = Pick<DefinitionData, 'informativeTimeframes' | 'informative' | 'ownFeatures'>;

/** Facts of a loaded strategy. */
export function historyFacts(strategy: StrategyDefinition): HistoryFacts {
  const { informativeTimeframes = [], informative = [], mlFeatures } = strategy;
  return { informativeTimeframes, informative, ownFeatures: mlFeatures !== undefined };
}

/** {@link startupRows} from the `startup` candles that the strategy needs for the parameters of the run. */
export function startupRowsOf(
  { informativeTimeframes = [], ownFeatures }: HistoryFacts,
  startup: Startup,
  timeframe: Timeframe,
  ml?: ResolvedMlEngine,
): number {
  const rows = informativeTimeframes.map(
    (each) => (startupOn(startup, each) + 1) * Math.ceil(TIMEFRAME_MS[each] / TIMEFRAME_MS[timeframe]),
  );
  const features = ml && !ownFeatures ? DEFAULT_FEATURE_CANDLES : 0;
  return Math.max(ownStartup(startup), features, ...rows);
}

/** Number of training candles of the first window, before the start; 0 without the ML engine. */
export function trainingRows(timeframe: Timeframe, ml: ResolvedMlEngine | undefined): number {
  return ml ? Math.ceil((ml.train_period_days * DAY_MS) / TIMEFRAME_MS[timeframe]) : 0;
}

/**
 * Startup candles of a strategy for some parameters.
 *
 * @throws BacktestError `strategy` when `startupCandles` throws, or does not return an integer from 0 to 1,000,000, or such integers by
 *   timeframe with that of the strategy
 */
export function startupCandles(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
): Startup {
  const problem = (text: string, cause?: unknown) =>
    new BacktestError(
      'strategy',
      `Strategy ${strategy.name}: startupCandles() ${text} for ${JSON.stringify(params)}.`,
      cause,
    );
  const { startupCandles: declared } = strategy;
  let candles: unknown = declared;
  try {
    if (typeof declared === 'function') candles = declared.call(strategy, { ...params } as ParameterValues);
  } catch (error) {
    throw problem(`threw "${describeThrown(error)}"`, error);
  }
  const startup = parseStartup(candles, strategy.timeframe);
  if (typeof startup !== 'string') return startup;
  throw problem(`returned ${startup},`);
}

/** Time of the first decision of a run, or of its first training row, ms: informative series must be warm by then. */
export function firstDecision(
  config: Pick<ResolvedBacktestConfig, 'timeframe' | 'date_range' | 'ml_engine'>,
): number {
  return startBefore(tradedRange(config).start, 0, config.timeframe, config.ml_engine);
}

/** Open time of the first candle to read for a run that begins at `start`, ms. Errors as {@link startupRows}. */
export function historyStart(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
  timeframe: Timeframe,
  start: number,
  ml?: ResolvedMlEngine,
): number {
  return startBefore(start, startupRows(strategy, params, timeframe, ml), timeframe, ml);
}

/** {@link historyStart} from the `startup` candles that the strategy needs for the parameters of the run. */
export function historyStartOf(
  facts: HistoryFacts,
  startup: Startup,
  timeframe: Timeframe,
  start: number,
  ml?: ResolvedMlEngine,
): number {
  return startBefore(start, startupRowsOf(facts, startup, timeframe, ml), timeframe, ml);
}

function startBefore(start: number, rows: number, timeframe: Timeframe, ml?: ResolvedMlEngine): number {
  return start - (rows + trainingRows(timeframe, ml)) * TIMEFRAME_MS[timeframe];
}
