import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import { type Analysis, type AnalyzedSeries, analyze } from '../analysis/analyze.ts';
import { closedBy, type InformativeCandles } from '../analysis/informative.ts';
import { type Candles, createCandles, sliceCandles } from '../candles.ts';
import { fitWindow, type MlAnalysis, type MlRun, predicting } from '../ml/fit-window.ts';
import { mlEngineOf, planWindows } from '../ml/windows.ts';
import { createRandom, hash32 } from '../random.ts';
import { startupRows, trainingRows } from '../run/history.ts';
import type { ParameterValues, StrategyDefinition } from '../strategy.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import { type ColumnFinding, columnsOf, Findings, inputColumns, labelOf } from './compare-columns.ts';
import { chooseCuts, countEntries, LAST_ROWS, signalRows } from './cuts.ts';
import { rememberingFit } from './remembered-fit.ts';

interface LookAheadReport {
  readonly findings: readonly ColumnFinding[];
  /** Number of compared truncated histories, over all pairs. */
  readonly histories: number;
  /** Number of rows with an entry signal, over all pairs. If 0, only the columns were tested. */
  readonly entrySignals: number;
}

export interface LookAheadOptions {
  /**
   * Truncated histories per pair. Default: one per row of a short series, fewer for a longer one, at least 24. This keeps the
   * time of a search about constant.
   */
  readonly histories?: number;
  /** Seed of the choice of cuts. Default 1. */
  readonly seed?: number;
  /** ML settings of the search. Default: those that the strategy declares. */
  readonly ml?: SearchedModels | undefined;
  /** Informative candles by pair; a truncated history has those that have closed by its end. */
  readonly informative?: ReadonlyMap<string, readonly InformativeCandles[]>;
}

/** Histories times candles of a default search. */
const DEFAULT_WORK = 5_000_000;
const MIN_HISTORIES = 24;

/**
 * Searches a strategy for look-ahead bias. Computes its signals, indicator columns and informative columns on truncated
 * histories and compares every row with the full history: a causal strategy gives equal rows. Half of the histories end on a
 * row with a signal, because a signal that depends on the next candles is missing there.
 *
 * With models, features and predictions are compared too, and labels up to the row that their horizon allows. A model trained
 * on later data than its window knows predicts other values on a truncated history.
 *
 * Callbacks are not covered: they run inside the simulation.
 *
 * @param candles per pair, of the strategy's timeframe, each longer than the strategy's startup candles
 * @throws RangeError without a pair, or when one is too short to be cut
 * @throws StrategyRunError when the strategy cannot run on the candles
 */
export function analyzeLookAhead(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: ReadonlyMap<string, Candles>,
  options: LookAheadOptions = {},
): LookAheadReport {
  if (candles.size === 0) throw new RangeError('No pair was given.');
  const reports = [...candles].map(([pair, series]) => searchPair(strategy, params, pair, series, options));
  return {
    findings: reports.flatMap((report) => report.findings),
    histories: sum(reports.map((report) => report.histories)),
    entrySignals: sum(reports.map((report) => report.entrySignals)),
  };
}

/** Runs the strategy on its own copy of the candles. `retrain`: without remembered models. */
type RunStrategy = (candles: Candles, training: 'remember' | 'retrain') => Analysis | MlAnalysis;

function searchPair(
  strategy: StrategyDefinition,
  params: ParameterValues,
  pair: string,
  given: Candles,
  options: LookAheadOptions,
): LookAheadReport {
  const length = given.timestamp.length;
  const ml = options.ml ?? (strategy.mlEngine && { config: mlEngineOf(strategy) });
  const informative = options.informative?.get(pair) ?? [];
  const stepMs = TIMEFRAME_MS[strategy.timeframe];
  const seriesAt = ({ timestamp }: Candles) => ({
    pair,
    informative: closedBy(informative, (timestamp.at(-1) ?? 0) + stepMs),
  });
  const models = ml && modelSearch(strategy, params, seriesAt, given, ml);
  const minLength = models?.minLength ?? Math.max(strategy.startupCandles(params), 1) + 1;
  if (length < minLength + LAST_ROWS) {
    throw new RangeError(
      `${pair} has ${length} candles; searching ${strategy.name} for look-ahead needs ${minLength + LAST_ROWS}.`,
    );
  }
  const run: RunStrategy =
    models?.run ??
    ((candles) => analyze(strategy, params, candles, candles.timestamp.length, seriesAt(candles)));
  const candles = copy(given);
  const full = run(candles, 'remember');
  const horizon = 'trainingInputs' in full ? full.trainingInputs.horizon : 0;
  const findings = new Findings(pair, given);
  findings.compare('input_changed', length, inputColumns(given), inputColumns(candles));
  findings.compare('not_repeatable', length, columnsOf(run(copy(given), 'retrain')), columnsOf(full));
  const expected = columnsOf(full);
  const columns = 'trainingInputs' in full ? full.trainingInputs.features.columns.length : 1;
  const wanted = options.histories ?? Math.max(MIN_HISTORIES, Math.floor(DEFAULT_WORK / length / columns));
  const random = createRandom((options.seed ?? 1) ^ hash32(pair));
  const signals = signalRows(full.signals, minLength, length);
  const cuts = chooseCuts(signals, minLength, length, wanted, random, models?.beginnings);
  for (const known of cuts) {
    const truncated = run(copy(sliceCandles(given, 0, known)), 'remember');
    findings.compare('look_ahead', known, columnsOf(truncated), expected);
    findings.compare('look_ahead', known - horizon, labelOf(truncated), labelOf(full));
  }
  return { findings: findings.all(), histories: cuts.length, entrySignals: countEntries(full.signals) };
}

/** Copy for one run: writes of the strategy must not reach the other runs. */
function copy(candles: Candles): Candles {
  const result = createCandles(candles.timestamp.length);
  for (const name of Object.keys(result) as (keyof Candles)[]) result[name].set(candles[name]);
  return result;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** ML settings of a search. */
interface SearchedModels {
  readonly config: ResolvedMlEngine;
  /** Seed of the training. Default 0. */
  readonly seed?: number;
  /** Startup rows. Default: those of a strategy whose informative timeframes are aggregated from the candles. */
  readonly startup?: number;
  /** Open time (ms) of the first candle of the first window. Default: the first with the whole training period before it. */
  readonly start?: number;
}

/** Search of one pair of a strategy with models. */
interface ModelSearch {
  /** Length of the shortest history, candles: the first window has begun. */
  readonly minLength: number;
  /**
   * Lengths of histories that end at the beginning of a window. A model trained across the border used labels that are
   * unknown in them.
   */
  readonly beginnings: readonly number[];
  readonly run: (candles: Candles, training: 'remember' | 'retrain') => MlAnalysis;
}

/** Maximum number of histories that end at the beginning of a window; spread over the pair. */
const MAX_BEGINNINGS = 12;

function modelSearch(
  strategy: StrategyDefinition,
  params: ParameterValues,
  seriesAt: (candles: Candles) => AnalyzedSeries,
  given: Candles,
  { config, seed = 0, start, startup }: SearchedModels,
): ModelSearch {
  const { timestamp } = given;
  const stepMs = TIMEFRAME_MS[strategy.timeframe];
  const firstRow = startup ?? startupRows(strategy, params, strategy.timeframe, config);
  const before = firstRow + trainingRows(strategy.timeframe, config);
  const first = start ?? (timestamp[0] ?? 0) + before * stepMs;
  const windows = planWindows(first, (timestamp.at(-1) ?? 0) + stepMs, config);
  const run: MlRun = { ...seriesAt(given), config, windows, seed, stepMs, firstRow };
  const begun = windows.map(({ from }) => Math.round((from - timestamp[0]!) / stepMs) + 1);
  const every = Math.max(1, begun.length / MAX_BEGINNINGS);
  const remembered = rememberingFit();
  return {
    minLength: Math.max(before, Math.round((first - (timestamp[0] ?? 0)) / stepMs)) + 1,
    beginnings: begun.filter((_, index) => Math.floor(index / every) !== Math.floor((index - 1) / every)),
    run: (candles, training) => {
      const fit = training === 'remember' ? remembered : fitWindow;
      return finish(predicting(strategy, params, candles, { ...run, ...seriesAt(candles) }, fit));
    },
  };
}

function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
