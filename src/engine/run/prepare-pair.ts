import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportPairData } from '#contract/backtests/report.ts';
import type { ReportInformative } from '#contract/backtests/report-informative.ts';
import type { Digest } from '#contract/values/digest.ts';
import {
  type Analysis,
  type AnalyzedSeries,
  analyze,
  type SharedColumns,
  SIGNAL_COLUMNS,
} from '../analysis/analyze.ts';
import { type GivenCandles, giveCandles } from '../analysis/candle-checks.ts';
import { countSet } from '../analysis/flag-columns.ts';
import { givenAnalysis } from '../analysis/given-signals.ts';
import { describeInformative, informativeWarnings } from '../analysis/informative.ts';
import { KeptArrays } from '../analysis/kept-arrays.ts';
import { type Candles, lazyCandles, sliceCandles } from '../candles.ts';
import { digestCandles, digestCosts, digestFunding } from '../digest.ts';
import { type FitWindow, type MlAnalysis, type MlRun, predicting } from '../ml/fit-window.ts';
import { type PairModels, pairModels } from '../ml/model-report.ts';
import { planWindows } from '../ml/windows.ts';
import { ownColumn } from '../own-columns.ts';
import type { PairInput } from '../simulator/types.ts';
import type { Columns, ParameterValues, Signals, StrategyDefinition } from '../strategy.ts';
import { BacktestError, messageOf, reportActivity } from '../strategy-errors.ts';
import {
  type MissingRuns,
  type PairData,
  type PairHistory,
  readHistory,
  type SkippedPair,
} from './history.ts';
import { returnedSignals } from './returned-signals.ts';
import { enterOnlyWithin } from './universe-mask.ts';
import {
  dataWarnings,
  detailWarnings,
  fundingWarnings,
  modelWarnings,
  noModelReason,
  plotWarnings,
  slippageWarnings,
} from './warnings.ts';

export interface PreparedPair {
  readonly input: PairInput;
  readonly summary: ReportPairData;
  readonly warnings: readonly string[];
  readonly informative: readonly Omit<ReportInformative, 'read_by'>[];
  /** Only with the ML engine. */
  readonly models?: PairModels;
}

/** A prepared pair with what its strategy computed, which a run need not keep. */
interface AnalyzedPair extends PreparedPair {
  readonly history: PairHistory;
  readonly analysis: Analysis | MlAnalysis;
}

/**
 * Prepares one pair for the simulation: checks candles, fills gaps, runs the strategy, cuts the startup candles. With the ML
 * engine it yields after each trained model: the share of models done.
 *
 * @param shared columns that the pairs of a run share
 * @throws BacktestError `invalid_candles` or `strategy`
 */
export function* preparePair(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: PairData,
  digest: Digest,
  shared: SharedColumns,
): Generator<number, AnalyzedPair | SkippedPair> {
  const history = readHistory(strategy, config, data);
  if ('reason' in history) return history;
  const analysis = yield* runStrategy(strategy, config, history, shared);
  const mlAnalysis = 'fits' in analysis ? analysis : undefined;
  const reason = mlAnalysis && noModelReason(history, config, mlAnalysis.fits);
  if (reason) return { pair: data.pair, reason };
  const rows = history.candles.timestamp.length;
  const input = cutRows(strategy, history, analysis, history.from, rows);
  const summary = summarize(history, input, digest);
  const warnings = [
    ...dataWarnings(summary, history),
    ...(mlAnalysis ? modelWarnings(summary.pair, mlAnalysis.fits) : []),
    ...fundingWarnings(input, history.stepMs),
    ...detailWarnings(input, config),
    ...plotWarnings(strategy, analysis),
    ...slippageWarnings(input),
    ...informativeWarnings(data.pair, history.informative, input.candles.timestamp.at(-1)!),
  ];
  const informative = describeInformative(history.informative, digest);
  const models = mlAnalysis && pairModels(config, data.pair, mlAnalysis);
  return { input, summary, warnings, informative, ...(models && { models }), history, analysis };
}

function summarize(history: PairHistory, input: PairInput, digest: Digest): ReportPairData {
  const { candles, filled, from, quality } = history;
  const rows = candles.timestamp.length;
  return {
    pair: history.data.pair,
    candles: rows - from,
    first: iso(input.candles.timestamp[0]!),
    last: iso(input.candles.timestamp.at(-1)!),
    startup_candles: from,
    filled_candles: filled,
    filled_pct: (filled / rows) * 100,
    ...filledOf(history),
    largest_jump_pct: quality.largestJumpPct,
    enter_long_signals: countSet(input.signals.enterLong ?? NO_SIGNALS),
    enter_short_signals: countSet(input.signals.enterShort ?? NO_SIGNALS),
    market_change_pct: marketChangePct(input.candles),
    funding_events: input.funding?.timestamp.length ?? 0,
    detail_candles: input.detail?.timestamp.length ?? 0,
    ...tiersOf(input),
    ...(history.data.source && { source_timeframe: history.data.source }),
    digest: digestPair(history, input, digest),
  };
}

/** Filled candles by the reason; nothing when it is unknown. */
function filledOf({ data: { missing }, read, filled, stepMs }: PairHistory): Pick<ReportPairData, 'filled'> {
  if (!missing || filled === 0) return {};
  const [first, last] = [read.timestamp[0]!, read.timestamp.at(-1)!];
  const within = (runs: MissingRuns[keyof MissingRuns]) =>
    runs.reduce((sum, [open, count]) => {
      const length = Math.min(open + count * stepMs, last) - Math.max(open, first);
      return sum + Math.max(0, length / stepMs);
    }, 0);
  const [no_trades, damage] = [within(missing.no_trades), within(missing.damage)];
  return { filled: { closed: filled - no_trades - damage, no_trades, damage } };
}

function tiersOf({ instrument }: PairInput): Pick<ReportPairData, 'leverage_tiers'> {
  const { leverageTiers, tiersSource } = instrument ?? {};
  if (!leverageTiers || !tiersSource) return {};
  return { leverage_tiers: { count: leverageTiers.length, source: tiersSource } };
}

/** Simulator input of the rows [from, to), with the entries of a universe only while the pair is in it. */
export function cutRows(
  strategy: StrategyDefinition,
  history: PairHistory,
  analysis: Analysis,
  from: number,
  to: number,
): PairInput {
  const input = allRows(strategy, history, analysis, from, to);
  const { membership } = history.data;
  return membership ? enterOnlyWithin(input, membership, history.stepMs) : input;
}

function allRows(
  strategy: StrategyDefinition,
  { data, candles, ticks, costs, impactCosts }: PairHistory,
  analysis: Analysis,
  from: number,
  to: number,
): PairInput {
  const { columns, informative, signals: all, kept } = analysis;
  const signals: Record<string, Uint8Array> = {};
  for (const name of SIGNAL_COLUMNS) {
    const column = all[name];
    if (column) signals[name] = column.subarray(from, to);
  }
  const { tags } = all;
  const traded = sliceCandles(candles, from, to);
  return {
    pair: data.pair,
    candles: traded,
    signals: { ...signals, ...(tags && { tags }) } as Signals,
    ...(strategy.callbacks && {
      // Copies, as a callback can write into them: the same for all simulations.
      seen: lazyCandles((name) => ownColumn(traded[name])),
      columns: cutColumns(columns, from, to),
      informative: cutInformative(informative, from, to),
      returned: returnedSignals(analysis, data.given !== undefined, from, to),
    }),
    ...(kept && { kept }),
    ...(data.funding && { funding: data.funding }),
    ...(data.detail && { detail: data.detail }),
    ...(data.instrument && { instrument: data.instrument, ticks }),
    ...(costs && { costs }),
    ...(impactCosts && { impactCosts }),
  };
}

function cutColumns(columns: Columns, from: number, to: number): Columns {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.subarray(from, to)]),
  );
}

function cutInformative(
  informative: Analysis['informative'],
  from: number,
  to: number,
): Analysis['informative'] {
  return Object.fromEntries(
    Object.entries(informative).map(([key, columns]) => [key, cutColumns(columns, from, to)]),
  );
}

/** Digest of all data read of a pair. */
export function digestPair(
  { read, informative }: Pick<PairHistory, 'read' | 'informative'>,
  input: PairInput,
  digest: Digest,
): string {
  const parts = [
    digestCandles(read, digest),
    input.detail ? digestCandles(input.detail, digest) : 'no detail',
    input.funding ? digestFunding(input.funding, digest) : 'no funding',
    ...(input.costs ? [digestCosts(input.costs, digest)] : []),
    ...(input.impactCosts ? [digestCosts(input.impactCosts, digest)] : []),
    ...informative.map((each) => `${each.pair} ${each.timeframe} ${digestCandles(each.read, digest)}`),
  ];
  return digest(`${input.pair}\n${parts.join('\n')}`);
}

export function marketChangePct({ close }: Candles): number {
  return (close.at(-1)! / close[0]! - 1) * 100;
}

const NO_SIGNALS = new Uint8Array(0);
const iso = (time: number) => new Date(time).toISOString();

/**
 * Runs a strategy over a pair's history, with models if the run has the ML engine. Yields after each trained model: the share
 * of models done.
 *
 * @param train trains the models. Default: each is trained
 * @throws BacktestError `strategy`
 */
export function* runStrategy(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  history: PairHistory,
  shared?: SharedColumns,
  train?: FitWindow,
): Generator<number, Analysis | MlAnalysis> {
  reportActivity('the analysis', [history.data.pair]);
  const { candles, stepMs, data } = history;
  if (data.given) return givenAnalysis(data.given, candles, stepMs);
  const own = atTimeframe(strategy, config);
  const params = config.params as ParameterValues;
  const kept = keptOf(strategy, history);
  const run = mlRunOf(config, history, shared);
  const watched = kept?.lend(candles) ?? giveCandles(candles);
  const rows = candles.timestamp.length;
  const steps = run
    ? predicting(own, params, watched.candles, { ...run, kept }, { train })
    : analyzing(own, params, watched.candles, rows, { ...seriesOf(history, shared), kept });
  for (;;) {
    const step = withStrategyErrors(strategy, history.data.pair, () => {
      const next = steps.next();
      if (next.done) checkUnchanged(watched);
      return next;
    });
    if (step.done) return step.value;
    yield step.value;
  }
}

/** What a strategy with callbacks may keep of a pair; undefined without callbacks. */
export function keptOf(
  { callbacks }: StrategyDefinition,
  { candles, stepMs }: PairHistory,
): KeptArrays | undefined {
  return callbacks && new KeptArrays(candles.timestamp, stepMs);
}

// biome-ignore lint/correctness/useYield: a generator for the sake of `predicting`, although it never waits.
function* analyzing(...run: Parameters<typeof analyze>): Generator<number, Analysis> {
  return analyze(...run);
}

/** The strategy with the timeframe of the run, which may override its own. */
export function atTimeframe(
  strategy: StrategyDefinition,
  { timeframe }: Pick<ResolvedBacktestConfig, 'timeframe'>,
): StrategyDefinition {
  return { ...strategy, timeframe };
}

/** Pair and informative candles of a history, as an analysis gets them. */
export function seriesOf({ data, informative }: PairHistory, shared?: SharedColumns): AnalyzedSeries {
  return { pair: data.pair, informative, shared };
}

/** Training plan of a pair; undefined without the ML engine. */
export function mlRunOf(
  config: ResolvedBacktestConfig,
  history: PairHistory,
  shared?: SharedColumns,
): MlRun | undefined {
  if (!config.ml_engine) return undefined;
  const { start, end, stepMs, startup } = history;
  return {
    ...seriesOf(history, shared),
    config: config.ml_engine,
    windows: planWindows(start, end, config.ml_engine),
    seed: config.seed,
    stepMs,
    firstRow: startup,
  };
}

/**
 * Runs code of a strategy on a pair's candles.
 * @throws BacktestError `strategy` when the code throws or writes into the candles
 */
export function onCandles<T>(
  strategy: StrategyDefinition,
  pair: string,
  given: GivenCandles,
  action: (candles: Candles) => T,
): T {
  return withStrategyErrors(strategy, pair, () => {
    const result = action(given.candles);
    checkUnchanged(given);
    return result;
  });
}

function withStrategyErrors<T>(strategy: StrategyDefinition, pair: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const reason = messageOf(error);
    throw new BacktestError('strategy', `Strategy ${strategy.name} failed on ${pair}: ${reason}`, error);
  }
}

function checkUnchanged(watched: GivenCandles): void {
  if (watched.changed()) {
    throw new Error('it wrote into the candles it was given; write into columns of its own');
  }
}

/** Runs a simulation; an error of a callback or its return value is reported as an error of the strategy. */
export function withSimulationErrors<T>(strategy: StrategyDefinition, action: () => T): T {
  if (!strategy.callbacks) return action();
  try {
    return action();
  } catch (error) {
    const reason = messageOf(error);
    throw new BacktestError(
      'strategy',
      `Strategy ${strategy.name} failed during the simulation: ${reason}`,
      error,
    );
  }
}
